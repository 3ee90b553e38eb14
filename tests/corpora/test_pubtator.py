"""Files in the PubTator format: their names, their documents and their codes."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from fixtures.corpora import invented_names, pubtator_text, read_pubtator
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import InputError, OptionError
from medsim.corpora import Annotation, Document, corpus_names
from medsim.corpora.documents import Problems, codes_of, has_documents

DATA = os.environ.get("MEDSIM_DATA")

TEXT = "7|t|Orl and dup\n7|a|Bim of dup.\n"
"""A document of 23 characters, with "dup" at 8 and at 19."""

UNKNOWN = "line has an unknown format"
MISPLACED = "line does not belong to the document above it"
NOT_THERE = "mention is not in the text at its offsets"


def parse(path: Path, content: str | bytes) -> tuple[list[Document], dict[str, int], list[str]]:
    """Return the documents of a file with this content, counts by reason, and warnings."""
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(data)
    problems = Problems()
    documents = list(read_pubtator(path, problems))
    counts = {item.reason: item.n_rows for item in problems.skipped()}
    return documents, counts, list(problems.warnings())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "orl.txt"


def test_a_document_has_its_texts_and_its_mentions_in_order(path: Path) -> None:
    lines = "7\t19\t22\tdup\tDisease\tD000001\n7\t0\t3\tOrl\tT116,T123\tUMLS:C0000001\n"

    documents, counts, warnings = parse(path, TEXT + lines)

    mentions = (
        Annotation(start=0, end=3, text="Orl", kind="T116,T123", codes=(("UMLS", "C0000001"),)),
        Annotation(start=19, end=22, text="dup", kind="Disease", codes=(("MSH", "D000001"),)),
    )
    assert documents == [
        Document(document_id="7", title="Orl and dup", abstract="Bim of dup.", annotations=mentions)
    ]
    assert (counts, warnings) == ({}, [])


def test_annotations_with_a_number_and_the_type_first_are_read(path: Path) -> None:
    lines = (
        "7\tT1\tSpecificDisease\t8\t11\tdup\n"
        "7\tT2\tModifier\t19\t22\tdup\tD000001\n"
        "7\tCID\tT1\tT2\n"
    )

    (document,), counts, _ = parse(path, TEXT + lines)

    assert [
        (item.start, item.end, item.text, item.kind, item.codes) for item in document.annotations
    ] == [(8, 11, "dup", "SpecificDisease", ()), (19, 22, "dup", "Modifier", (("MSH", "D000001"),))]
    assert counts == {"line states a relation": 1}


@pytest.mark.parametrize(
    ("end", "codes"),
    [
        *((end, ()) for end in ("\tDisease", "\tDisease\t", "\tDisease\t-1", "\t\t-")),
        # names of parts follow the codes
        ("\tX\tD000001|D000002\tdup a|dup b", (("MSH", "D000001"), ("MSH", "D000002"))),
    ],
)
def test_a_mention_may_have_no_code_or_several(path: Path, end: str, codes: object) -> None:
    (document,), counts, _ = parse(path, f"{TEXT}7\t8\t11\tdup{end}\n")

    assert document.annotations[0].codes == codes
    assert counts == {}


def test_relations_are_counted_and_skipped(path: Path) -> None:
    lines = "7\tCID\tD000001\tD000002\n7\tAssociation\tD1\tD2\tNovel\n7\tx\n"
    (document,), counts, warnings = parse(path, f"{TEXT}{lines}7\t8\t11\tdup\tDisease\tD000001\n")

    assert len(document.annotations) == 1
    assert counts == {"line states a relation": 3}
    assert warnings == []


@pytest.mark.parametrize(
    ("line", "reason", "expected"),
    [
        ("7\t9\t12\tdup\tX\tD000001", NOT_THERE, "but the text has 'up '"),
        ("7\t8\t11\tDup\tX\tD000001", NOT_THERE, "but the text has 'dup'"),
        ("7\t8\t11\tdup a\tX\tD000001", NOT_THERE, "'dup a'"),
        ("7\t20\t24\tup.\tX\tD000001", NOT_THERE, "'up.', but the text has 'up.'"),
        ("7\t8\t8\t\tX\tD000001", NOT_THERE, "but the text has ''"),
        ("7\t11\t8\tdup\tX\tD000001", NOT_THERE, "but the text has ''"),
        ("7\t-1\t3\tOrl\tX\tD000001", UNKNOWN, "'7\\t-1"),
        ("7\t8\t\u0661\u0661\tdup\tX\tD000001", UNKNOWN, "'7\\t8"),
        ("7\t8\t1" + "0" * 5000 + "\tdup\tX\tD000001", UNKNOWN, "'7\\t8\\t100"),
        (
            "7\t8\t11\tdup\tX\tdup!",
            "code has no vocabulary as its prefix",
            "'dup!'",
        ),
        ("7\t8\t11\tdup", UNKNOWN, "'7\\t8\\t11\\tdup'"),
        ("7\t8", UNKNOWN, "'7\\t8'"),
        ("dup", MISPLACED, "'dup'"),
        ("8\t8\t11\tdup\tX\tD000001", MISPLACED, "'8\\t8"),
        ("8|a|Bim.", MISPLACED, "'8|a|Bim.'"),
        ("7|a|Bim.", MISPLACED, "'7|a|Bim.'"),
    ],
)
def test_an_invalid_line_is_left_out_and_named(
    path: Path, line: str, reason: str, expected: str
) -> None:
    (document,), counts, warnings = parse(path, f"{TEXT}{line}\n7\t0\t3\tOrl\tX\tD000001\n")

    assert [mention.text for mention in document.annotations] == ["Orl"]
    assert document.abstract == "Bim of dup."
    assert counts == {reason: 1}
    (warning,) = warnings
    assert warning.startswith(f"{reason}: 1, first in {path}: line 3: ")
    assert expected in warning
    assert len(warning) < 400


def test_the_first_document_with_an_id_is_kept(path: Path) -> None:
    again = "7|t|Fen\n7|a|Gul.\n7\tCID\tD1\tD2\n7\t0\t3\tFen\tX\tnone\n"

    documents, counts, warnings = parse(path, f"{TEXT}\n8|t|Hok\n\n\n{again}")

    texts = [(document.document_id, document.title, document.abstract) for document in documents]
    assert texts == [("7", "Orl and dup", "Bim of dup."), ("8", "Hok", "")]
    assert counts == {"document occurs again": 1}
    assert warnings == [f"document occurs again: 1, first in {path}: line 7: 7"]


def test_line_ends_marks_and_compression_make_no_difference(path: Path) -> None:
    content = pubtator_text(invented_names(1, 20), seed=1, n_documents=10)
    expected = parse(path, content)
    data = content.encode()
    halves = gzip.compress(data[:900]) + gzip.compress(data[900:])

    for same in (
        content.replace("\n", "\r\n"),
        f"\ufeff{content}",
        f"\n \n{content.rstrip()}",
        content + "\n\n",
        content.replace("\n\n", "\n"),
        content.replace("\n\n", "\n\n\n"),
        gzip.compress(data),
        halves,
    ):
        result = parse(path, same)
        assert result[:2] == expected[:2]


TITLES = st.text(
    st.one_of(
        st.sampled_from("ab |\t.\u00e9\u4e00\U0001f600\u2028\x0b\x85"),
        st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]),
    ),
    max_size=40,
)


@given(
    st.lists(st.tuples(TITLES, TITLES, st.randoms(use_true_random=False)), min_size=1, max_size=4)
)
def test_written_documents_are_read_back(tmp_path_factory, texts) -> None:
    documents, lines = [], []
    for number, (title, abstract, rng) in enumerate(texts):
        text = f"{title} {abstract}"
        parsed = []
        for _ in range(rng.randint(0, 4)):
            start = rng.randrange(len(text))
            end = rng.randint(start + 1, len(text))
            codes = (("MSH", f"D{rng.randrange(1_000_000):06d}"),)
            mention = Annotation(start=start, end=end, text=text[start:end], kind="X", codes=codes)
            parsed.append(mention)
        parsed.sort(key=lambda annotation: (annotation.start, annotation.end))
        written = Document(
            document_id=f"d{number}", title=title, abstract=abstract, annotations=tuple(parsed)
        )
        documents.append(written)
        lines += [f"d{number}|t|{title}", f"d{number}|a|{abstract}"]
        lines += [f"d{number}\t{m.start}\t{m.end}\t{m.text}\tX\t{m.codes[0][1]}" for m in parsed]
    path = tmp_path_factory.getbasetemp() / "written.txt"

    read_back, counts, _ = parse(path, "\n".join(lines) + "\n")

    assert read_back == documents
    assert counts == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\r\n", "is empty"),
        (b"<html>\n7|a|Orl\n", "is an HTML page"),
        (b"7\t0\t3\tOrl\tX\tD000001\n", "begins with '7\\t0"),
        (TEXT.encode("utf-16"), "is UTF-16 text; convert it to UTF-8"),
        (TEXT.encode() + b"8|t|Orl\xe9\n", "line 3 is not UTF-8: byte 0xe9"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "cannot be read"),
        (gzip.compress(TEXT.encode(), mtime=0)[:12] + b"\xff" * 40, "cannot be read"),
        (b"PK\x03\x04" + bytes(60), "is a zip"),
        (None, "cannot be read"),
    ],
)
def test_other_formats_are_refused(path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        next(read_pubtator(path, Problems()))

    assert str(refused.value).startswith(str(path))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_line_without_end_is_refused_before_it_fills_the_memory(path: Path, monkeypatch) -> None:
    monkeypatch.setattr("medsim.corpora.documents.MAX_LINE_BYTES", 1 << 20)
    path.write_bytes(gzip.compress(b"7|t|" + bytes(1 << 20), 0))

    with pytest.raises(InputError, match="line 1 has more than 1 MiB"):
        next(read_pubtator(path, Problems()))
    with pytest.raises(InputError, match="is a folder; give the corpus files in it"):
        next(read_pubtator(path.parent, Problems()))


@pytest.mark.skipif(DATA is None, reason="MEDSIM_DATA is not set")
def test_published_corpora_are_read_whole() -> None:
    expected_counts = {
        "BC5CDR": (1500, 28785, {"line states a relation": 3116}),
        "NCBI": (
            791,
            6882 - 11 - 1,  # the mentions of a repeated document, and an invalid one
            {"document occurs again": 1, NOT_THERE: 1},
        ),
    }
    for name, expected in expected_counts.items():
        problems, path = Problems(), Path(str(DATA)) / "wic" / f"{name}.txt"
        sizes = [len(document.annotations) for document in read_pubtator(path, problems)]
        counts = {item.reason: item.n_rows for item in problems.skipped()}
        assert (len(sizes), sum(sizes), counts) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [("17|t|Orl.\n17|a|Dup.\n", True), ("Orl\tB-X\n", False), ("a|t|b\tB-X\n", True), ("", False)],
)
def test_pubtator_is_recognised_by_its_first_line(tmp_path: Path, content: str, expected) -> None:
    (tmp_path / "corpus").write_text(content)

    assert has_documents(tmp_path / "corpus") is expected


TWO = [("MSH", "D003920"), ("OMIM", "217000")]


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        ("D003920", [("MSH", "D003920")]),
        ("MESH:D003920", [("MSH", "D003920")]),
        ("mesh:C000657", [("MSH", "C000657")]),
        ("D000095384", [("MSH", "D000095384")]),
        ("C000657245", [("MSH", "C000657245")]),
        ("OMIM:217000", [("OMIM", "217000")]),
        ("OMIM:PS217000", [("OMIM", "PS217000")]),
        ("UMLS:C0011849", [("UMLS", "C0011849")]),
        ("C0011849", [("UMLS", "C0011849")]),
        (" D003920", [("MSH", "D003920")]),
        ("d003920", [("MSH", "D003920")]),
        ("MESH: D003920", [("MSH", "D003920")]),
        ("MIM:217000", [("OMIM", "217000")]),
        *(
            (text, [("HPO", "0001658")])
            for text in (
                *("HP:0001658", "hp:0001658", "HP_0001658", "obo:HP_0001658", "HP: 0001658"),
                "http://purl.obolibrary.org/obo/HP_0001658",
                "https://identifiers.org/hp/HP:0001658",
                "http://bioregistry.io/HP:0001658",
            )
        ),
        ("http://id.nlm.nih.gov/mesh/D003920", [("MSH", "D003920")]),
        ("MESH_D003920", [("MSH", "D003920")]),
        ("https://omim.org/entry/217000", [("OMIM", "217000")]),
        ("UMLS_CUI:C0011849", [("UMLS", "C0011849")]),
        ("snomedct:22298006", [("SNOMEDCT_US", "22298006")]),
        ("http://snomed.info/id/22298006", [("SNOMEDCT_US", "22298006")]),
        ("SNOMEDCT_US_2023_03_01:22298006", [("SNOMEDCT_US", "22298006")]),
        ("https://www.ebi.ac.uk/efo/EFO_0000400", [("EFO", "0000400")]),
        ("SNOMEDCT_US:22298006", [("SNOMEDCT_US", "22298006")]),
        # in unknown formats
        *((text, None) for text in ("217000", "D00392", "D0039200", "C00065724")),
        *((text, None) for text in ("MESH:", "MESH:D1", "OMIM:x", "D003920 D1", "x|-1")),
        # unlinked; repeated codes; an unlinked part
        *((text, []) for text in ("", "-", "-1", " -1 ", "-1|-1")),
        *((text.join(["D003920", "OMIM:217000", "D003920"]), TWO) for text in [*"|+,;", " | "]),
        ("D003920|-1", [("MSH", "D003920"), ("", "")]),
    ],
)
def test_codes_are_known_by_their_format(column: str, codes: list[tuple[str, str]] | None) -> None:
    assert codes_of(column) == (None if codes is None else tuple(codes))


@given(st.text("CD0123456789MESHOIUL:|+,- ", max_size=24))
def test_codes_never_contain_a_separator(column: str) -> None:
    for vocabulary, code in codes_of(column) or ():
        assert not set(code) & set("|+,:")
        assert bool(code) == bool(vocabulary)
        assert code.lower() in column.lower()


def test_corpora_are_named_after_their_files_and_each_is_read_once(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a/orl.txt", "b/orl.txt.gz", "c/orl", "orl-2.v1.txt")]

    assert corpus_names(paths) == ["orl", "orl-2", "orl-3", "orl-2.v1"]
    with pytest.raises(OptionError, match=r"orl\.txt is named twice"):
        corpus_names([tmp_path / "orl.txt", tmp_path / "a" / ".." / "orl.txt"])
    with pytest.raises(OptionError, match="name at least one corpus"):
        corpus_names([])
