"""Variants of words by files of the SPECIALIST Lexicon, which are invented here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixtures.studies import put

from medsim.core.errors import InputError
from medsim.studies.words.lexicon import read_lexicon

LRAGR = """E01|phosphorylates|verb|pres(thr_sing)|phosphorylate|phosphorylate|
E01|phosphorylate|verb|infinitive|phosphorylate|phosphorylate|
E02|Phosphorylations|noun|count(thr_plur)|phosphorylation|phosphorylation|
E03|heart attacks|noun|count(thr_plur)|heart attack|heart attack|
"""
LRNOM = """E02|phosphorylation|noun|E01|phosphorylate|verb|
E05|dephosphorylation|noun|E04|dephosphorylate|verb|
"""
LRSPL = "E06|localise|localize|\nE07|oedema|edema|\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, "LRAGR", LRAGR)
    put(tmp_path, "LRNOM.txt", LRNOM.replace("\n", "\r\n"))
    put(tmp_path, "lrspl.RRF", LRSPL)
    put(tmp_path, "LRFLD", "no|concern|of ours")
    return tmp_path


@pytest.mark.parametrize(
    ("word", "variants"),
    [
        ("phosphorylation", "phosphorylates phosphorylate phosphorylations phosphorylation"),
        ("phosphorylates", "phosphorylates phosphorylate phosphorylations phosphorylation"),
        ("dephosphorylate", "dephosphorylate dephosphorylation"),
        ("localize", "localise localize"),
        ("oedema", "oedema edema"),
        ("heart", "heart"),
    ],
)
def test_variants_are_forms_of_bases_and_of_their_nominalisations(
    folder: Path, word: str, variants: str
) -> None:
    assert read_lexicon([folder]).variants(word) == {*variants.split()}


def test_files_can_be_named_one_by_one(folder: Path) -> None:
    found = read_lexicon([folder / "LRNOM.txt", folder / "lrspl.RRF"])

    assert found.variants("phosphorylate") == {"phosphorylate", "phosphorylation"}
    assert found.variants("phosphorylates") == {"phosphorylates"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("LRNOM", "E02|phosphorylation|noun|\n", "line 1 has 4 fields .* LRNOM has 6"),
        ("words.txt", "a|b|c", "words.txt is none of the SPECIALIST Lexicon's files LRAGR"),
        ("LRSPL", "", "LRSPL is empty"),
        ("LRSPL", b"E1|\xe9|e|\n", "LRSPL: line 1 is not UTF-8: byte 0xe9 at position 4"),
    ],
)
def test_what_is_no_file_of_the_lexicon_is_refused(
    tmp_path: Path, name: str, text: str | bytes, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_lexicon([put(tmp_path, name, text)])
    (tmp_path / "empty").mkdir(exist_ok=True)
    with pytest.raises(InputError, match="cannot be read"):
        read_lexicon([tmp_path / "LRAGR"])
    with pytest.raises(InputError, match=re.escape("empty has none of the SPECIALIST")):
        read_lexicon([tmp_path / "empty"])
