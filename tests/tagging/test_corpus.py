"""Corpora of named entities: their files, their splits, sentences, tags and entities."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.corpora import Annotation, Document
from medsim.corpora.documents import Problems, open_corpus
from medsim.tagging.corpus import (
    Corpus,
    Sentence,
    entities_of,
    read_conll,
    read_corpora,
    tagged_sentences,
)
from medsim.tagging.options import TagOptions

OPTIONS = TagOptions("c", {}, "out", random=1, threads=1)
CONLL = "Orl\tB-X\ndup\tO\n\n"


def document(title: str, abstract: str, *terms: str) -> Document:
    """Return a document with a mention of each term at its first occurrence."""
    text = f"{title} {abstract}"
    annotations = [
        Annotation(
            start=text.index(term), end=text.index(term) + len(term), text=term, kind="X", codes=()
        )
        for term in terms
    ]
    return Document(document_id="7", title=title, abstract=abstract, annotations=tuple(annotations))


def tagged(source: Document) -> tuple[list[str], dict[str, int]]:
    """Return the sentences of a document as text, entities in brackets, and skipped items."""
    problems = Problems()
    lines = []
    for sentence in tagged_sentences(iter([source]), "c", OPTIONS, problems):
        words = list(sentence.words)
        for _, start, end in reversed(sentence.entities):
            words[start:end] = [f"[{' '.join(words[start:end])}]"]
        lines.append(" ".join(words))
    return lines, {each.reason: each.n_rows for each in problems.skipped()}


def one_corpus(path: Path, progress: Progress | None = None, **options: bool) -> Corpus:
    return read_corpora(replace(OPTIONS, corpora=path, **options), progress or Progress())[0]


def pubtator(path: Path, *ids: int) -> Path:
    text = "".join(f"{n}|t|Orl dup.\n{n}|a|It fell.\n{n}\t0\t3\tOrl\tX\t-\n\n" for n in ids)
    path.write_text(text)
    return path


def folder(path: Path, *names: str, content: str = CONLL) -> Path:
    path.mkdir()
    for name in names:
        (path / name).write_text(content)
    return path


@pytest.mark.parametrize(
    ("source", "lines", "left_out"),
    [
        (  # words are runs of letters and digits, and single other characters
            document("An IL-2 (5\u00b5g) rise.", "In caf\u00e9_x it fell 3.5%.", "IL-2", "3.5%"),
            ["An [IL - 2] ( 5\u00b5g ) rise .", "In caf\u00e9 _ x it fell [3 . 5 %] ."],
            {},
        ),
        (document("Nonasthmatic velps.", "", "asthma"), ["[Nonasthmatic] velps ."], {}),
        (
            document("The acute orl dup fell.", "", "acute", "acute orl", "orl dup", "fell"),
            ["The [acute orl] dup [fell] ."],
            {"mention shares a word with another": 2},
        ),
        (
            document("Orl fell.", "Dup rose.", "fell. Dup", "rose"),
            ["Orl fell .", "Dup [rose] ."],
            {"mention crosses a sentence boundary": 1},
        ),
    ],
)
def test_mentions_cover_whole_words_of_one_sentence(source, lines, left_out) -> None:
    assert tagged(source) == (lines, left_out)


def test_documents_are_split_only_by_their_ids(tmp_path: Path) -> None:
    few = one_corpus(pubtator(tmp_path / "few.txt", *range(0, 400, 2)))
    all_of_them = one_corpus(pubtator(tmp_path / "all.txt", *reversed(range(400))))

    def ids(corpus: Corpus, split: str) -> set[str]:
        return {sentence.document_id for sentence in corpus.splits[split]}

    for split, share in (("train", 0.7), ("dev", 0.1), ("test", 0.2)):
        assert ids(few, split) <= ids(all_of_them, split)
        assert len(ids(all_of_them, split)) == pytest.approx(400 * share, abs=40)
    assert sum(len(ids(all_of_them, split)) for split in all_of_them.splits) == 400


@pytest.mark.parametrize(
    "names",
    [
        ("train.tsv", "devel.tsv", "test.tsv", "train_dev.tsv", "README", ".train.tsv", "~$dev"),
        ("NCBItrainset_corpus.txt", "NCBIdevelopset_corpus.txt", "NCBItestset_corpus.txt"),
        ("Train.conll", "valid.conll", "TEST.conll"),
    ],
)
def test_splits_are_recognised_by_file_names(tmp_path: Path, monkeypatch, names) -> None:
    progress = Progress()
    corpus = one_corpus(folder(tmp_path / "velp", *names), progress)
    monkeypatch.chdir(tmp_path / "velp")
    assert one_corpus(Path()).name == "velp"

    assert corpus.name == "velp"
    sizes = {split: len(sentences) for split, sentences in corpus.splits.items()}
    assert sizes == {"train": 1, "dev": 1, "test": 1}
    assert [Path(file["path"]).name for file in corpus.files.values()] == list(names[:3])
    assert progress.warnings == []  # numbers of documents, which splits in CoNLL's layout share


def test_files_of_splits_may_be_in_pubtator_format(tmp_path: Path) -> None:
    (tmp_path / "cdr").mkdir()
    for number, name in enumerate(("CDR_Training", "CDR_Development", "CDR_Test")):
        pubtator(tmp_path / "cdr" / f"{name}Set.txt", *range(10 * number, 10 * number + 3))

    corpus = one_corpus(tmp_path / "cdr")

    assert {sentence.document_id for sentence in corpus.splits["test"]} == {"20", "21", "22"}
    assert [len(part) for part in corpus.splits.values()] == [6, 6, 6]


def test_a_document_in_two_splits_gives_a_warning(tmp_path: Path) -> None:
    (tmp_path / "cdr").mkdir()
    for name, ids in (("train", (1, 2)), ("dev", (3, 2)), ("test", (4, 1, 2))):
        pubtator(tmp_path / "cdr" / f"{name}.txt", *ids)

    progress = Progress()
    one_corpus(tmp_path / "cdr", progress)

    (warning,) = progress.warnings
    assert "2 documents are in several splits, 1 first" in warning


def test_folders_without_splits_or_entities_are_refused(tmp_path: Path) -> None:
    path = folder(tmp_path / "velp", "train.tsv", "dev.tsv", "test.tsv")
    (path / "test.tsv").write_text("Orl\tO\n")

    with pytest.raises(InputError, match="for CoNLL's layout give a folder"):
        one_corpus(path / "train.tsv")
    with pytest.raises(InputError, match="has no entity in its test split"):
        one_corpus(path)
    (path / "train.txt").write_text(CONLL)
    with pytest.raises(InputError, match=r"two train files, train\.tsv and"):
        one_corpus(path)
    with pytest.raises(InputError, match="has no dev file; names"):
        one_corpus(folder(tmp_path / "two", "train.tsv", "test.tsv"))


def test_types_can_be_merged_into_one(tmp_path: Path) -> None:
    path = folder(tmp_path / "velp", "train.tsv", "dev.tsv", "test.tsv")
    (path / "dev.tsv").write_text("Orl\tB-Y\ndup\tI-Y\nrose\tB-X\n")

    merged = one_corpus(path, one_type=True)

    assert merged.kinds() == ["entity"]
    assert merged.splits["dev"][0].tags == ["B-entity", "I-entity", "B-entity"]


def test_the_format_of_codes_does_not_matter(tmp_path: Path) -> None:
    path = pubtator(tmp_path / "p.txt", *range(60))
    path.write_text(path.read_text().replace("\tX\t-", "\tGene\tnot:a code?"))

    corpus = one_corpus(path)

    assert sum(len(item.entities) for split in corpus.splits.values() for item in split) == 60
    assert corpus.skipped == ()


def sentences(path: Path, content: str | bytes) -> list[Sentence]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with open_corpus(path) as file:
        return read_conll(file, path)


def words_and_tags(parts: list[Sentence]) -> list[list[tuple[str, str]]]:
    return [list(zip(sentence.words, sentence.tags, strict=True)) for sentence in parts]


@pytest.mark.parametrize(
    "content",
    [
        "Orl\tB-X\ndup\tI-X\n.\tO\n\nSeen\tO\n",
        "\n\nOrl\tB-X\r\ndup\tI-X\r\n.\tO\r\n\r\n\r\nSeen\tO",
        "\ufeffOrl NN B-NP I-X\ndup NN I-NP I-X\n. . O O\n \nSeen VB O O\n",  # as CoNLL-2003, IOB1
        "Orl\tB-X\ndup\tE-X\n.\tO\n\nSeen\tO\n",
        gzip.compress(b"Orl\tB-X\ndup\tL-X\n.\tO\n\nSeen\tO\n", mtime=0),
    ],
)
def test_sentences_of_every_scheme_and_form_are_read(tmp_path: Path, content) -> None:
    parsed = sentences(tmp_path / "train.tsv", content)

    assert words_and_tags(parsed) == [[("Orl", "B-X"), ("dup", "I-X"), (".", "O")], [("Seen", "O")]]
    assert [sentence.document_id for sentence in parsed] == ["1", "2"]
    assert sentences(tmp_path / "t", "1 000\tB-X\n")[0].words == ("1 000",)


def test_documents_may_be_separated_only_by_lines(tmp_path: Path) -> None:
    between = "\n-DOCSTART-\tO\n\n"
    content = f"a\tO\n\nb\tO\n{between}c\tO\n\nd\tB-X\n{between}e\tO\n"
    parsed = sentences(tmp_path / "t", content)
    assert [sentence.document_id for sentence in parsed] == ["0", "0", "1", "1", "2"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("Orl\tB-X\ndup\n", "line 2 is 'dup'; expected a word, a tab and a tag"),
        ("\tB-X\n", "line 1 is .*; expected a word, a tab"),
        ("Orl\tX\n", "line 1 is 'Orl X'; .* tag: O, or one of B, I, E, L, S, U, a hyphen"),
        ("Orl\tB-\n", "line 1 is 'Orl B-'"),
        ("\n\n", "has no sentence"),
        ("", "has no sentence"),
        (b"Orl\tB-X\n\xff\tO\n", "line 2 is not UTF-8"),
    ],
)
def test_an_error_names_the_number_of_the_line(tmp_path: Path, content, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        sentences(tmp_path / "train.tsv", content)


TAGS = st.sampled_from(["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("X", "Y"))])

RULES = {
    "": [],
    "O O": [],
    "B-X I-X O": [("X", 0, 2)],
    "B-X B-X": [("X", 0, 1), ("X", 1, 2)],
    "O I-X I-X": [("X", 1, 3)],  # as in IOB1
    "I-X": [("X", 0, 1)],
    "B-Y I-X": [("Y", 0, 1), ("X", 1, 2)],
    "B-X I-Y I-X": [("X", 0, 1), ("Y", 1, 2), ("X", 2, 3)],
    "I-X I-Y": [("X", 0, 1), ("Y", 1, 2)],
    "O B-X I-X": [("X", 1, 3)],  # ends with the sentence
    "S-X S-X": [("X", 0, 1), ("X", 1, 2)],
    "B-X I-X E-X I-X": [("X", 0, 3), ("X", 3, 4)],
    "B-X E-X E-X": [("X", 0, 2), ("X", 2, 3)],
    "O E-X": [("X", 1, 2)],
    "B-X S-X": [("X", 0, 1), ("X", 1, 2)],
    "B-X-1 I-X-1": [("X-1", 0, 2)],
    "B-X L-X O U-Y": [("X", 0, 2), ("Y", 3, 4)],  # as in BILOU
}
"""The entities of tags in several schemes, by conlleval (Tjong Kim Sang 2002)."""


@pytest.mark.parametrize(("tags", "expected"), RULES.items())
def test_entities_begin_and_end_as_in_conlleval(tags: str, expected: list) -> None:
    assert entities_of(tags.split()) == expected


@given(st.lists(TAGS, max_size=12))
def test_entities_match_seqeval(tags: list[str]) -> None:
    sequence_labeling = pytest.importorskip(
        "seqeval.metrics.sequence_labeling", reason="seqeval, of the extra dev, is not installed"
    )

    expected = sequence_labeling.get_entities(tags)

    assert entities_of(tags) == [(kind, first, last + 1) for kind, first, last in expected]


@given(st.lists(TAGS, max_size=12))
def test_tags_in_bio_have_the_same_entities(tags: list[str]) -> None:
    entities = entities_of(tags)

    words = tuple(map(str, range(len(tags))))
    again = Sentence(document_id="1", words=words, entities=tuple(entities)).tags

    assert entities_of(again) == entities
    assert {tag[0] for tag in again} <= set("BIO")
