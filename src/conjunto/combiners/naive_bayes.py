"""Naive-Bayes combination: what the members' labels tell about the class, from their confusion matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conjunto.combiners._asking import Answer
from conjunto.combiners._combiner import ClassVotes
from conjunto.combiners._fitting import Unseen
from conjunto.votes import Votes


class NaiveBayesCombinationClassifier(ClassVotes):
    """Classifiers whose labels are combined by Bayes' rule, as if they were independent given the class.

    The class k is chosen for which P(k) times the product of P(h(x) | k) over the members h is largest. The
    probabilities that a member says s where the class is k are those of its confusion matrix on rows that it did not
    see, (n_ks + 1/K) / (n_k + 1). A member may be right about some classes and not about others, and one that always
    takes one class for another is as good as one that is right.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Models and their names. One that is "drop" is left out.
    prefit : bool, default=False
        Whether the models are fitted already, by whichever library; X and y of `fit` are then rows that none of them
        saw.
    cv : int, splitter or iterable, default=None
        Folds in which confusion matrices are counted; None is 5.
    n_jobs : int, default=None
        Members and folds fitted at a time.
    verbose : bool, default=False
        Whether to say which member is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted members.
    classes_ : ndarray of shape (K,)
        The labels.
    log_confusion_ : ndarray of shape (members, K, K)
        The logarithm of the probability that a member says s where the class is k, [member, k, s].
    class_log_prior_ : ndarray of shape (K,)
        The logarithm of the share of each class.

    References
    ----------
    Kuncheva (2014). Combining Pattern Classifiers, 2nd edition, section 4.4. Wiley.
    Titterington et al. (1981). Comparison of discriminant techniques applied to a complex data set of head injured
    patients. Journal of the Royal Statistical Society A 144, 145-175 (the smoothing).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from conjunto import CARTClassifier, NaiveBayesCombinationClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [("tree", CARTClassifier(max_depth=1)), ("normal", GaussianNB())]
    >>> model = NaiveBayesCombinationClassifier(models).fit(X, y)
    >>> model.predict_proba(X[[100]]).round(2)
    array([[0.  , 0.07, 0.93]])
    """

    finish = "logistic"

    def __init__(
        self,
        estimators: Any,
        *,
        prefit: bool = False,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.prefit = prefit
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _answer(self) -> Answer:
        return "labels"

    def _learn(self, unseen: Unseen) -> None:
        k = unseen.n_classes
        counts = np.zeros((len(unseen.answers), k, k))
        for table, said in zip(counts, unseen.answers, strict=True):
            here = said >= 0
            np.add.at(table, (unseen.y[here], said[here]), unseen.weights[here])
        self.log_confusion_ = np.log((counts + 1 / k) / (counts.sum(axis=2, keepdims=True) + 1))
        of_class = np.bincount(unseen.y, unseen.weights, k)
        # Of a class that is not among the rows, members that are fitted already may know: half a row.
        of_class = np.maximum(of_class, 0.5)
        self.class_log_prior_ = np.log(of_class / of_class.sum())

    def _cast(self, said: list[NDArray[Any]], X: Any) -> Votes:
        # The prior is shared out, so that what members add up to is the logarithm of the posterior; one that abstains
        # adds nothing else.
        share = self.class_log_prior_ / len(said)
        scores = [
            share + np.where((codes < 0)[:, None], 0.0, log_confusion.T[codes])
            for codes, log_confusion in zip(said, self.log_confusion_, strict=True)
        ]
        return Votes(scores=np.stack(scores), rule="sum", classes=self.classes_)
