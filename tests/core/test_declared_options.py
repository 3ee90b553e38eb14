"""Declared options and their checks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import medsim.cli  # noqa: F401 — which knows all options
from medsim.builds.options import BuildOptions, ShardOptions
from medsim.cli.options import ReportOptions
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.core.options import Options, declared, union_members
from medsim.embeddings import lookup
from medsim.embeddings.options import parse_embedding
from medsim.evaluations.options import EvaluateOptions, Index
from medsim.exports.options import ExportOptions
from medsim.studies.options import (
    GradeOptions,
    InspectOptions,
    InstancesOptions,
    SampleOptions,
    ScoreOptions,
)
from medsim.wic.options import WicEvaluateOptions


def test_single_text_or_path_counts_as_a_sequence() -> None:
    assert BuildOptions(negatives="random").negatives == ("random",)
    assert ScoreOptions("study", "answers").answers == ("answers",)
    assert BuildOptions("mesh", corrections="corrections.csv").corrections == "corrections.csv"
    with pytest.raises(OptionError, match="did you mean random"):
        BuildOptions(negatives="randm")


def test_lists_and_numpy_numbers_become_built_in_types() -> None:
    options = BuildOptions(negatives=["random"], seed=np.int64(3))

    assert options.negatives == ("random",)
    assert type(options.seed) is int
    assert EvaluateOptions("x", {"one": "two"}, "out", bins=["5", "50"]).bins == (5, 50)
    assert EvaluateOptions("x", {"one": "two"}, "out", bins=[np.int64(5)]).bins == (5,)
    share = ScoreOptions("study", "answers", outlier_share=np.float32(0.5)).outlier_share
    assert (type(share), share) == (float, 0.5)
    for number in (np.float32("nan"), np.float32(7)):
        with pytest.raises(OptionError, match=r"`outlier_share` .* is out of range"):
            ScoreOptions("study", "answers", outlier_share=number)
    rated = ExportOptions("build", "out", to="mteb", rated=[Path("rated.csv")])
    assert rated.recorded()["rated"] == ["rated.csv"]
    assert BuildOptions("x", as_of=datetime(2020, 1, 31, 5)).as_of == date(2020, 1, 31)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"seed": "1"}, "`seed` takes a whole number, not str"),
        ({"seed": True}, "`seed` takes a whole number, not bool"),
        ({"threads": "two"}, "`threads` takes a whole number or None, not str"),
        ({"source": ["hpo"]}, "`source` takes a text or a path, not list of str"),
        ({"source": None}, "`source` takes a text or a path, not NoneType"),
        ({"as_of": "2026-01-31"}, "`as_of` takes a date or None, not str"),
        ({"negatives": 3}, "`negatives` takes several texts, not int"),
        ({"negatives": ["random", 3]}, "`negatives` takes several texts, not list of int and str"),
        ({"overwrite": 1}, "`overwrite` takes True or False, not int"),
        ({"progress": "loud"}, "`progress` takes a Progress or None, not str"),
    ],
)
def test_value_of_wrong_type_is_refused_with_the_accepted_types(
    values: dict[str, Any], says: str
) -> None:
    with pytest.raises(OptionError) as caught:
        BuildOptions(**values)

    assert str(caught.value) == says


def number_options() -> list[tuple[type[Options], str]]:
    """Return each numeric option with its class."""
    return [
        (options_class, name)
        for options_class in every_class(Options)
        for name in declared(options_class)
        if {int, float} & set(union_members(get_type_hints(options_class)[name]))
        and name not in {"annotators", "raters", "people"}  # these may be names, or a folder
    ]


def every_class(base: type[Options]) -> Iterator[type[Options]]:
    for subclass in base.__subclasses__():
        if subclass.__module__.startswith("medsim."):
            yield subclass
        yield from every_class(subclass)


def _value_for(options: type[Options], name: str) -> object:
    """Return a value that an option accepts."""
    option = declared(options).get(name)
    if option and option.least is not None:
        return option.least
    return next(iter(option.choices)) if option and option.choices else "nowhere"


def test_number_out_of_range_is_refused_before_reading() -> None:
    numbers = number_options()
    assert len(numbers) > 100
    for options, name in numbers:
        option = declared(options)[name]
        assert option.least is not None, (options, name)
        assert option.most is not None, (options, name)
        required = {
            key: ["nowhere"] if key in {"corpora", "answers"} else _value_for(options, key)
            for key, parameter in inspect.signature(options).parameters.items()
            if parameter.default is inspect.Parameter.empty
        }
        if "embeddings" in required:
            required["embeddings"] = {"one": "nowhere"}
        values = [option.least - 1, option.most + 1]
        if float in union_members(get_type_hints(options)[name]):
            values += [math.nan, math.inf, -math.inf]
        for value in values:
            with pytest.raises(OptionError) as caught:
                options(**{**required, name: value})
            assert str(caught.value) == (
                f"`{name}` {value} is out of range; {option.least} to {option.most} are accepted"
            )


@pytest.mark.parametrize(
    ("options", "values", "says"),
    [
        (SampleOptions, {"pairs": "x", "annotators": 0}, "0 annotators; 1 to 1,000 are accepted"),
        (GradeOptions, {"pairs": "x", "raters": 3}, "`raters` 3 cannot make `groups` 2 of 2"),
        (InspectOptions, {"pairs": "x", "annotators": "a,a"}, "two annotators are named 'a'"),
        (InstancesOptions, {"benchmark": "x", "common": 101}, "`common` 101 is more than `size`"),
        (InstancesOptions, {"benchmark": "x", "annotators": 1001}, "1,001 annotators; 1 to 1,000"),
        (WicEvaluateOptions, {"data": "x", "people": 80}, "`people` 80 is not an accuracy"),
        (WicEvaluateOptions, {"data": "x", "people": "nan"}, "`people` nan is not an accuracy"),
        (ScoreOptions, {"study": "x", "answers": "y", "resamples": 99}, "`resamples` 99 is too"),
        (ScoreOptions, {"study": "x", "answers": []}, "give at least one file or folder of a"),
        (
            EvaluateOptions,
            {"inputs": "x", "embeddings": {"a": "b"}, "index": "tree", "retrieval": True},
            "unknown index 'tree'; known: flat, ivf",
        ),
        (EvaluateOptions, {"inputs": "x", "embeddings": {"a": "b"}, "bins": "9" * 5_000}, "`bins`"),
        (ShardOptions, {"shard": "1/" + "9" * 5_000}, "`shard`"),
    ],
)
def test_impossible_options_are_refused_before_reading(
    options: Any, values: dict[str, Any], says: str
) -> None:
    with pytest.raises(OptionError) as caught:
        options(**values, out="out")

    assert str(caught.value).startswith(says)


@pytest.mark.parametrize("text", ["a=~nosuchuser/x", "a=x,vocabulary=~nosuchuser/x"])
def test_home_of_an_unknown_user_is_an_error(text: str) -> None:
    with pytest.raises(OptionError, match="home folder of an unknown user"):
        parse_embedding(text)


def test_indexes_are_the_existing_ones() -> None:
    assert get_args(Index) == lookup.INDEXES


def test_threads_of_other_functions_are_checked_too() -> None:
    for threads in ("two", 0, 2.0):
        with pytest.raises(OptionError, match=f"`threads` {threads} is out of range"):
            checked_threads(threads)


def test_element_types_are_checked_too() -> None:
    for embeddings in (["one"], {1: "one"}):
        with pytest.raises(OptionError, match="`embeddings` takes a mapping from a name to a text"):
            EvaluateOptions("x", embeddings, "out")
    with pytest.raises(OptionError, match="`bins` takes several whole numbers, not list of float"):
        EvaluateOptions("x", {"one": "two"}, "out", bins=[5.5])
    with pytest.raises(OptionError, match="or several texts, not float"):
        SampleOptions("build", "out", annotators=1.5)
    with pytest.raises(OptionError, match="`output` takes a text or a path or an OpenedFolder"):
        ReportOptions(5, "out")
