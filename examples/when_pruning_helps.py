"""When pruning helps and when it doesn't: what the first fifth of the members is worth, by ensemble and order.

Prints the change of the test error, in points, against the whole ensemble of 200 members: mean and standard error over
the data sets, three partitions of each. Every order is also cut where other rules say. `python
examples/when_pruning_helps.py` takes half an hour; data set names as arguments make it shorter.
"""

import sys
import warnings
from collections import defaultdict
from contextlib import suppress

import numpy as np
from sklearn.model_selection import train_test_split

from conjunto import (
    AdaBoostClassifier,
    BaggingClassifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    RandomForestClassifier,
)
from conjunto.datasets import load, make_twonorm, make_waveform
from conjunto.ordering import ORDERINGS, boosting_size, orientation_size
from conjunto.pruning.choosing import choose
from conjunto.pruning.judging import Asked, Examples, judge
from conjunto.pruning.keep import least
from conjunto.voters import as_voters, rows_seen
from conjunto.voters.checking import check_examples

T, PARTITIONS = 200, 3
SMALL = CARTClassifier(prune="cv", rule="1se", prune_to_root=False, copies="together")
KINDS = {
    "bagging, small trees (1-SE)": BaggingClassifier(SMALL, T),
    "bagging, pruned trees": BaggingClassifier(CARTClassifier(prune="cv"), T),
    "bagging, full trees": BaggingClassifier(None, T),
    "random forest": RandomForestClassifier(T),
    "class-switching": ClassSwitchingClassifier(n_estimators=T),
    "boosting, depth 3": AdaBoostClassifier(CARTClassifier(max_depth=3), T, algorithm="m1", restart="bootstrap"),
}
NAMES = (
    *("waveform", "twonorm", "breast-w", "diabetes", "german", "heart", "wine", "sonar", "ionosphere", "vehicle"),
    *("new-thyroid", "segment", "tic-tac-toe", "australian"),
)


def partition(name, seed):
    """Training and test rows: two thirds of a data set, at most 500 rows, are for training."""
    if name in ("waveform", "twonorm"):
        make = {"waveform": make_waveform, "twonorm": make_twonorm}[name]
        return (*make(300, random_state=seed), *make(1500, random_state=1000 + seed))
    data = load(name)
    share = min(2 / 3, 500 / len(data.y))
    X, X_test, y, y_test = train_test_split(
        data.X, data.y.to_numpy(), train_size=share, stratify=data.y, random_state=seed
    )
    return X, y, X_test, y_test


def changes(model, X, y, X_test, y_test, seed):
    """(selection, order, rule) -> change of the test error in points."""
    voters = as_voters(model)
    asked, truth = Asked(voters, X), check_examples(voters, X, y)
    examples = {"train": Examples(asked, truth)}
    with suppress(ValueError):  # boosting and class-switching show all rows to every member
        examples["oob"] = Examples(asked, truth, abstaining=rows_seen(voters, len(truth)))
    test = Examples(Asked(voters, X_test), check_examples(voters, X_test, y_test))
    found = {}
    for selection, chosen_on in examples.items():
        votes = chosen_on.labels()
        sizes = {
            "a fifth": round(T / 5),
            "orientation": orientation_size(votes, y),
            "boosting": boosting_size(votes, y),
        }
        for name in ORDERINGS:
            ordered = choose(voters, chosen_on, name, None, n_jobs=None, random_state=seed)
            losses = judge(ordered, {"test": test, "own": chosen_on})
            curve, own = losses["test"].curve(), least(losses["own"])
            for rule, size in {**sizes, "least error": own}.items():
                found[selection, name, rule] = 100 * (curve[min(size, len(curve)) - 1] - curve[-1])
    return found


def main():
    """Print one table for each kind of ensemble."""
    warnings.simplefilter("ignore")  # of orientation, where it is unstable: that is what the table shows
    for kind, ensemble in KINDS.items():
        by_set = defaultdict(list)
        for name in sys.argv[1:] or NAMES:
            runs = []
            for seed in range(PARTITIONS):
                X, y, X_test, y_test = partition(name, seed)
                model = ensemble.set_params(random_state=seed).fit(X, y)
                runs.append(changes(model, X, y, X_test, y_test, seed))
            for key in runs[0]:
                by_set[key].append(np.mean([run[key] for run in runs]))
        print(kind)
        for (selection, name, rule), values in by_set.items():
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
            print(f"  {selection:<6}{name:<18}{rule:<12}{np.mean(values):+6.2f} ± {error:.2f}", flush=True)


if __name__ == "__main__":
    main()
