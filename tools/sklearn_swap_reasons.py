"""Why a test of scikit-learn fails with our classes in its place: the first pattern that is found names the reason."""

from __future__ import annotations

import re

REASONS: tuple[tuple[str, str], ...] = (
    (r"has no attribute 'estimator'", "forests have no `estimator` before the fit, but `estimator_` after it"),
    (r"test_missing_value_errors", "what is missing among the entries of sparse X is missing, and no error"),
    (
        r"test_classifier_error_oob_score_multiclass_multioutput",
        "out-of-bag estimates are also those of several targets of several classes, which scikit-learn refuses",
    ),
    (r"got <sklearn.tree._criterion", "criteria are names, not objects of scikit-learn's compiled modules"),
    # Voting and stacking.
    (r"predictproba_hardvoting|predict_proba_on_toy_problem", "hard votes have probabilities: the share of the votes"),
    (
        r"sample_weight_kwargs|test_stacking_classifier_error.*does not support",
        "members that cannot answer what they are asked for are refused first",
    ),
    (r"test_voting_verbose|stacking_without_n_features_in", "other words, or the name of the class, in a message"),
    (r"stacking_classifier_multilabel", "stacking takes one target"),
    # Insides of scikit-learn.
    (
        r"has no attribute '_(?!_)|Argument 'orig_tree'|test_base$|test_base\n"
        r"|multioutput_integral_regression_target",
        "the test reads private attributes or calls compiled functions of scikit-learn",
    ),
    (r"test_recursion_decision_tree", "`method='recursion'` asks for scikit-learn's own classes: use `to_sklearn`"),
    (r"test_backend_respected", "our trees are grown by threads of the core, not by joblib"),
    # What differs on purpose.
    (
        r"draw_indices|bootstrap_sample_weight|max_samples_bootstrap_combinations",
        "bagging multiplies by sample weights; scikit-learn draws rows by them",
    ),
    (r"almost_constant_feature|big_input", "doubles are kept apart that scikit-learn rounds to one float"),
    (r"test_mae", "of cuts of equal absolute error least squares decide; scikit-learn takes the first"),
    (r"test_huge_allocations", "nothing is allocated for leaves before they are there"),
    (
        r"warm_start_equal|warm_start_with_oob_score|test_class_weight_errors",
        "a warm start compares the data: what scikit-learn warns of is refused, and out-of-bag estimates stay right",
    ),
    (r"test_sample_weights_infinite", "weights of boosting do not overflow"),
    (r"test_adaboostclassifier_without_sample_weight", "learners without weights are boosted by resampling"),
    (r"test_multidimensional_X", "X has two dimensions"),
    (r"contains infinity", "infinite values are refused, also for members that would replace them"),
    (
        r"test_metadata_routing_with_dynamic|no attribute 'decision_function'",
        'votes are counted by default: members are asked for labels, and a decision function needs `vote="soft"`',
    ),
    (
        r"min_sample_split_1_error|score_samples_error|Sum of y is not|y is not positive",
        "other words, or the name of the class, in a message",
    ),
    # Chance.
    (
        r"oob_score_regression|forest_regressor_oob|forest_classifier_oob|test_distribution|set_estimator_drop|get_feature_names_out"
        r"|classification_sample_weights",
        "another random stream: an expectation that holds for scikit-learn's seed",
    ),
)


def reason_of(test: str, message: str) -> str:
    """The reason of a failure, by the name of the test and the message of the error."""
    for pattern, reason in REASONS:
        if re.search(pattern, f"{test}\n{message}"):
            return reason
    return f"**not explained**: {message.splitlines()[0][:100] if message else ''}"
