"""Embeddings are scored by taggers, from corpora to results."""

from __future__ import annotations

import json
import re
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.corpora import invented_names, write_corpus
from fixtures.embeddings import write_text
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.core.progress import Progress
from medsim.tagging import tag as tag_module
from medsim.tagging.corpus import entities_of, read_corpora
from medsim.tagging.options import TagOptions

pytestmark = pytest.mark.slow

OPTIONS = {"trials": 2, "epochs": 10, "threads": 1}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    return write_corpus(folder, invented_names(3, 30), "velps", 1, n_documents=60)


@pytest.fixture(scope="module")
def vectors(corpus: Path) -> Path:
    """Vectors that separate words of names from others, with a comma, without the word "seen"."""
    names = {
        word for names in invented_names(3, 30).values() for name in names for word in name.split()
    }
    words = {*corpus.read_text(encoding="utf-8").lower().split(), ",", "(", ")"} - {"seen"}
    rng = np.random.default_rng(0)
    named = set(" ".join(names).lower().replace(",", "").split())
    rows = {
        word: [3.0 * (word in named), *rng.normal(0, 0.3, 5).tolist()] for word in sorted(words)
    }
    return write_text(corpus.with_name("vectors.txt"), rows, header=True)


@pytest.fixture(scope="module")
def tagging(corpus: Path, vectors: Path) -> medsim.Tagging:
    return medsim.tag(corpus, {"own": vectors}, corpus.with_name("tags"), random=6, **OPTIONS)


def f1_of(predictions: pl.DataFrame) -> float:
    """Return F1 of the entities of one trial."""
    predicted, gold = set(), set()
    for (sentence,), rows in predictions.group_by("sentence"):
        gold |= {(sentence, *entity) for entity in entities_of(rows["gold"].to_list())}
        predicted |= {(sentence, *entity) for entity in entities_of(rows["predicted"].to_list())}
    return 2 * len(predicted & gold) / (len(predicted) + len(gold))


def test_vectors_that_separate_names_from_other_words_find_them(tagging: medsim.Tagging) -> None:
    trained, random = tagging.results().filter(statistic="f1", type="all")["value"]

    assert trained > 0.3
    assert trained > random + 0.15


def test_capitals_are_seen_on_request_also_with_relu(tmp_path: Path) -> None:
    (tmp_path / "signs").mkdir()
    text = "Fever\tB-Sign\nrises\tO\n\nfever\tO\nrises\tO\n\n" * 60
    for split in ("train", "dev", "test"):
        (tmp_path / "signs" / f"{split}.tsv").write_text(text, encoding="utf-8")
    rows = {"fever": [1.0, 0.0], "rises": [0.0, 1.0]}
    vectors = {"own": write_text(tmp_path / "own.txt", rows, header=True)}
    options = {"trials": 1, "epochs": 20, "threads": 1, "relu": True}

    without, seen = (
        medsim.tag(tmp_path / "signs", vectors, tmp_path / f"{on}", capitals=on, **options)
        for on in (False, True)
    )

    without_f1, f1 = (made.tasks()["signs"].item() for made in (without, seen))
    assert without_f1 < 0.7  # both words have one vector
    assert f1 == 1
    assert seen.manifest.options["relu"]
    assert seen.manifest.options["capitals"]


def test_objects_in_python_are_embeddings(
    tagging: medsim.Tagging, corpus: Path, vectors: Path, tmp_path: Path
) -> None:
    rows = [line.split(" ") for line in vectors.read_text(encoding="utf-8").splitlines()[1:]]
    table = {word: np.array(numbers, np.float32) for word, *numbers in rows}
    model = {word.lower(): row for word, row in table.items()}
    embeddings = {
        "own": table,
        "model": lambda words: np.array([model.get(word.lower(), np.zeros(6)) for word in words]),
    }

    results = medsim.tag(corpus, embeddings, tmp_path / "tags", **OPTIONS).results()

    by_name, of_model = (results.filter(embedding=name).drop("embedding") for name in embeddings)
    assert_frame_equal(by_name, tagging.results().filter(embedding="own").drop("embedding"))
    assert of_model.filter(statistic="f1", type="all")["value"].item() > 0.3


def test_results_match_the_predictions(tagging: medsim.Tagging) -> None:
    predictions = tagging.sql("from prediction order by embedding, trial, sentence, word")
    results = tagging.results().filter(statistic="f1")

    for (embedding,), of_one in predictions.group_by("embedding"):
        scores = [f1_of(rows) for _, rows in of_one.group_by("trial", maintain_order=True)]
        for kind in ("all", "Disease"):
            (row,) = results.filter(embedding=embedding, type=kind).to_dicts()
            assert row["value"] == pytest.approx(np.mean(scores))
            assert row["deviation"] == pytest.approx(np.std(scores, ddof=1))
            assert row["low"] < row["value"] < row["high"]
            assert row["n_trials"] == 2
            assert row["n_documents"] == of_one["document_id"].n_unique()
        trials = tagging.trials().filter(embedding=embedding)
        assert trials["f1"].to_list() == pytest.approx(scores)
        assert trials["trial"].to_list() == [1, 2]
        assert all(1 <= epoch <= 10 for epoch in trials["epoch"])


def test_the_table_of_tasks_is_an_extrinsic_side(tagging: medsim.Tagging) -> None:
    tasks = tagging.tasks()
    more = pl.DataFrame({"model": ["x", "y"], "velps": [0.1, 0.3]})
    intrinsic = pl.DataFrame({"model": ["own", "random", "x", "y"], "rated": [0.5, 0.1, 0.2, 0.3]})

    correlation = medsim.correlate(intrinsic, pl.concat([tasks, more]))

    assert tasks["model"].to_list() == ["own", "random"]
    assert correlation.select("set", "task", "n_models").row(0) == ("rated", "velps", 4)


def test_random_vectors_are_scored_without_an_embedding(
    tagging: medsim.Tagging, corpus: Path, tmp_path: Path
) -> None:
    options = [word for name, value in OPTIONS.items() for word in (f"--{name}", str(value))]
    call = ["tag", str(corpus), "-o", f"{tmp_path}/tags"]
    call += [word.replace("_", "-") for word in options]

    result = CliRunner().invoke(app, [*call, "--random", "6"])

    assert result.exit_code == 0, result.output
    scores = medsim.Tagging(tmp_path / "tags").results()
    assert_frame_equal(scores, tagging.results().filter(embedding="random"))
    refused = CliRunner().invoke(app, [*call, "--overwrite"])
    assert "name at least one embedding, such as --embedding glove=glove.txt" in refused.output


def test_the_report_has_the_scores(tagging: medsim.Tagging, tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("altair", reason="medsim[report] is not installed")
    monkeypatch.setattr("medsim.pages.markup._library", lambda *_: "")

    page = medsim.write_report(tagging, tmp_path / "tags.html").read_text(encoding="utf-8")

    best, other = tagging.results().filter(statistic="f1", type="all").to_dicts()
    results = re.findall(r'<p class="result">(.*?)</p>', page)
    sizes, leader, *_ = (re.sub("<.*?>", "", sentence) for sentence in results)
    assert sizes.endswith(f"entities of the test splits: {best['n_entities']} in velps.")
    assert leader.startswith(f"On velps, own has the highest mean F1, {best['value']:.3f} (95% CI")
    assert f", before random with {other['value']:.3f} (95% CI" in leader
    assert "Scores of each tagger" in page


def test_the_corpus_in_the_layout_of_conll_gives_the_same_scores(
    tagging: medsim.Tagging, corpus: Path, vectors: Path, tmp_path: Path
) -> None:
    options = TagOptions(corpora=corpus, embeddings={}, out=tmp_path, random=6)
    (velps,) = read_corpora(options, Progress())
    (tmp_path / "velps").mkdir()
    for split, sentences in velps.splits.items():
        lines = []
        for document, group in groupby(sentences, lambda sentence: sentence.document_id):
            lines += [f"-DOCSTART- {document} O", ""]
            for sentence in group:
                lines += [*map("\t".join, zip(sentence.words, sentence.tags, strict=True)), ""]
        (tmp_path / "velps" / f"{split}.tsv").write_text("\n".join(lines))

    again = medsim.tag(
        tmp_path / "velps", {"own": vectors}, tmp_path / "t", **OPTIONS | {"threads": 2}
    )

    expected = tagging.results().filter(embedding="own")
    assert_frame_equal(again.results(), expected)


def test_the_manifest_describes_the_inputs(tagging: medsim.Tagging) -> None:
    texts = tagging.sql("from prediction").select(pl.col(pl.String).unique().implode()).row(0)
    assert {tag[0] for tag in texts[1]} == {"O", "B", "I"}
    assert all(text.isdigit() for text in texts[0])  # no word of the corpus
    corpus = tagging.manifest.corpora["velps"]
    facts = tagging.manifest.embeddings["own"]

    assert corpus["types"] == ["Disease"]
    assert sum(sizes["documents"] for sizes in corpus["splits"].values()) == 60
    assert 0.5 < facts["known"]["velps"] < 1
    random = {"dimensions": 6, "seed": 0, "known": {"velps": 1.0}}
    assert tagging.manifest.embeddings["random"] == random
    assert tagging.manifest.options["trials"] == 2


def test_an_interrupted_run_continues_where_it_stopped(
    tagging: medsim.Tagging, corpus: Path, vectors: Path, tmp_path: Path, monkeypatch
) -> None:
    tagged: list[str] = []
    whole, interrupts = tag_module._tag_one, ["random"]

    def until_random(run, name: str, *rest: object) -> None:
        if name in interrupts:
            interrupts.remove(name)
            raise KeyboardInterrupt
        tagged.append(name)
        whole(run, name, *rest)

    monkeypatch.setattr(tag_module, "_tag_one", until_random)
    with pytest.raises(KeyboardInterrupt):
        medsim.tag(corpus, {"own": vectors}, tmp_path / "t", random=6, **OPTIONS)
    assert not (tmp_path / "t").exists()

    again = medsim.tag(corpus, {"own": vectors}, tmp_path / "t", random=6, **OPTIONS)

    assert tagged == ["own", "random"]
    assert_frame_equal(again.results(), tagging.results())


def test_the_command_prints_percent_for_readers_and_values_for_programs(
    corpus: Path, vectors: Path, tmp_path: Path
) -> None:
    arguments = [corpus, "-e", f"own={vectors},case=lower", "-o", tmp_path / "t", "--trials", "1"]
    arguments += ["--epochs", "1", "--threads", "1", "--one-type"]

    first = CliRunner().invoke(app, ["tag", *map(str, arguments)])
    second = CliRunner().invoke(app, ["tag", *map(str, arguments), "--overwrite", "--format=json"])

    assert first.exit_code == second.exit_code == 0, first.output
    values = {(row["type"], row["statistic"]): row for row in json.loads(second.stdout)}
    shown = f"{100 * values['all', 'f1']['value']:.1f} ["
    assert shown in first.stdout
    assert {kind for kind, _ in values} == {"all", "entity"}
    assert values["all", "f1"]["deviation"] is None


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"embeddings": {}}, "name at least one embedding"),
        ({"embeddings": {"random": "x.txt"}, "random": 5}, "takes the name random; rename"),
        ({"trials": 0}, "`trials` 0 is out of range"),
        ({"epochs": 0}, "`epochs` 0 is out of range"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options, fault: str) -> None:
    settings = {"embeddings": {"own": "x.txt"}} | options

    with pytest.raises(OptionError, match=fault):
        medsim.tag("corpus.txt", out=tmp_path / "t", **settings)


def test_an_embedding_without_any_word_is_refused(corpus: Path, tmp_path: Path) -> None:
    path = write_text(tmp_path / "v.txt", {"\u5fc3\u81d3": [1.0, 2.0]}, header=True)

    with pytest.raises(InputError, match="own has no vector of any word of velps"):
        medsim.tag(corpus, {"own": path}, tmp_path / "t", **OPTIONS)
    with pytest.raises(OutputError, match="an input of this command"):
        medsim.tag(corpus, {"own": path}, corpus.parent, **OPTIONS)


def test_a_warning_of_a_corpus_reaches_the_manifest(corpus: Path, tmp_path: Path) -> None:
    progress = Progress()
    again = tmp_path / "again.txt"
    text = corpus.read_text(encoding="utf-8")
    again.write_text(f"{text}\n1000|t|Orl again.\n", encoding="utf-8")
    options = OPTIONS | {"epochs": 1, "progress": progress}

    tagging = medsim.tag(again, {}, tmp_path / "t", random=2, **options)

    assert any("document occurs again" in line for line in progress.warnings)
    assert tagging.manifest.warnings == progress.warnings


def test_sentences_are_resampled_if_there_is_one_document(tmp_path: Path) -> None:
    for split, tag in {"train": "B-Name", "dev": "B-Name", "test": "O"}.items():
        lines = ["-DOCSTART-\tO\n", *(["velp\tB-Name\n", f"velp\t{tag}\n"] * 6)]
        (tmp_path / f"{split}.tsv").write_text("\n".join(lines), encoding="utf-8")

    tagging = medsim.tag(tmp_path, {}, tmp_path / "tags", random=4, trials=1, epochs=1)

    (row,) = tagging.results().filter(type="all", statistic="precision").to_dicts()
    assert row["value"] == 0.5
    assert row["n_documents"] == 12
    assert row["low"] < row["high"]


def test_vectors_of_any_size_are_scaled(corpus: Path, tmp_path: Path) -> None:
    def large(texts: list[str]) -> np.ndarray:
        return np.array([[1e38 * (-1) ** len(text), 3e37 * len(text[:5])] for text in texts])

    scores = medsim.tag(corpus, {"large": large}, tmp_path / "tags", **OPTIONS | {"epochs": 1})

    assert scores.trials().height == OPTIONS["trials"]


def test_types_can_be_merged_and_an_unknown_language_is_refused(
    corpus: Path, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=r"no sentence rules for .* english; it has am, ar"):
        medsim.tag(corpus, {}, tmp_path / "t", random=2, language="english", **OPTIONS)
    options = OPTIONS | {"one_type": True, "epochs": 1}
    results = medsim.tag(corpus, {}, tmp_path / "t", random=2, **options).results()
    assert set(results["type"]) == {"all", "entity"}
