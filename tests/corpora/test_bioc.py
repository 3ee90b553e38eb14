"""Corpora in BioC, as XML and JSON, and in brat's format."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from fixtures.corpora import invented_names, write_corpus

from medsim.core.errors import InputError
from medsim.corpora.documents import Problems, documents_of, has_documents, open_corpus

if TYPE_CHECKING:
    from medsim.corpora import Document


def read(path: Path, *, linked: bool = True) -> tuple[list[Document], Problems]:
    problems = Problems()
    with open_corpus(path) as file:
        return list(documents_of(file, path, problems, linked=linked)), problems


def skipped(problems: Problems) -> dict[str, int]:
    return {item.reason: item.n_rows for item in problems.skipped()}


def mention(text: str, offset: int, kind: str = "Disease", **infons: str | None) -> dict[str, Any]:
    locations = [{"offset": offset, "length": len(text)}]
    return {"text": text, "locations": locations, "infons": {"type": kind, **infons}}


TITLE, ABSTRACT = "Naïve heart", "心臓 pain.\nCold hands"
MENTIONS = [
    mention("heart", 6, "Organ", MESH="D006321"),
    mention("pain", 15, identifier="MESH:D010146|D000699", Note="x"),
    mention("Cold hands", 21, OMIM="123456"),
    mention("心臓", 12, normalized_id=None),
]
DOCUMENT = {
    "id": "1",
    "passages": [
        {"offset": 0, "text": TITLE, "annotations": MENTIONS[:1]},
        {"offset": 12, "text": ABSTRACT, "annotations": MENTIONS[1:], "relations": [{"id": "R1"}]},
    ],
}
FOUND = [
    ("heart", "Organ", (("MSH", "D006321"),)),
    ("心臓", "Disease", ()),
    ("pain", "Disease", (("MSH", "D010146"), ("MSH", "D000699"))),
    ("Cold hands", "Disease", (("OMIM", "123456"),)),
]


def as_xml(document: dict[str, Any]) -> str:
    """Return a document, passage or annotation as XML."""
    parts = [
        f"<infon key={quoteattr(k)}>{escape(v or '')}</infon>"
        for k, v in document.get("infons", {}).items()
    ]
    parts += [
        f"<{n}>{escape(str(document[n]))}</{n}>" for n in ("id", "offset", "text") if n in document
    ]
    for name in ("passage", "sentence", "annotation", "relation"):
        inner = (as_xml(item) for item in document.get(f"{name}s", ()))
        parts += [f"<{name}>{item}</{name}>" for item in inner]
    parts += [
        f'<location offset="{at["offset"]}" length="{at["length"]}"/>'
        for at in document.get("locations", ())
    ]
    return "\n".join(parts)


def xml(*documents: dict[str, Any]) -> str:
    inner = "".join(f"<document>{as_xml(document)}</document>" for document in documents)
    return (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE collection SYSTEM "BioC.dtd">\n'
        f"<collection><source/>{inner}</collection>"
    )


FORMS = {
    "xml": xml,
    "without a prologue": lambda *documents: xml(*documents).partition("\n")[2],
    "json": lambda *documents: json.dumps({"source": "", "documents": documents}, indent=1),
    "pubtator": lambda *documents: json.dumps({"PubTator3": documents}),
    "list": lambda *documents: json.dumps([{"documents": documents}], ensure_ascii=False),
    "lines": lambda *documents: "\n".join(map(json.dumps, documents)),
}


def write(folder: Path, form: str, *documents: dict[str, Any]) -> Path:
    (folder / "corpus").write_text(FORMS[form](*documents), encoding="utf-8")
    return folder / "corpus"


every = pytest.mark.parametrize("form", FORMS)


@every
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_mentions_of_passages_are_read(tmp_path: Path, form: str, pack) -> None:
    path = write(tmp_path, form, DOCUMENT, {**DOCUMENT, "id": "2"}, DOCUMENT)
    path.write_bytes(pack(path.read_bytes()))

    documents, problems = read(path)

    assert has_documents(path)
    assert [document.document_id for document in documents] == ["1", "2"]
    first = documents[0]
    assert (first.title, first.abstract) == (TITLE, ABSTRACT)
    assert [(each.text, each.kind, each.codes) for each in first.annotations] == FOUND
    text = f"{TITLE} {ABSTRACT}"
    assert all(text[each.start : each.end] == each.text for each in first.annotations)
    assert skipped(problems) == {"line states a relation": 3, "document occurs again": 1}


@every
def test_passages_may_all_begin_at_zero_and_documents_lack_an_id(tmp_path: Path, form: str) -> None:
    terms = ["heart", "pain", "heart"]
    passages = [{"offset": 0, "text": term, "annotations": [mention(term, 0)]} for term in terms]
    path = write(tmp_path, form, *[{"id": "", "passages": passages}] * 2)

    documents, problems = read(path)

    assert [document.document_id for document in documents] == ["1", "2"]
    for document in documents:
        assert [(each.start, each.text) for each in document.annotations] == [
            (0, "heart"),
            (6, "pain"),
            (11, "heart"),
        ]
    assert problems.warnings() == ()


@pytest.mark.parametrize("form", ["xml", "json"])
def test_a_corpus_in_bioc_has_the_mentions_of_pubtator(tmp_path: Path, form: str) -> None:
    plain = write_corpus(tmp_path, invented_names(1, 8), "corpus", 1, 4)
    expected, _ = read(plain)
    raw = [
        {
            "id": each.document_id,
            "passages": [
                {"offset": 0, "text": each.title},
                {"offset": len(each.title) + 1, "text": each.abstract},
            ],
            "annotations": [
                mention(a.text, a.start, a.kind, identifier="|".join(map(":".join, a.codes)))
                for a in each.annotations
            ],
        }
        for each in expected
    ]

    documents, problems = read(write(tmp_path, form, *raw))

    assert sum(len(each.annotations) for each in documents) > 10
    assert documents == expected
    assert problems.warnings() == ()


@every
def test_offsets_may_count_bytes_sentences_or_from_the_beginning(tmp_path: Path, form: str) -> None:
    of_bytes = {"offset": 13, "text": ABSTRACT, "annotations": [mention("pain", 20)]}
    of_bytes["annotations"][0]["locations"][0]["length"] = 4
    sentences = [{"offset": 12, "text": "心臓 pain.", "annotations": [mention("pain", 15)]}]
    sentences.append({"offset": 21, "text": "Cold hands", "annotations": [mention("hands", 26)]})
    wrong = {"offset": 17, "text": ABSTRACT, "annotations": [mention("hands", 26)]}
    title = {"offset": 0, "text": TITLE}
    rows = [
        {"id": "1", "passages": [title, of_bytes]},
        {"id": "2", "passages": [title, {"offset": 12, "sentences": sentences}]},
        {"id": "3", "passages": [title, wrong]},
    ]

    documents, problems = read(write(tmp_path, form, *rows))

    assert [[(a.text, a.start) for a in each.annotations] for each in documents] == [
        [("pain", 15)],
        [("pain", 15), ("hands", 26)],
        [("hands", 26)],
    ]
    assert {f"{each.title} {each.abstract}" for each in documents} == {f"{TITLE} {ABSTRACT}"}
    assert skipped(problems) == {}


def test_offsets_may_be_texts_or_written_as_floats(tmp_path: Path) -> None:
    rows = [mention("heart", 6), mention("heart", 6)]
    rows[1]["locations"] = [{"offset": "6", "length": 5.0}]
    passage = {"offset": 0.0, "text": TITLE, "annotations": rows}
    (document,), problems = read(write(tmp_path, "json", {"id": "1", "passages": [passage]}))
    assert [(each.start, each.end) for each in document.annotations] == [(6, 11)] * 2
    assert skipped(problems) == {}


def test_mentions_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    parts = mention("Cold hands", 21)
    parts["locations"].append({"offset": 0, "length": 1})
    rows = [
        parts,
        mention("hands", 26, CompositeRole="IndividualMention"),
        mention("hand", 25),
        mention("hands", -3),
        mention("hands", 26, identifier="9606"),
    ]
    passages = [*DOCUMENT["passages"][:1], {"offset": 12, "text": ABSTRACT, "annotations": rows}]
    path = write(tmp_path, "json", {"id": 7, "passages": passages})

    documents, problems = read(path)

    assert [each.text for each in documents[0].annotations] == ["heart"]
    assert documents[0].document_id == "7"
    assert skipped(problems) == {
        "mention has several parts, or is one of a composite mention": 2,
        "mention is not in the text at its offsets": 2,
        "code has no vocabulary as its prefix": 1,
    }
    assert problems.warnings() == (
        f"code has no vocabulary as its prefix: 1, first in {path}: document 1: '9606'",
        f"mention is not in the text at its offsets: 2, first in {path}: document 1: 'hand' at 25",
    )
    unlinked = read(path, linked=False)[0][0].annotations
    assert [(each.text, each.codes) for each in unlinked] == [("heart", ()), ("hands", ())]


BOMB = '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY c "&b;&b;">]><collection><document>&c;</document>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "corpus declares an XML entity, like a bomb; replace its entities"),
        ("<collection><document>\n</collection>", r"\(mismatched tag: line 2, column 2\)"),
        ("<collection></collection>", "has no document of BioC"),
        ("<collection><document/></collection>", "has no document|corpus"),
        ('{"documents": [', "is not JSON"),
        (
            '{"documents": [{}]}',
            r"document 1 is not in the format BioC \(its content is not as expected\)",
        ),
        ('{"documents": [3]}', "document 1 is not in the format BioC"),
        (
            '{"documents": []}',
            r"document 1 is not in the format BioC \(its content is not as expected\)",
        ),
        *(
            (
                f'{{"id": 1, "passages": [{{"offset": {offset}}}]}}',
                rf"document 1 is not in the format BioC \(the offset is {offset}; expected a num",
            )
            for offset in ("null", '"x"', "0.5", "false")
        ),
        (
            "<collection><document><passage/></document></collection>",
            r"document 1 is not in the format BioC \(the offset is null; expected a number\)",
        ),
        ('{"id": "\\ud800", "passages": []}', "document 1 is not in the format .*surrogates"),
        ('{"id": 1, "passages": []}\n{"id": 2', "is not JSON"),
        ('{"id": 1, "passages": []}\n{"id": 2\n', "is not JSON"),
        ('{"id": 1, "passages": []}\n{"id": 2}\n[', "line 3 is not JSON"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "corpus").write_text(content)

    if message == "has no document|corpus":
        assert [each.title for each in read(tmp_path / "corpus")[0]] == [""]
        return
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / "corpus")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "corpus") in str(caught.value)


@pytest.mark.parametrize(
    ("infons", "codes"),
    [
        ({"MESH": "D006321", "OMIM": "123456"}, [("MSH", "D006321"), ("OMIM", "123456")]),
        ({"OMIM": "MIM:123456|PS123456"}, [("OMIM", "123456"), ("OMIM", "PS123456")]),
        ({"MESH": "D006321", "OMIM": "-"}, [("MSH", "D006321")]),
        ({"identifier": "MESH:D006321", "mesh": "D006321"}, [("MSH", "D006321")]),
        ({"identifier": "MESH:D006321", "normalized_id": "D006321"}, [("MSH", "D006321")]),
        (
            {"identifier": "HP_0001658", "CUI": "C0027051"},
            [("HPO", "0001658"), ("UMLS", "C0027051")],
        ),
        ({"identifier": "-", "OMIM": ""}, []),
        ({"NCBI Gene": "4221;8289"}, [("NCBIGENE", "4221"), ("NCBIGENE", "8289")]),
        ({"NCBI Taxonomy": "10090"}, [("NCBITAXON", "10090")]),
        (
            {"SNOMEDCT": "22298006", "HPO": "HP:0001658", "NCIT": "C3113;C3114"},
            [("SNOMEDCT_US", "22298006"), ("HPO", "0001658"), ("NCI", "C3113"), ("NCI", "C3114")],
        ),
    ],
)
def test_the_codes_of_all_infons_are_kept(
    tmp_path: Path, infons: dict[str, str], codes: list[tuple[str, str]]
) -> None:
    passage = {"offset": 0, "text": TITLE, "annotations": [mention("heart", 6, **infons)]}
    (document,), problems = read(write(tmp_path, "json", {"id": "1", "passages": [passage]}))
    assert document.annotations[0].codes == tuple(codes)
    assert problems.warnings() == ()


BRAT_TEXT = "Naïve heart\n心臓 pain.\nCold hands\n"
BRAT = (
    "T1\tOrgan 6 11\theart\n"
    "T2\tDisease 15 19\tpain\n"
    "T3\tDisease 15 19;21 25\tpain Cold\n"
    "T4\tDisease 15 20\tpain!\n"
    "T5\tDisease 21 25\tCold\n"
    "N1\tReference T2 MESH:D010146\tPain\n"
    "N2\tReference T2 UMLS:C0030193\tPain\n"
    "R1\tPart-of Arg1:T1 Arg2:T2\n"
    "\n"
    "#1\tAnnotatorNotes T1\tseen\r\n"
)


def write_brat(folder: Path, annotations: str = BRAT, suffix: str = ".ann") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "PMID-1.txt").write_text(BRAT_TEXT, encoding="utf-8")
    (folder / f"PMID-1{suffix}").write_text(annotations, encoding="utf-8")
    (folder / "README.txt").write_text("about\n")
    return folder


@pytest.mark.parametrize("suffix", [".ann", ".a1"])
def test_a_folder_of_brat_is_a_corpus(tmp_path: Path, suffix: str) -> None:
    path = write_brat(tmp_path, suffix=suffix)

    (document,), problems = read(path)

    assert has_documents(path)
    assert (document.document_id, document.title) == ("PMID-1", BRAT_TEXT)
    pain = (("MSH", "D010146"), ("UMLS", "C0030193"))
    assert [(each.start, each.text, each.codes) for each in document.annotations] == [
        (6, "heart", ()),
        (15, "pain", pain),
        (21, "Cold", ()),
    ]
    assert skipped(problems) == {
        "line states a relation": 2,
        "mention has several parts, or is one of a composite mention": 1,
        "mention is not in the text at its offsets": 1,
    }


def test_lines_of_brat_end_only_where_editors_end_them(tmp_path: Path) -> None:
    signs = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"
    text = "".join(f"a{sign}b " for sign in signs)
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    rows = [f"T{at}\tX {4 * at} {4 * at + 3}\ta{sign}b" for at, sign in enumerate(signs)]
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "a.ann").write_text(end.join(rows), encoding="utf-8", newline="")
        (document,), problems = read(tmp_path)
        assert [each.text for each in document.annotations] == [f"a{sign}b" for sign in signs]
        assert skipped(problems) == {}


def test_mentions_with_one_id_are_kept_and_counted(tmp_path: Path) -> None:
    twice = BRAT.replace("T5\t", "T2\t")
    (document,), problems = read(write_brat(tmp_path, twice))
    found = [(each.text, each.codes) for each in document.annotations]
    assert found == [("heart", ()), ("pain", ()), ("Cold", ())]
    (warning,) = (each for each in problems.warnings() if "id of another" in each)
    assert warning.endswith("its codes are not read: 1, first in " + f"{tmp_path}: document 1: T2")


@pytest.mark.parametrize(
    ("note", "codes"),
    [
        ("C0018787", (("UMLS", "C0018787"),)),
        ("HP:0001627", (("HPO", "0001627"),)),
        ("MESH:D006321|UMLS:C0018787", (("MSH", "D006321"), ("UMLS", "C0018787"))),
        *((text, ()) for text in ("seen", "see 7", "10012345", "really: yes", "")),
    ],
)
def test_notes_that_are_codes_are_those_of_their_mention(
    tmp_path: Path, note: str, codes: tuple[tuple[str, str], ...]
) -> None:
    path = write_brat(tmp_path, f"T1\tOrgan 6 11\theart\n#1\tAnnotatorNotes T1\t{note}\n")
    (document,), problems = read(path)
    assert document.annotations[0].codes == codes
    assert skipped(problems).get("line states a relation", 0) == (not codes)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1 Organ 6 11 heart", r"PMID-1\.ann: line 2 is 'T1 Organ 6 11 heart'; expected an id, a"),
        ("T1\tOrgan 6\theart", r"PMID-1\.ann: line 2 is 'T1\\tOrgan 6"),
        ("N1\tReference T2", r"PMID-1\.ann: line 2 is 'N1\\tReference T2'; expected"),
    ],
)
def test_a_faulty_line_of_brat_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write_brat(tmp_path / "brat", f"T1\tOrgan 6 11\theart\n{line}\n")

    with pytest.raises(InputError, match=message):
        read(path)


def test_a_folder_without_its_texts_is_refused(tmp_path: Path) -> None:
    path = write_brat(tmp_path / "brat")
    (path / "PMID-2.ann").write_text("")
    with pytest.raises(InputError, match=r"PMID-2\.txt cannot be read as text \(No such file"):
        read(path)
    with pytest.raises(
        InputError, match="is a folder; give the corpus files in it, or a folder of brat"
    ):
        read(tmp_path)
