"""Ensembles whose members draw rows by samplers of their own, as those of imbalanced-learn do.

They inherit from scikit-learn's, but what `bootstrap` or `estimators_samples_` say is not what their members saw.
"""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from conjunto.voters.protocol import Unknown


def resamples(fitted: Any) -> bool:
    """Whether a sampler stands between the rows of an ensemble and its members."""
    return hasattr(fitted, "samplers_") or any(map(_has_sampler, getattr(fitted, "estimators_", ())))


def unknown_samples(name: str) -> Unknown:
    """Why it is not known what the members of such an ensemble saw."""
    return Unknown(
        f"{name} draws the rows of every member by a sampler of its own: which ones is not known, and so nothing that "
        "is out of bag; give rows that none of them saw"
    )


def _has_sampler(member: Any) -> bool:
    return isinstance(member, Pipeline) and any(hasattr(step, "fit_resample") for _, step in member.steps)
