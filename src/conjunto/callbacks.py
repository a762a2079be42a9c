"""scikit-learn's callbacks (progress bars, monitors), joined where the installed release has them (1.9, experimental).

`members_task` wraps the building of a batch of members; without callbacks it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """Gives an estimator `set_callbacks`."""

        def _init_callback_context(self, **options: Any) -> Any: ...

    def with_callbacks(method: Any) -> Any:
        """Tear callbacks down after the method, whatever happens in it."""

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:

        class CallbackSupportMixin:
            """This release of scikit-learn has no callbacks."""

        def with_callbacks(method):
            """Return the method: this release of scikit-learn has no callbacks."""
            return method


def has_callbacks(estimator: Any) -> bool:
    """Whether the user has set callbacks, here or on a meta-estimator."""
    return hasattr(estimator, "_skl_callbacks")


@contextmanager
def fit_task(estimator: Any, n_batches: int) -> Iterator[Any]:
    """The whole fit as a task; yields the context of its batches, or None without callbacks."""
    if not has_callbacks(estimator):
        yield None
        return
    context = estimator._init_callback_context(max_subtasks=n_batches)
    context.call_on_fit_task_begin(estimator=estimator)
    yield context
    context.call_on_fit_task_end(estimator=estimator)


@contextmanager
def members_task(estimator: Any, context: Any) -> Iterator[None]:
    """One batch of members as a task."""
    if context is None:
        yield
        return
    batch = context.subcontext(task_name="members")
    batch.call_on_fit_task_begin(estimator=estimator)
    yield
    batch.call_on_fit_task_end(estimator=estimator)


__all__ = ["CallbackSupportMixin", "fit_task", "has_callbacks", "members_task", "with_callbacks"]
