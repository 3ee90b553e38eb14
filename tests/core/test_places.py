"""Paths of outputs: inputs are never written to, and names are checked first."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pytest

from medsim.core.errors import OptionError, OutputError
from medsim.core.options import NAMED_PATH, Option, Options
from medsim.core.output import check_file_free, check_not_input

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
else:
    from collections.abc import Mapping, Sequence


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    path = tmp_path / "in" / "source.obo"
    path.write_text("precious")
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    os.link(path, tmp_path / "hard")
    return path


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("in/source.obo", "source.obo is an input of this command; choose another place$"),
        ("in/../in/deep/../source.obo", "is .*source.obo, an input"),
        ("link", "is .*source.obo, an input"),
        ("hard", "is .*source.obo, an input"),
        ("folder/source.obo", "is .*source.obo, an input"),
        ("in", "holds .*source.obo, an input"),
        ("folder", "holds .*source.obo, an input"),
        (".", "holds .*source.obo, an input"),
    ],
)
def test_inputs_are_never_outputs(tmp_path: Path, source: Path, out: str, message: str) -> None:
    with pytest.raises(OutputError, match=message):
        check_not_input(tmp_path / out, [source])


@pytest.mark.parametrize("out", ["in/out", "in/deep/out", "folder/out", "in"])
def test_nothing_is_written_into_an_input_folder(tmp_path: Path, source: Path, out: str) -> None:
    with pytest.raises(OutputError, match=r"in(,| is) an input"):
        check_not_input(tmp_path / out, [], [source.parent])
    (source.parent / "manifest.json").touch()  # an output of medsim has no other files
    with pytest.raises(OutputError, match=r"in(,| is) an input"):
        check_not_input(tmp_path / out, [source.parent])


@pytest.mark.parametrize("out", ["in/out", "out", "in/deep", "in/source.obo.zip"])
def test_output_next_to_an_input_is_allowed(tmp_path: Path, source: Path, out: str) -> None:
    check_not_input(tmp_path / out, [source, tmp_path / "not there"], [source])
    check_not_input(tmp_path / out / "deeper", [source.parent])


def test_paths_read_are_of_all_options_except_out(tmp_path: Path) -> None:
    @dataclass(frozen=True, slots=True)
    class SomeOptions(Options):
        out: Annotated[str | Path, Option("Written.")]
        _: KW_ONLY
        one: Annotated[str | Path | None, Option("Read.")] = None
        several: Annotated[Sequence[str | Path], Option("Read.")] = ()
        named: Annotated[Mapping[str, str | Path], Option("Read.", metavar=NAMED_PATH)] = None
        text: Annotated[str, Option("Read.", metavar=NAMED_PATH)] = ""
        word: Annotated[str, Option("No path.")] = ""
        source: Annotated[str | Path, Option("A name, or a path.", or_name=True)] = "hpo"

    for name in ("a", "b,c=d", "e", "f", "g", "out", "word", "hpo"):
        (tmp_path / name).touch()
    options = SomeOptions(
        tmp_path / "out",
        one=str(tmp_path / "a"),
        several=(tmp_path / "b,c=d", f"{tmp_path / 'e'},term1=A,rating=score"),
        named={"bert": f"{tmp_path / 'f'},pooling=cls"},
        text=f"bert={tmp_path / 'g'},case=keep",
        word=str(tmp_path / "word"),
        source=str(tmp_path / "hpo"),
    )

    assert [path.name for path in options.paths_read()] == ["a", "b,c=d", "e", "f", "g"]


@pytest.mark.parametrize("value", [Path(os.fsdecode(b"\xff")), [Path(os.fsdecode(b"a\xff"))]])
def test_name_that_is_not_utf_8_is_an_error_at_the_start(value: object) -> None:
    @dataclass(frozen=True, slots=True)
    class ReadingPaths(Options):
        paths: Annotated[Path | Sequence[Path], Option("Read.")]

    with pytest.raises(OptionError, match=r"^`paths` 'a?\\udcff' is not UTF-8; rename the file$"):
        ReadingPaths(value)


def test_file_is_replaced_only_if_allowed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    check_file_free(path, overwrite=False)
    path.write_text("own")
    with pytest.raises(OutputError, match="is there already; add `overwrite`"):
        check_file_free(path, overwrite=False)
    check_file_free(path, overwrite=True)
    with pytest.raises(OutputError, match="was not written by medsim"):
        check_file_free(path, overwrite=True, is_own=lambda file: file.read_text() != "own")
    with pytest.raises(OutputError, match="there is no folder"):
        check_file_free(path / "deeper", overwrite=True)
    with pytest.raises(OutputError, match="it is a folder"):
        check_file_free(tmp_path, overwrite=True)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OutputError, match="is not a file and cannot be replaced"):
        check_file_free(tmp_path / "fifo", overwrite=True)
