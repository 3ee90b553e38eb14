"""Names of corpora."""

from __future__ import annotations

from pathlib import Path

import pytest

from medsim.core.errors import OptionError
from medsim.corpora import corpus_names


def test_corpora_are_named_after_their_files(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a/orl.txt", "b/orl.txt.gz", "c/orl", "orl-2.v1.txt")]

    assert corpus_names(paths) == ["orl", "orl-2", "orl-3", "orl-2.v1"]


def test_a_file_is_read_once(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"orl\.txt is named twice"):
        corpus_names([tmp_path / "orl.txt", tmp_path / "a" / ".." / "orl.txt"])
    with pytest.raises(OptionError, match="no corpus is named"):
        corpus_names([])
