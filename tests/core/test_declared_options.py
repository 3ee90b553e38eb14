"""Options that callers give one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from medsim.builds.options import BuildOptions
from medsim.cli.options import ReportOptions
from medsim.core.config import checked_threads
from medsim.core.errors import OptionError
from medsim.evaluations.options import EvaluateOptions
from medsim.studies.options import SampleOptions, ScoreOptions


def test_one_text_or_path_stands_for_several_of_one() -> None:
    assert BuildOptions(negatives="random").negatives == ("random",)
    assert ScoreOptions("study", "answers").answers == ("answers",)
    with pytest.raises(OptionError, match="did you mean random"):
        BuildOptions(negatives="randm")


def test_a_text_stays_one_where_it_may_be_one() -> None:
    assert BuildOptions("mesh", corrections="corrections.csv").corrections == "corrections.csv"


def test_a_list_or_a_number_of_numpy_is_kept_as_plain_python_has_it() -> None:
    options = BuildOptions(negatives=["random"], seed=np.int64(3))

    assert options.negatives == ("random",)
    assert type(options.seed) is int
    assert EvaluateOptions("x", {"one": "two"}, "out", bins=["5", "50"]).bins == (5, 50)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seed": "1"}, "`seed` takes a whole number, not str"),
        ({"seed": True}, "`seed` takes a whole number, not bool"),
        ({"seed": 1.0}, "`seed` takes a whole number, not float"),
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
def test_a_value_of_another_type_is_refused_with_the_types_that_are_taken(
    given: dict[str, Any], says: str
) -> None:
    with pytest.raises(OptionError) as caught:
        BuildOptions(**given)

    assert str(caught.value) == says


def test_threads_of_functions_without_declared_options_are_checked_as_well() -> None:
    for threads in ("two", 0, 2.0):
        with pytest.raises(OptionError, match=f"`threads` {threads} is out of range; 1 to 1024"):
            checked_threads(threads)


def test_types_that_hold_others_are_checked_as_well() -> None:
    for embeddings in (["one"], {"one": 1}, {1: "one"}):
        with pytest.raises(OptionError, match="`embeddings` takes a text or a path by name, not"):
            EvaluateOptions("x", embeddings, "out")
    with pytest.raises(OptionError, match="`bins` takes several whole numbers, not list of float"):
        EvaluateOptions("x", {"one": "two"}, "out", bins=[5.5])
    with pytest.raises(OptionError, match="or several texts, not float"):
        SampleOptions("build", "out", annotators=1.5)
    with pytest.raises(OptionError, match="`output` takes a text or a path or an OpenedFolder"):
        ReportOptions(5, "out")
