"""Systems without vectors in entity linking: tables, functions, rerankers and language models."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.corpora import invented_names, write_corpus, write_ontology
from fixtures.services import LocalService, says
from rapidfuzz import fuzz
from sklearn.metrics import accuracy_score, roc_auc_score
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a corpus and an ontology with its concepts."""
    folder = tmp_path_factory.mktemp("systems")
    names = invented_names(5, 60)
    return {
        "folder": folder,
        "corpus": write_corpus(folder, names, "velps", 2, n_documents=30),
        "ontology": write_ontology(folder, names),
    }


@pytest.fixture(scope="module")
def linked(places: dict[str, Path]) -> medsim.Linking:
    """Return the scores of systems of every form."""
    plain = medsim.link([places["corpus"]], places["ontology"], {}, places["folder"] / "plain")
    mentions, links = plain.mentions(), plain.links().filter(model="tfidf")
    table = links.drop_nulls("nearest_concept").select(
        "mention_id", concept="nearest_concept", score="score"
    )
    table.write_csv(places["folder"] / "tfidf.csv")
    right = mentions.select("mention_id", concept=pl.col("concepts").str.split("|"), score=0.5)
    exact = plain.links().filter(model="exact").join(mentions, on="mention_id")
    equal = dict(exact.select("term", "nearest_concept").iter_rows())
    return medsim.link(
        [places["corpus"]],
        places["ontology"],
        {},
        places["folder"] / "systems",
        predictions={
            "same": places["folder"] / "tfidf.csv",
            "perfect": right.explode("concept"),
            "equal": lambda text: equal[text] and [(equal[text], 1)],
            "nothing": lambda _text: None,
            "ratio": fuzz.ratio,
        },
        candidates=4,
    )


def values_of(linked: medsim.Linking, model: str, stratum: str = "all") -> dict[str, float]:
    rows = linked.results().filter(model=model, stratum=stratum, type="all")
    return dict(rows.select("statistic", "value").iter_rows())


def test_a_table_and_a_function_have_the_scores_of_their_search(linked: medsim.Linking) -> None:
    for system, search in (("same", "tfidf"), ("equal", "exact")):
        for stratum in ("all", "with_no_match", "abbreviation"):
            ours, theirs = (values_of(linked, model, stratum) for model in (system, search))
            for name in ours.keys() - {"accuracy_at_5", "mrr"}:
                assert ours[name] == pytest.approx(theirs[name]), name


def test_a_frame_that_knows_all_is_perfect_and_a_function_without_answers_wrong(
    linked: medsim.Linking,
) -> None:
    perfect, nothing = (values_of(linked, model) for model in ("perfect", "nothing"))
    assert perfect["accuracy_at_1"] == perfect["coverage_at_95"] == perfect["mrr"] == 1
    assert perfect["aurc"] == 0
    assert values_of(linked, "perfect", "no_match")["answered"] == 0
    assert values_of(linked, "perfect", "with_no_match")["no_match_auc"] == 1
    assert nothing["accuracy_at_1"] == nothing["answered"] == nothing["coverage_at_95"] == 0
    assert nothing["aurc"] == 1
    assert nothing["precision"] is None


def test_a_reranker_orders_the_candidates_of_the_first_search(linked: medsim.Linking) -> None:
    mentions = linked.mentions()
    names = mentions.join(linked.links().filter(model="ratio"), on="mention_id")
    names = names.drop_nulls("nearest_name")
    ratios = [fuzz.ratio(*pair) for pair in names.select("term", "nearest_name").iter_rows()]
    assert names["score"].to_list() == pytest.approx(ratios)
    assert linked.links().filter(model="ratio")["rank"].max() <= 4


def test_abstention_is_scored_as_scikit_learn_does(linked: medsim.Linking) -> None:
    rows = linked.links().filter(model="tfidf").join(linked.mentions(), on="mention_id")
    rows = rows.filter(pl.col("status") != "composite")
    known = (rows["status"] == "known").to_numpy()
    scores = rows["score"].fill_null(-1).to_numpy()
    values = values_of(linked, "tfidf", "with_no_match")
    assert values["no_match_auc"] == pytest.approx(roc_auc_score(known, scores))
    first = (rows["nearest_concept"] == rows["concepts"]).fill_null(value=False).to_numpy()
    answered = rows["score"].is_not_null().to_numpy()
    expected = accuracy_score(np.ones(answered.sum()), first[answered])
    assert values["precision"] == pytest.approx(expected)
    curve = linked.curves().filter(model="tfidf", stratum="with_no_match")
    at = curve.row(curve.height // 2, named=True)
    assert at["precision"] == pytest.approx(first[scores >= at["threshold"]].mean())
    assert at["coverage"] == pytest.approx((scores >= at["threshold"]).mean())


def test_every_two_models_are_compared(linked: medsim.Linking) -> None:
    tests = linked.comparisons().filter(statistic="accuracy_at_1")
    assert tests.height == 8 * 7 / 2
    row = tests.row(by_predicate=(pl.col("model1") == "tfidf") & (pl.col("model2") == "same"))
    assert row[tests.columns.index("difference")] == 0
    lead = tests.filter(model1="exact", model2="perfect")
    assert lead["p_bonferroni"].item() < 0.05
    assert lead["high"].item() < 0


def test_a_table_of_mentions_is_a_corpus(linked: medsim.Linking, places: dict[str, Path]) -> None:
    mentions = linked.mentions().with_columns(pl.col("concepts").fill_null(""))
    rows = mentions.filter(pl.col("status").is_in(["known", "no_concept"]))
    rows = rows.select(Begriff="term", Code="concepts", pmid="document_id", type="type")
    path = places["folder"] / "mentions.csv"
    extra = rows.head(1).with_columns(Begriff=pl.lit("Bläschen"), Code=pl.lit("-1"))
    path.write_bytes(pl.concat([rows, extra]).write_csv(separator=";").encode("cp1252"))
    corpus = f"{path},text=Begriff,concept=Code"
    ours = medsim.link([corpus], places["ontology"], {}, places["folder"] / "table")
    for model in ("exact", "levenshtein", "tfidf"):
        assert values_of(ours, model) == pytest.approx(values_of(linked, model))
    assert ours.mentions()["start"].null_count() == rows.height + 1
    assert ours.mentions()["status"].to_list()[-1] == "no_concept"
    assert "read as Windows-1252" in " ".join(ours.manifest.warnings)
    for cells, fault in (("1e12,2", "1e12"), ("0,1.5", "1.5")):
        path.write_text(f"text,concept,start,end\nx,V:0001,{cells}\n", encoding="utf-8")
        with pytest.raises(InputError, match=f"'{fault}' is not a whole number"):
            medsim.link([path], places["ontology"], {}, places["folder"] / "none")


def test_a_system_may_have_the_name_of_a_column(places: dict[str, Path], tmp_path: Path) -> None:
    rows = "document,start,end,text,concept\nd1,0,4,velp,V:0001\n"
    (tmp_path / "mentions.csv").write_text("document,text,concept\nd1,velp,V:0001\n")
    (tmp_path / "items.csv").write_text(rows, encoding="utf-8")
    arguments = ["link", str(tmp_path / "mentions.csv"), "-t", str(places["ontology"])]
    arguments += ["--predictions", f"items={tmp_path / 'items.csv'}", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "items (model)" in result.output
    assert values_of(medsim.Linking(tmp_path / "out"), "items")["accuracy_at_1"] == 1


HOSTILE: list[tuple[Any, str]] = [
    ("mention_id,concept\n99999,X:1\n", "mention '99999' is not in the corpora"),
    ("mention_id,concept\n0,X:1\n0,X:1\n", "'X:1' is given twice for one mention"),
    ("mention_id,concept,rank\n0,X:1,1\n0,X:2,1\n", "'1' is missing, or twice for one mention"),
    ("mention_id,concept,rank\n0,X:1,first\n", "rank 'first' is not a finite number"),
    ("mention_id,concept,rank,score\n0,X:1,1,0\n0,X:2,2,1\n", "is higher than that of a better"),
    ("document,concept\n1,X:1\n", "does not say what a row is of; it needs mention_id or"),
    ("mention_id,code\n0,X:1\n", "has no column concept"),
    ("", "is empty"),
    (lambda _text: "X:1", "returned 'X:1' for .*; expected a list"),
    (lambda _text: {"X:1": 1.0}, "returned {'X:1': 1.0} for .*; expected a list"),
    (lambda _text: [("X:1", 0.1), ("X:2", 0.9)], "is higher than that of a better rank"),
    (lambda _text: [3], "returned 3 in its list"),
    (lambda _text: [("X:1", None)], "in its list"),
    (lambda _text: 1 / 0, "failed on .*division by zero"),
    (lambda _text, seen=[]: seen.append(0) or [f"X:{len(seen)}"], "returned another list"),
]


@pytest.mark.some(6)
@pytest.mark.parametrize(("given", "message"), HOSTILE)
def test_wrong_predictions_are_refused(
    places: dict[str, Path], tmp_path: Path, given: str | Callable[..., Any], message: str
) -> None:
    source: Any = given
    if isinstance(given, str):
        source = tmp_path / "predictions.csv"
        source.write_text(given, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        medsim.link(
            [places["corpus"]],
            places["ontology"],
            {},
            tmp_path / "out",
            predictions={"system": source},
        )
    assert not (tmp_path / "out").exists()


def test_a_language_model_chooses_among_candidates(places: dict[str, Path], tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> dict[str, object]:
        text = body["messages"][-1]["content"]
        mention = re.search("Mention: (.*)", text)[1]
        letters = dict(re.findall(r"^([A-Z])\. (.*)$", text, re.MULTILINE))
        right = [letter for letter, name in letters.items() if name.lower() == mention.lower()]
        return says(right[0] if right else max(letters))

    service = LocalService()
    service.chat = answer
    with service.running():
        arguments = [
            *("link", str(places["corpus"]), "-t", str(places["ontology"])),
            *("--llm", f"llm=api:{service.url},model=m", "--candidates", "3"),
            *("-o", str(tmp_path / "out"), "--cache", "none"),
        ]
        result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "distinct mentions and names are sent to" in result.output
    assert "estimated" in result.output
    linked = medsim.Linking(tmp_path / "out")
    llm, exact = (
        linked.links().filter(model=model)["rank"].eq_missing(1) for model in ("llm", "exact")
    )
    assert llm.to_list() == exact.to_list()
    assert values_of(linked, "llm")["answered"] == values_of(linked, "exact")["answered"]
    assert linked.manifest.systems["llm"]["model"] == "m"


def test_replies_without_an_answer_are_a_warning(places: dict[str, Path], tmp_path: Path) -> None:
    service = LocalService()
    service.chat = lambda _: says("Perhaps.")
    given = [places["corpus"]], places["ontology"], {}, tmp_path / "out"
    with service.running():
        linked = medsim.link(*given, llms=[f"llm=api:{service.url},model=m"], cache="none")

    warnings = [warning for warning in linked.manifest.warnings if warning.startswith("llm: ")]
    assert re.fullmatch(
        r"llm: no clear answer in (\d+) of \1 replies, such as 'Perhaps.'", *warnings
    )


def test_options_that_do_not_fit_are_refused(places: dict[str, Path], tmp_path: Path) -> None:
    given = [places["corpus"]], places["ontology"], {}, tmp_path / "out"
    with pytest.raises(OptionError, match=r"first search.*levenshtein"):
        medsim.link(*given, first_search="levenstein")
    with pytest.raises(OptionError, match="two models are named 'exact'"):
        medsim.link(*given, predictions={"exact": lambda _text: None})
    with pytest.raises(OptionError, match="shots"):
        medsim.link(*given, llms=["m=api:http://localhost:9/v1,model=m,shots=2"])
