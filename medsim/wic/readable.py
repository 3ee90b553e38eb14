"""Tables of words in context as they are printed to be read."""

from __future__ import annotations

import polars as pl

from medsim.core.shown import MISSING
from medsim.wic import GROUPS
from medsim.wic.models.dataset import SEEN

_PARTS = (*GROUPS, *SEEN)
_OF_REPLIES = {
    "refused": "refused",
    "unclear": "unclear",
    "prompt_tokens": "tokens in",
    "completion_tokens": "tokens out",
}
WHY_MISSING = {
    "over seeds": "a model is fitted from one seed, or not fitted",
    **dict.fromkeys(_OF_REPLIES.values(), "a model is not a language model"),
    "p": "no test is possible",
    "p (Holm)": "no test is possible",
}
"""When a table has no value in a column, a clause after "where"."""


def readable_accuracies(results: pl.DataFrame, people: float | None = None) -> pl.DataFrame:
    """Return accuracies to be read: a row a model, a column a part of the benchmark.

    The accuracy of all instances has its 95% interval behind it, and beside it, where that is
    known, how far it is from that of people, with ≈ where the interval includes that. Where there
    are several seeds, a column has the standard deviation over them. Of language models, the
    replies that are no answers and the tokens of all are beside that. Parts without instances have
    no column.
    """
    accuracies = results.filter(statistic="accuracy")
    others = results.filter(pl.col("statistic") != "accuracy")
    deviations = others.filter(statistic="deviation", subset="all")
    of_seeds = dict(deviations.select("model", "value").rows())
    parts = [part for part in _PARTS if part in accuracies["subset"]]
    table = []
    for (model,), own in accuracies.group_by("model", maintain_order=True):
        by_part = {row["subset"]: row for row in own.iter_rows(named=True)}
        whole = by_part["all"]
        cells = {part.replace("_", " "): _number(by_part[part]["value"]) for part in parts}
        row = {"model": model, "accuracy": _with_interval(whole)}
        if of_seeds:
            row["over seeds"] = f"± {of_seeds[model]:.3f}" if model in of_seeds else MISSING
        if people is not None:
            row["to people"] = _to_people(whole, people)
        table.append(row | cells | _replies(others.filter(model=model)))
    labels = [label for label in _OF_REPLIES.values() if any(label in row for row in table)]
    rows = [row | {label: row.get(label, MISSING) for label in labels} for row in table]
    return pl.DataFrame(rows, infer_schema_length=None)


def _replies(own: pl.DataFrame) -> dict[str, str]:
    """Return the replies of a language model that are no answers, and the tokens of all."""
    found = dict(own.filter(subset="all").select("statistic", "value").iter_rows())
    return {label: f"{found[name]:,.0f}" for name, label in _OF_REPLIES.items() if name in found}


def readable_comparisons(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Return comparisons of models to be read: McNemar's p corrected by Holm's procedure."""
    between = comparisons.filter(between="models")
    return pl.DataFrame(
        {
            "model": between["model1"],
            "other": between["model2"],
            "difference": [_signed(value) for value in between["difference"]],
            "p": [_p(value) for value in between["p"]],
            "p (Holm)": [_p(value) for value in between["p_holm"]],
        },
        schema_overrides=dict.fromkeys(("difference", "p", "p (Holm)"), pl.String),
    )


def _with_interval(row: dict[str, float | None]) -> str:
    if row["low"] is None:
        return _number(row["value"])
    return f"{_number(row['value'])} [{_number(row['low'])}, {_number(row['high'])}]"


def _to_people(row: dict[str, float | None], people: float) -> str:
    value, low, high = row["value"], row["low"], row["high"]
    if value is None:
        return MISSING
    is_near = low is not None and high is not None and low <= people <= high
    return f"{'≈ ' if is_near else ''}{_signed(value - people)}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def _p(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.3f}" if value >= 0.001 else "<0.001"  # noqa: PLR2004 — three digits


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}"
