"""The environment of the program: descriptors, streams, variables and limits."""

from __future__ import annotations

import io
import resource
import sys
import warnings

import polars as pl
import pytest

from medsim.core import surroundings
from medsim.core.errors import OptionError
from medsim.core.printing import print_table

NO_LIMIT = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("files", "raised_to"),
    [
        *(((20, NO_LIMIT), 1024), ((256, 4096), 1024), ((256, 512), 512)),
        *(((2048, 4096), None), ((NO_LIMIT, NO_LIMIT), None)),
    ],
)
def test_limit_on_open_files_is_raised_as_needed(
    monkeypatch: pytest.MonkeyPatch, files: tuple[int, int], raised_to: int | None
) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(resource, "getrlimit", {resource.RLIMIT_NOFILE: files}.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, limit: limits.append(limit))

    surroundings.prepare()

    assert limits == ([] if raised_to is None else [(raised_to, files[1])])


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_unencodable_character_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], errors: str
) -> None:
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", errors=errors)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stdout)
        patch.setattr(warnings, "showwarning", warnings.showwarning)
        surroundings.prepare()
        print_table(pl.DataFrame({"term": ["漢 of 漢"]}), "csv")

    assert stdout.buffer.getvalue() == b"term\n? of ?\n"
    message = capsys.readouterr().err
    assert message.startswith("warning: standard output is ")
    assert message.count("\n") == 1


def test_rule_and_minus_signs_have_ascii_replacements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stdout)
        print_table(pl.DataFrame({"difference": [-1.5]}), "table")

    assert stdout.buffer.getvalue().split() == [b"difference", b"-" * 10, b"-1.50"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", ["csv", "html", "json", "latex", "md", "table"])
def test_terms_do_not_control_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    controls = "\x1b]0;title\x07 \x9b31m \x7f \r \u202e"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    print_table(pl.DataFrame({"term": [f"漢 {controls}"], "more": ["plain"]}), form)

    printed = capsys.readouterr().out
    assert not {*printed} & {*controls} - {*" ]0;title31m"}
    assert "漢 " in printed
    assert ("\\u001b]0;title\\u0007 \\u009b31m" in printed) == (form in {"csv", "json"})


def test_statement_is_utf_8_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    assert surroundings.utf8_text("select 'é漢'") == "select 'é漢'"

    escaped = "é漢".encode().decode("ascii", "surrogateescape")
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "ascii")
    assert surroundings.utf8_text(escaped) == "é漢"
    with pytest.raises(OptionError, match="is not UTF-8"):
        surroundings.utf8_text("select \udcff")


def test_a_warning_of_a_library_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    surroundings.prepare()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("NUMBA_OPT is no number\nTraceback (most recent call last):", stacklevel=1)

    assert capsys.readouterr().err == "warning: NUMBA_OPT is no number\n"
