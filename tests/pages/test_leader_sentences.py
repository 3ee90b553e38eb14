"""Sentences on the accuracy of models, from tables that can be checked by eye."""

from __future__ import annotations

import polars as pl
import pytest

from medsim.pages.sentences import accuracy_sentences

CI = "(95% CI {:.3f} to {:.3f})"
NONE = "No model is significantly better than guessing (0.25) on PLACE: a has the highest accuracy"
LEADS = "a leads on PLACE: its accuracy is"


def says(values: dict[str, float], *, p: float = 0.001, half: float | None = 0.05) -> list[str]:
    """Return the sentences on accuracies, all with the same half of an interval and p-value."""
    rows = [
        {"model": model, "accuracy": value, "chance": 0.25, "p": p}
        | {"low": half and value - half, "high": half and value + half}
        for model, value in values.items()
    ]
    dtypes = {"low": pl.Float64, "high": pl.Float64}
    return accuracy_sentences(pl.DataFrame(rows, schema_overrides=dtypes), "PLACE")


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ({"a": 0.212, "b": 0.1}, {}, [f"{NONE}, 0.212 {CI.format(0.162, 0.262)}, 0.112 (p"]),
        ({"a": 0.29, "b": 0.1}, {}, [f"{NONE}, 0.290 {CI.format(0.24, 0.34)}, 0.190 (p = 0.001"]),
        ({"a": 0.29, "b": 0.2}, {"p": 0.4}, [f"{NONE}, 0.290 {CI.format(0.24, 0.34)}, but cannot"]),
        ({"a": 0.2, "b": 0.1}, {"half": None}, [f"{NONE}, 0.200 (no confidence interval), 0.100"]),
        ({"a": 0.4, "b": 0.1}, {}, [LEADS, "Not significantly better than guessing (0.250): b."]),
        ({"a": 0.4, "b": 0.1}, {"half": None}, [LEADS, "Not significantly better than guessing"]),
        ({"a": 0.4, "b": 0.35}, {}, [LEADS]),
        ({"a": 0.2}, {}, ["On PLACE, a has an accuracy of 0.200", "Not significantly better than"]),
    ],
)
def test_no_model_leads_if_none_is_significantly_better_than_guessing(
    values: dict[str, float], options: dict[str, float | None], expected: list[str]
) -> None:
    found = says(values, **options)

    assert len(found) == len(expected)
    assert all(one.startswith(begin) for one, begin in zip(found, expected, strict=True)), found


def test_the_best_model_may_lead_if_only_another_is_surely_better_than_guessing() -> None:
    rows = pl.DataFrame(
        {
            "model": ["a", "b"],
            "accuracy": [0.5, 0.4],
            "low": [0.2, 0.39],
            "high": [0.8, 0.41],
            "chance": 0.25,
            "p": [None, 0.01],
        }
    )

    leader, guessing = accuracy_sentences(rows, "PLACE")

    assert leader.startswith(f"{LEADS} 0.500 {CI.format(0.2, 0.8)}, 0.100 (p = 0.010) above b.")
    assert guessing == "Not significantly better than guessing (0.250): a."
