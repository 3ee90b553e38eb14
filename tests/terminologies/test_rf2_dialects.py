"""The names of SNOMED CT's dialects, by language reference sets."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pytest
from fixtures.release import Release
from fixtures.sources import n_skipped, read_source

from medsim.core.errors import InputError, OptionError
from medsim.terminologies.rf2_writer import check_digits
from medsim.terminologies.sources.rf2 import DIALECTS

if TYPE_CHECKING:
    from pathlib import Path

LEFT_OUT = "description is neither preferred nor acceptable in the dialect"
OTHER = "999001261000000100"


def release_of_dialects() -> Release:
    """Return a release whose concept has names in two dialects, one of them with a change."""
    release = Release()
    release.concept("10", time="20180731")
    names = {
        "grelb oedema": "1",
        "grelb edema": "2",
        "swollen grelb": "3",
        "nobody's grelb": "4",
        "early grelb": "5",
        "Grelb swelling (disorder)": "6",
        "Grelb oedema (disorder)": "7",
    }
    for term, names_of_term in names.items():
        kind = "fsn" if term.endswith(")") else "synonym"
        release.description("10", term, kind, id=names_of_term, time="20180731")
    for names_of_term, dialect, acceptability in (
        ("1", "en-GB", "preferred"),
        ("2", "en-US", "preferred"),
        ("3", "en-GB", "acceptable"),
        ("3", "en-US", "acceptable"),
        ("6", "en-US", "preferred"),
        ("7", "en-GB", "preferred"),
        ("7", OTHER, "preferred"),
    ):
        release.accepted(names_of_term, dialect, acceptability, time="20180731")
    release.accepted("5", time="20180731", acceptability="preferred")
    release.accepted("5", time="20190731", acceptability="preferred", active=False)
    release.accepted("3", time="20190731", acceptability="preferred")
    release.accepted("99", time="20180731")  # a description that the release lacks
    return release


def names_in(release: Path, **options: object) -> dict[str, bool]:
    """Return the terms of a dialect, each with whether it is preferred."""
    description = read_source(release, **options)[1]["description"]
    return dict(description.select("term", "preferred").rows())


@pytest.mark.parametrize("form", ["Full", "Snapshot"])
def test_only_names_of_the_dialect_are_read_with_their_preference(
    tmp_path: Path, form: str
) -> None:
    path = release_of_dialects().write_zip(tmp_path / "release.zip", form)
    gb = {"Grelb oedema": True, "grelb oedema": True, "swollen grelb": True}
    us = {"Grelb swelling": True, "grelb edema": True, "swollen grelb": False}
    assert names_in(path, dialect="900000000000508004") == gb
    assert names_in(path, dialect=OTHER) == {"Grelb oedema": True}
    terminology, tables = read_source(path, dialect="EN-us")
    assert dict(tables["description"].select("term", "preferred").rows()) == us
    assert n_skipped(terminology) == {LEFT_OUT: 4}
    british = n_skipped(read_source(path, dialect="en-gb")[0])
    assert british == {LEFT_OUT: 4, "name of the dialect is an absent description": 1}
    assert tables["concept"].rows() == [
        ("10", True, "900000000000207008", "disorder", date(2018, 7, 31))
    ]
    assert any("Language" in file.name for file in terminology.files)


def test_a_dialect_has_the_members_of_the_given_day(tmp_path: Path) -> None:
    path = release_of_dialects().write_folder(tmp_path, "Full")
    then = dict.fromkeys(("Grelb oedema", "grelb oedema", "early grelb"), True)
    then["swollen grelb"] = False
    assert names_in(path, dialect="en-GB", as_of=date(2018, 7, 31)) == then
    assert "early grelb" not in names_in(path, dialect="en-GB", as_of=date(2019, 7, 31))


def test_without_a_dialect_no_language_reference_set_is_read(tmp_path: Path) -> None:
    path = release_of_dialects().write_folder(tmp_path, "Snapshot")
    (language,) = path.rglob("*_Language*")
    language.write_text("no table")
    terminology, tables = read_source(path)
    assert "preferred" not in tables["description"].columns
    assert tables["description"].height == 6  # one of two fully specified names is older
    assert not any("Language" in file.name for file in terminology.files)


def test_an_error_for_a_missing_dialect_lists_the_available_ones(tmp_path: Path) -> None:
    path = release_of_dialects().write_folder(tmp_path / "some", "Snapshot")
    known_sets = r"en-gb \(900000000000508004\), en-us \(\d+\) and en-x-nhs-clinical \(\d+\)"
    with pytest.raises(OptionError, match=rf"`dialect`: .* 46011000052107; .* {known_sets}"):
        read_source(path, dialect="sv-SE")
    with pytest.raises(OptionError, match="unknown dialect 'en-uk'; did you mean"):
        read_source(path, dialect="en-UK")
    (language,) = path.rglob("*_Language*")
    language.unlink()
    with pytest.raises(InputError, match=r"no language file der2_cRefset_Language\*\.txt"):
        read_source(path, dialect="en-GB")


def test_a_day_needs_the_history_of_the_dialect_too(tmp_path: Path) -> None:
    path = release_of_dialects().write_folder(tmp_path, "Full")
    (language,) = path.rglob("*_Language*")
    language.rename(language.with_name(language.name.replace("Full", "Snapshot")))
    with pytest.raises(OptionError, match=r"LanguageSnapshot-en.* as a Snapshot only"):
        read_source(path, dialect="en-GB", as_of=date(2019, 7, 31))


def test_the_identifiers_of_known_dialects_have_their_check_digits() -> None:
    known = np.array([int(identifier) for identifier in DIALECTS.values()])
    assert (check_digits(known // 10) == known % 10).all()
    assert len(set(known.tolist())) == len(known)
