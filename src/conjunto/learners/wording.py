"""`Wording`: the conditions and answers of an outline in words, with the reader's names and number of decimals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from conjunto.checks import check_optional_count
from conjunto.learners.conditions import Combination, Condition, Interval, Subset, Term
from conjunto.learners.outline import TreeOutline, TreeOutlineNode

_MOST_FIXED = 6
"""Numbers that need more decimals than this are written with an exponent."""


class Wording:
    """How one outline is put into words.

    Parameters
    ----------
    outline : TreeOutline
    feature_names, class_names : sequence of str, default=None
        Names in place of those of the outline, one for each column and class.
    decimals : int or None, default=2
        Decimals of numbers; more where two thresholds of one column would look the same, None for exact numbers.
    show_missing : bool, default=False
        Say at each condition whether missing values satisfy it.
    most_categories : int, default=None
        Name no more categories than this and count the others; None names all.
    """

    def __init__(
        self,
        outline: TreeOutline,
        *,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        decimals: int | None = 2,
        show_missing: bool = False,
        most_categories: int | None = None,
    ) -> None:
        self.features = _names("feature_names", feature_names, "column", outline.features)
        if class_names is not None and outline.classes is None:
            raise ValueError("class_names were given, but a tree of regression, or of several targets, has no classes")
        self.classes = _names("class_names", class_names, "class", tuple(map(str, outline.classes or ())))
        self.decimals = check_optional_count("decimals", decimals, 0)
        self.show_missing = show_missing
        self.most_categories = most_categories
        self._thresholds = self._word_thresholds(outline)
        self._categories: dict[int, dict[Any, str]] = {}

    def condition(self, condition: Condition) -> str:
        """A condition as a sentence: `0.8 < width <= 1.7`, `colour in {red, blue}`."""
        return self._sentence(condition, self.subject(condition))

    def branch(self, condition: Condition) -> str:
        """A condition whose subject is plain from its place: `<= 1.7`, `= red`."""
        return self._sentence(condition, "").strip()

    def subject(self, condition: Condition) -> str:
        """What a condition speaks of: a column, or a combination of columns."""
        if not isinstance(condition, Combination):
            return self.features[condition.column]
        first, *others = condition.terms
        text = f"{'-' if first.coefficient < 0 else ''}{self._term(first)}"
        return text + "".join(f" {'-' if term.coefficient < 0 else '+'} {self._term(term)}" for term in others)

    def answer(self, node: TreeOutlineNode) -> str:
        """The class or value of a node, or those of several targets; nothing where it has none."""
        if node.label is not None:
            return self.classes[node.label]
        if node.answers is not None:
            return ", ".join(self.number(each) if isinstance(each, float) else str(each) for each in node.answers)
        return "" if node.value is None else self.number(node.value)

    def shares(self, node: TreeOutlineNode, most: int | None = None) -> list[str]:
        """The classes present in a node with their shares: its own class first, then the greatest; at most so many."""
        shares, label = node.shares, node.label
        if shares is None:
            return []
        order = sorted((k for k, share in enumerate(shares) if share > 0 or k == label), key=lambda k: -shares[k])
        order.sort(key=lambda k: k != label)
        named = order if most is None or len(order) <= most else order[: most - 1]
        words = [f"{self.classes[k]}: {self.share(shares[k])}" for k in named]
        if others := order[len(named) :]:
            words.append(f"{len(others)} others: {self.share(sum(shares[k] for k in others))}")
        return words

    def share(self, share: float) -> str:
        """A share with two decimals or more: only what is whole looks like 1, and only what is nothing like 0."""
        if self.decimals is None:
            return repr(float(share))
        texts = [f"{share:.{decimals}f}" for decimals in range(max(self.decimals, 2), 10)]
        return next((text for text in texts if 0 < float(text) < 1), texts[0])

    def number(self, value: float) -> str:
        """A number outside of conditions."""
        return shorten(value, self.decimals)

    def _sentence(self, condition: Condition, subject: str) -> str:
        if condition.empty:
            return f"{subject} is missing"
        if isinstance(condition, Subset):
            text = f"{subject} {self._set(condition)}"
        else:
            text = self._between(condition, subject)
        return f"{text} or missing" if self.show_missing and condition.missing else text

    def _between(self, condition: Interval | Combination, subject: str) -> str:
        words = self._thresholds.get(condition.subject, {})
        low, high = (words.get(bound, shorten(bound, None)) for bound in (condition.low, condition.high))
        if math.isinf(condition.low) and math.isinf(condition.high):
            return f"{subject} is known" if not condition.missing else f"{subject} is any number"
        if math.isinf(condition.low):
            return f"{subject} <= {high}"
        if math.isinf(condition.high):
            return f"{subject} > {low}"
        return f"{low} < {subject} <= {high}"

    def _set(self, subset: Subset) -> str:
        words = self._category_words(subset)
        names = [words[name] for name in subset.categories]
        if len(names) == 1:
            return f"= {names[0]}"
        most = self.most_categories
        if most is not None and len(names) > most:
            names = [*names[: most - 1], f"{len(names) - most + 1} more"]
        return f"in {{{', '.join(names)}}}"

    def _category_words(self, subset: Subset) -> dict[Any, str]:
        """The categories of a column as text; quoted where plain text would not tell them from each other."""
        if subset.column not in self._categories:
            plain = [str(name) for name in subset.known]
            doubtful = len(set(plain)) < len(plain) or any(_looks_odd(text) for text in plain)
            self._categories[subset.column] = {name: repr(name) if doubtful else str(name) for name in subset.known}
        return self._categories[subset.column]

    def _term(self, term: Term) -> str:
        subject = self.features[term.column]
        if term.subset is not None:
            subject = f"[{subject} {self._set(term.subset)}]"
        return f"{self.number(abs(term.coefficient))} * {subject}"

    def _word_thresholds(self, outline: TreeOutline) -> dict[Any, dict[float, str]]:
        """Every threshold of a subject with as many decimals as it takes to tell them apart."""
        found: dict[Any, set[float]] = {}
        for node in outline.nodes:
            for branch in node.branches:
                if not isinstance(branch, Subset):
                    found.setdefault(branch.subject, set()).update(
                        bound for bound in (branch.low, branch.high) if math.isfinite(bound)
                    )
        return {subject: distinct_words(bounds, self.decimals) for subject, bounds in found.items()}


def shorten(value: float, decimals: int | None) -> str:
    """A number with so many decimals and no zeros at the end; near zero, with as many significant digits."""
    if decimals is None or not math.isfinite(value):
        return repr(float(value)).removesuffix(".0")
    if value == 0:
        return "0"
    if abs(value) < 10.0 ** (1 - decimals) or abs(value) >= 1e15:
        return f"{value:.{max(decimals, 1)}g}"
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def distinct_words(values: Iterable[float], decimals: int | None) -> dict[float, str]:
    """Numbers as text, shortened no further than keeps all of them different."""
    ordered = sorted(values)
    if decimals is not None:
        for more in range(decimals, max(decimals, _MOST_FIXED) + 1):
            words = [shorten(value, more) for value in ordered]
            if len(set(words)) == len(words):
                return dict(zip(ordered, words, strict=True))
    return {value: shorten(value, None) for value in ordered}


def _looks_odd(text: str) -> bool:
    return not text or text != text.strip() or any(sign in text for sign in ",{}'\"\n")


def _names(argument: str, given: Sequence[str] | None, what: str, default: tuple[str, ...]) -> tuple[str, ...]:
    if given is None:
        return default
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    if isinstance(given, str):
        raise ValueError(f"{argument} must be a sequence of {len(default)} names, got the text {given!r}")
    names = tuple(map(str, given))
    if len(names) != len(default):
        raise ValueError(
            f"{argument} must have one name for each {what}: the tree has {len(default)} {plural}, "
            f"got {len(names)} names"
        )
    return names
