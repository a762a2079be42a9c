"""Metadata routing of bagging: what is given to `predict` beside X goes to the members that asked for it."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from conjunto.problem import Rows

CALLERS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


class Routing:
    """Bagging's methods with `**params`. A mixin before the answers; scikit-learn's names and errors."""

    read: Any
    _voting: Any
    estimator_: Any

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata the members ask for."""
        # Compared with None: an ensemble as base learner has a length only once it is fitted.
        learner = getattr(self, "estimator_", None)
        learner = self._learner() if learner is None else learner  # type: ignore[attr-defined]
        mapping = MethodMapping()
        for caller in CALLERS:
            mapping.add(caller=caller, callee=self._callee(caller, learner))
        return MetadataRouter(owner=self).add_self_request(self).add(estimator=learner, method_mapping=mapping)

    def _callee(self, caller: str, learner: Any) -> str:
        """What members are asked for when the ensemble is."""
        if caller == "decision_function":
            return caller
        soft = getattr(self, "vote", "hard") == "soft" and hasattr(learner, "predict_proba")
        return "predict_proba" if soft else "predict"

    def _asked(self, X: Any, caller: str, params: dict[str, Any]) -> Any:
        """X, or the rows of X with what the members are asked with."""
        if not params:
            return X
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"[{', '.join(sorted(params))}] are passed to {type(self).__name__}.{caller}, which takes X alone "
                "unless metadata routing is on: sklearn.set_config(enable_metadata_routing=True)"
            )
        routed = process_routing(self, caller, **params)
        rows: Rows = self.read(X)
        given = routed.estimator[self._callee(caller, self.estimator_)]
        return Rows(rows.encoded, rows.source, rows.columns, dict(given))
