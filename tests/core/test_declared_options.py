"""Options that callers give one by one."""

from __future__ import annotations

import pytest

from medsim.builds.options import BuildOptions
from medsim.core.errors import OptionError
from medsim.studies.options import ScoreOptions


def test_one_text_or_path_stands_for_several_of_one() -> None:
    assert BuildOptions(negatives="random").negatives == ("random",)
    assert ScoreOptions("study", "answers").answers == ("answers",)
    with pytest.raises(OptionError, match="did you mean random"):
        BuildOptions(negatives="randm")


def test_a_text_stays_one_where_it_may_be_one() -> None:
    assert BuildOptions("mesh", corrections="corrections.csv").corrections == "corrections.csv"
