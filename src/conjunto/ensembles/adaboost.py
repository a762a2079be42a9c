"""AdaBoost for classification: seven rules on one loop."""

from __future__ import annotations

from typing import Any

from conjunto.checks import check_choice
from conjunto.ensembles._sequential import SequentialEnsemble
from conjunto.ensembles._staged import BoostedClasses
from conjunto.ensembles.rules import BOOSTING_RULES, CLASSIFICATION, BoostingRule
from conjunto.problem import Problem


class AdaBoostClassifier(BoostedClasses, SequentialEnsemble):
    """AdaBoost: each member is trained on what the members before it got wrong, and votes by how good it is.

    Parameters
    ----------
    estimator : estimator, default=None
        The base learner; None is a stump, a tree of one split, which is built natively. "gentle" and "logit" fit
        regressions: for them a `CARTClassifier` is grown as a regression tree, and others must be regressors.
    n_estimators : int, default=50
        Rounds; fewer where a member is perfect or no better than chance (see `stop_reason_`).
    learning_rate : float, default=1.0
        Multiplies the votes, in the decision and in the reweighting.
    algorithm : {"samme", "m1", "samme.r", "m2", "mh", "gentle", "logit"}, default="samme"
        M1 needs members that are right on half of the weight; SAMME on one in K; SAMME.R uses their class
        probabilities, none below 1 %; M2 weighs pairs of an example and a wrong class; MH fits one binary member per
        class and round; Gentle AdaBoost and LogitBoost are Newton steps on the exponential and the logistic loss.
    restart : {"never", "bootstrap"}, default="never"
        What a member that is perfect, or no better than chance, does to the run: ends it, or lets it go on from a
        bootstrap sample with equal weights (Webb 2000).
    resample : bool or "auto", default="auto"
        Train members on samples drawn in proportion to the weights instead of on weights; "auto" does so where the
        learner takes no `sample_weight`.
    weight_floor : float, default=0.0
        Least weight of an example (or pair), where all sum to 1; 1e-8 in Webb (2000). "logit" takes its weights from
        probabilities, and the floor only changes what members see.
    early_stopping : {False, "validation", "oob"}, default=False
        Stop when the error on a share of the rows that is held out, or on the rows that the members' samples leave out
        (with `resample`), has not improved for a while. All members so far are kept.
    validation_fraction : float, default=0.1
        The share that "validation" holds out, of each class alike.
    n_iter_no_change : int, default=50
        Rounds without improvement that end the run; errors on few rows are noisy, and small numbers stop too early.
    tol : float, default=0.0
        Improvements up to this do not count.
    warm_start : bool, default=False
        A second `fit` on the same data adds rounds up to `n_estimators`. The model, and its pickle, then hold the
        training data.
    n_jobs : int, default=None
        Threads for the members of one round, where there are several, and for prediction.
    random_state : int, RandomState or None, default=None
        Seed; the result does not depend on `n_jobs`.
    verbose : int, default=0
        Report progress on standard error.

    Attributes
    ----------
    classes_, n_classes_ : ndarray and int
        The labels.
    n_features_in_, feature_names_in_ : int and ndarray
        The columns; names with a DataFrame.
    estimators_ : list, or ndarray of shape (rounds, classes)
        The members, made on demand; "mh", "gentle" and "logit" have one per class where there are more than two.
    estimator_weights_, estimator_errors_ : ndarray of shape (rounds,)
        Vote and weighted error of each round ("m2": pseudo-loss).
    bound_ : ndarray of shape (rounds,)
        A bound of the (weighted) training error after each round: "m1", "samme", "m2" and "mh", without restarts. With
        more than two classes SAMME's need not shrink, and may exceed 1.
    stop_reason_ : str
        Why there are no more rounds: "enough members", "a perfect member", "a member no better than chance", "no
        improvement", "the weights of the examples overflowed".
    validation_errors_ : ndarray of shape (rounds,)
        With `early_stopping`, the error that was watched.
    feature_importances_ : ndarray
        Mean of the members' importances, weighted by their votes.

    References
    ----------
    Freund, Schapire (1997). A decision-theoretic generalization of on-line learning and an application to boosting.
    Journal of Computer and System Sciences 55, 119-139. (M1, M2)
    Schapire, Singer (1999). Improved boosting algorithms using confidence-rated predictions. Machine Learning 37,
    297-336. (MH)
    Friedman, Hastie, Tibshirani (2000). Additive logistic regression. Annals of Statistics 28, 337-407. (gentle, logit)
    Zhu, Zou, Rosset, Hastie (2009). Multi-class AdaBoost. Statistics and Its Interface 2, 349-360. (SAMME, SAMME.R)

    Examples
    --------
    >>> from conjunto import AdaBoostClassifier
    >>> from conjunto.datasets import make_twonorm
    >>> X, y = make_twonorm(300, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=200, algorithm="m1").fit(X, y)
    >>> bool((1 - model.score(X, y)) <= model.bound_[-1])
    True
    """

    default_depth = 1

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        algorithm: str = "samme",
        restart: str = "never",
        resample: Any = "auto",
        weight_floor: float = 0.0,
        early_stopping: Any = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.algorithm = algorithm
        self.restart = restart
        self.resample = resample
        self.weight_floor = weight_floor
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self, problem: Problem) -> BoostingRule:
        name = self.algorithm.lower() if isinstance(self.algorithm, str) else self.algorithm
        return BOOSTING_RULES[check_choice("algorithm", name, CLASSIFICATION)](problem)
