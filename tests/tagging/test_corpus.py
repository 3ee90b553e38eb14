"""Corpora of named entities: words, entities, and splits."""

from __future__ import annotations

from pathlib import Path

import pytest

from medsim.core.errors import InputError
from medsim.core.progress import Progress
from medsim.corpora import Annotation, Document
from medsim.corpora.pubtator import Problems
from medsim.tagging.corpus import Corpus, Cutting, read_corpora, tagged_sentences

CUTTING = Cutting(language="en", dev=0.2, test=0.3, threads=1)
CONLL = "Orl\tB-X\ndup\tO\n\n"


def document(title: str, abstract: str, *terms: str) -> Document:
    """Return a document with a mention of each term at its first place."""
    text = f"{title} {abstract}"
    found = [
        Annotation(
            start=text.index(term), end=text.index(term) + len(term), text=term, kind="X", codes=()
        )
        for term in terms
    ]
    return Document(document_id="7", title=title, abstract=abstract, annotations=tuple(found))


def tagged(one: Document) -> tuple[list[str], dict[str, int]]:
    """Return the sentences of a document as text, entities in brackets, and what is left out."""
    problems = Problems()
    lines = []
    for sentence in tagged_sentences(iter([one]), "c", CUTTING, problems):
        words = list(sentence.words)
        for _, start, end in reversed(sentence.entities):
            words[start:end] = [f"[{' '.join(words[start:end])}]"]
        lines.append(" ".join(words))
    return lines, {each.reason: each.n_rows for each in problems.skipped()}


def one_corpus(path: Path, cutting: Cutting = CUTTING) -> Corpus:
    return read_corpora([path], cutting, Progress())[0]


def pubtator(path: Path, *ids: int) -> Path:
    text = "".join(f"{n}|t|Orl dup.\n{n}|a|It fell.\n{n}\t0\t3\tOrl\tX\t-\n\n" for n in ids)
    path.write_text(text)
    return path


def folder(path: Path, *names: str, content: str = CONLL) -> Path:
    path.mkdir()
    for name in names:
        (path / name).write_text(content)
    return path


def test_words_are_runs_of_letters_and_digits_and_single_other_characters() -> None:
    one = document("An IL-2 (5\u00b5g) rise.", "In caf\u00e9_x it fell 3.5%.", "IL-2", "3.5%")

    assert tagged(one) == (
        ["An [IL - 2] ( 5\u00b5g ) rise .", "In caf\u00e9 _ x it fell [3 . 5 %] ."],
        {},
    )


def test_a_mention_within_a_word_has_the_whole_word() -> None:
    assert tagged(document("Nonasthmatic velps.", "", "asthma")) == (["[Nonasthmatic] velps ."], {})


def test_of_mentions_that_share_a_word_the_first_and_longest_is_kept() -> None:
    one = document("The acute orl dup fell.", "", "acute", "acute orl", "orl dup", "fell")

    assert tagged(one) == (
        ["The [acute orl] dup [fell] ."],
        {"mention shares a word with another": 2},
    )


def test_a_mention_over_a_sentence_boundary_is_left_out() -> None:
    one = document("Orl fell.", "Dup rose.", "fell. Dup", "rose")

    assert tagged(one) == (
        ["Orl fell .", "Dup [rose] ."],
        {"mention goes over a sentence boundary": 1},
    )


def test_documents_are_split_by_their_ids_alone(tmp_path: Path) -> None:
    few = one_corpus(pubtator(tmp_path / "few.txt", *range(0, 400, 2)))
    all_of_them = one_corpus(pubtator(tmp_path / "all.txt", *reversed(range(400))))

    def ids(corpus: Corpus, split: str) -> set[str]:
        return {one.document_id for one in corpus.splits[split]}

    for split, share in (("train", 0.5), ("dev", 0.2), ("test", 0.3)):
        assert ids(few, split) <= ids(all_of_them, split)
        assert len(ids(all_of_them, split)) == pytest.approx(400 * share, abs=40)
    assert sum(len(ids(all_of_them, split)) for split in all_of_them.splits) == 400


@pytest.mark.parametrize(
    "names",
    [
        (
            "train.tsv",
            "devel.tsv",
            "test.tsv",
            "train_dev.tsv",
            "README",
            ".train.tsv",
            "~$train.tsv",
        ),
        ("NCBItrainset_corpus.txt", "NCBIdevelopset_corpus.txt", "NCBItestset_corpus.txt"),
        ("Train.conll", "valid.conll", "TEST.conll"),
    ],
)
def test_splits_are_known_by_the_names_of_files(tmp_path: Path, names) -> None:
    corpus = one_corpus(folder(tmp_path / "velp", *names))

    assert corpus.name == "velp"
    assert {split: len(found) for split, found in corpus.splits.items()} == {
        "train": 1,
        "dev": 1,
        "test": 1,
    }
    assert [Path(one["path"]).name for one in corpus.files.values()] == list(names[:3])


def test_the_folder_that_one_is_in_is_named_by_its_own_name(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder(tmp_path / "velp", "train.tsv", "dev.tsv", "test.tsv"))

    assert one_corpus(Path()).name == "velp"


def test_files_of_splits_may_be_in_pubtator_format(tmp_path: Path) -> None:
    (tmp_path / "cdr").mkdir()
    for number, name in enumerate(("CDR_Training", "CDR_Development", "CDR_Test")):
        pubtator(tmp_path / "cdr" / f"{name}Set.txt", *range(10 * number, 10 * number + 3))

    corpus = one_corpus(tmp_path / "cdr")

    assert {one.document_id for one in corpus.splits["test"]} == {"20", "21", "22"}
    assert [len(found) for found in corpus.splits.values()] == [6, 6, 6]


def test_a_document_in_two_splits_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "cdr").mkdir()
    for name, ids in (("train", (1, 2)), ("dev", (3, 2)), ("test", (4, 1, 2))):
        pubtator(tmp_path / "cdr" / f"{name}.txt", *ids)

    (warning,) = one_corpus(tmp_path / "cdr").warnings

    assert "2 documents are in several splits, 1 first" in warning


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (("train.tsv", "test.tsv"), "has no file of its dev split"),
        (("train.tsv", "train.txt", "dev.tsv", "test.tsv"), "two files of its train split"),
    ],
)
def test_a_folder_without_its_splits_is_refused(tmp_path: Path, names, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        one_corpus(folder(tmp_path / "velp", *names))


def test_a_single_file_in_conll_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(CONLL)

    with pytest.raises(InputError, match="of files in CoNLL's layout name the folder"):
        one_corpus(tmp_path / "train.tsv")


def test_a_split_without_entities_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path / "velp", "train.tsv", "dev.tsv", "test.tsv")
    (path / "test.tsv").write_text("Orl\tO\n")

    with pytest.raises(InputError, match="has no entity in its test split"):
        one_corpus(path)


def test_types_are_taken_for_one(tmp_path: Path) -> None:
    path = folder(tmp_path / "velp", "train.tsv", "dev.tsv", "test.tsv")
    (path / "dev.tsv").write_text("Orl\tB-Y\ndup\tI-Y\nrose\tB-X\n")

    merged = one_corpus(path).merged()

    assert merged.kinds() == ["entity"]
    assert merged.splits["dev"][0].tags == ["B-entity", "I-entity", "B-entity"]


def test_the_form_of_codes_does_not_count(tmp_path: Path) -> None:
    path = pubtator(tmp_path / "p.txt", *range(60))
    path.write_text(path.read_text().replace("\tX\t-", "\tGene\tnot:a code?"))

    found = one_corpus(path)

    assert sum(len(one.entities) for split in found.splits.values() for one in split) == 60
    assert found.skipped == ()
