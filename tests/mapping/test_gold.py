"""A mapping and other systems scored against a gold mapping."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from fixtures.corpora import invented_names, write_ontology
from rapidfuzz import fuzz
from sklearn.metrics import precision_score, roc_auc_score
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError

N_CONCEPTS = 40
N_WITHOUT = 10


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return local names, a standard with most of their concepts, and a gold mapping in SSSOM."""
    folder = tmp_path_factory.mktemp("gold")
    names = {concept: of[:2] for concept, of in invented_names(3, N_CONCEPTS).items()}
    rows = [(f"{at:03}", of[at % 2], at % 3) for at, of in enumerate(names.values())]
    rows += [(f"X{at}", f"kwurb {at} zolp", 0) for at in range(N_WITHOUT)]
    local = pl.DataFrame(rows, ["code", "name", "ward"], orient="row")
    local.select("code", "name", category=pl.format("w{}", "ward")).write_csv(folder / "local.csv")
    concepts = [f"V:{at:04}" for at in range(N_CONCEPTS)]
    concepts += ["sssom:NoTermFound"] * N_WITHOUT
    predicates = ["skos:exactMatch"] * len(concepts)
    predicates[1] = "skos:broadMatch"
    gold = pl.DataFrame(
        {"subject_id": local["code"], "predicate_id": predicates, "object_id": concepts}
    )
    other = "#mapping_set_id: x\n#license: y\n"
    text = other + gold.write_csv(separator="\t") + "zz\tskos:exactMatch\tV:0001\n"
    (folder / "gold.sssom.tsv").write_text(text, encoding="utf-8")
    lacking = dict(list(names.items())[:-4])
    return {
        "folder": folder,
        "local": folder / "local.csv",
        "standard": write_ontology(folder, lacking),
        "gold": folder / "gold.sssom.tsv",
    }


@pytest.fixture(scope="module")
def scored(places: dict[str, Path]) -> medsim.NameMapping:
    """Return a mapping, a table of all right concepts, and a reranker, with their scores."""
    gold = pl.read_csv(places["gold"], separator="\t", comment_prefix="#", infer_schema_length=0)
    right = gold.filter(~pl.col("subject_id").str.contains("X|zz")).select(
        Quelle="subject_id",
        Ziel=pl.col("object_id").str.replace(":", "_"),
        confidence=pl.lit("0,9"),
    )
    right.write_csv(places["folder"] / "right.csv", separator=";")
    return medsim.map_names(
        places["local"],
        places["standard"],
        places["folder"] / "out",
        gold=places["gold"],
        predictions={
            "right": f"{places['folder'] / 'right.csv'},code=Quelle,concept=Ziel",
            "ratio": fuzz.ratio,
            "nothing": lambda _text: [],
        },
        k=3,
    )


def values_of(scored: medsim.NameMapping, model: str, stratum: str = "all") -> dict[str, float]:
    rows = scored.results().filter(model=model, stratum=stratum, type="all")
    return dict(rows.select("statistic", "value").iter_rows())


def test_codes_are_counted_by_what_the_gold_mapping_says(scored: medsim.NameMapping) -> None:
    rows = scored.results().filter(model="map", type="all", statistic="answered")
    counts = dict(rows.select("stratum", "n_items").iter_rows())
    assert counts["all"] == N_CONCEPTS - 1 - 4  # one has only a broader concept
    assert counts["no_match"] == N_WITHOUT + 4
    assert counts["with_no_match"] == counts["all"] + counts["no_match"]
    assert counts["name"] == counts["all"]
    assert {*scored.results()["type"]} == {"all", "w0", "w1", "w2"}
    warnings = " ".join(scored.manifest.warnings)
    assert "rows of the gold mapping left out: 1 (not an exact match)" in warnings
    assert "right has 4 concepts that the terminology lacks" in warnings
    assert "lacks all concepts of the gold mapping for 4 codes" in warnings


def test_all_right_concepts_are_perfect_and_no_answer_is_wrong(scored: medsim.NameMapping) -> None:
    right, nothing = values_of(scored, "right"), values_of(scored, "nothing")
    assert right["accuracy_at_1"] == right["precision"] == right["coverage_at_95"] == 1
    assert right["calibration_error"] == pytest.approx(0.1)
    assert nothing["accuracy_at_1"] == nothing["answered"] == 0
    assert nothing["precision"] is None


def test_the_mapping_is_scored_as_scikit_learn_does(
    scored: medsim.NameMapping, places: dict[str, Path]
) -> None:
    gold = pl.read_csv(places["gold"], separator="\t", comment_prefix="#", infer_schema_length=0)
    first = scored.candidates().filter(rank=1)
    rows = scored.scored().filter(model="map").join(first, on="code", how="left")
    rows = rows.join(gold.rename({"subject_id": "code"}), on="code")
    right = (rows["concept_id"] == rows["object_id"]).fill_null(value=False)
    assert (rows["rank"].eq_missing(1)).to_list() == right.to_list()
    values = values_of(scored, "map", "with_no_match")
    answered = rows["concept_id"].is_not_null()
    expected = precision_score(right.filter(answered), [1] * answered.sum())
    assert values["precision"] == pytest.approx(expected)
    known = rows["code"].str.starts_with("X").not_() & rows["object_id"].is_in(
        scored.standard_names()["concept_id"].implode()
    )
    scores = rows["probability"].fill_null(-1)
    assert values["no_match_auc"] == pytest.approx(roc_auc_score(known, scores))


def test_a_reranker_orders_the_candidates(scored: medsim.NameMapping) -> None:
    rows = scored.scored().filter(model="ratio").join(scored.local(), on="code")
    rows = rows.drop_nulls("nearest_name")
    ratios = [fuzz.ratio(*pair) for pair in rows.select("name", "nearest_name").iter_rows()]
    assert rows["score"].to_list() == pytest.approx(ratios)


def test_the_report_and_the_command_show_scores(
    scored: medsim.NameMapping, places: dict[str, Path], tmp_path: Path
) -> None:
    page = medsim.write_report(scored, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "on 35 codes of gold" in page
    assert "mean score" in page
    arguments = ["map", str(places["local"]), str(places["standard"]), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--gold", str(places["gold"])])
    assert result.exit_code == 0, result.output
    assert "On 35 codes of gold, map has an accuracy@1 of" in " ".join(result.output.split())


def test_decided_and_accepted_codes_are_scored_beside_the_candidates(
    places: dict[str, Path], tmp_path: Path
) -> None:
    rows = ["subject_id,subject_label,object_id,object_label,decision", "002,,V:0003,,exact"]
    (tmp_path / "decisions.csv").write_text("\n".join(rows), encoding="utf-8")
    gold = tmp_path / "gold.csv"
    gold.write_text("subject_id,object_id\nlocal:002,V:0002\nlocal:003,V:0003\nX1,0\n")
    ours = medsim.map_names(
        places["local"],
        places["standard"],
        tmp_path / "out",
        gold=gold,
        decisions=[tmp_path / "decisions.csv"],
        predictions={"own": tmp_path / "gold.csv"},
    )
    assert [values_of(ours, model)["accuracy_at_1"] for model in ("map", "decided")] == [1, 0]
    assert values_of(ours, "decided")["answered"] == 0.5
    assert values_of(ours, "own")["accuracy_at_1"] == 1
    assert values_of(ours, "own", "no_match")["answered"] == 0


def test_wrong_gold_and_predictions_are_refused(places: dict[str, Path], tmp_path: Path) -> None:
    given = places["local"], places["standard"], tmp_path / "out"
    table = tmp_path / "table.csv"
    table.write_text("code,concept\nnone-of-these,V:0001\n", encoding="utf-8")
    with pytest.raises(OptionError, match="give it too"):
        medsim.map_names(*given, predictions={"other": table})
    with pytest.raises(OptionError, match="two models are named 'map'"):
        medsim.map_names(*given, gold=places["gold"], predictions={"map": table})
    with pytest.raises(InputError, match="has no code of LOCAL"):
        medsim.map_names(*given, gold=table)
    with pytest.raises(OptionError, match="is a table, not a function"):
        medsim.map_names(*given, gold=len)
    foreign = tmp_path / "foreign.csv"
    foreign.write_text("code,concept\n001,D000001\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no concept of STANDARD, but such as D000001"):
        medsim.map_names(*given, gold=foreign)
    with pytest.raises(InputError, match="code 'none-of-these' is not in LOCAL"):
        medsim.map_names(*given, gold=places["gold"], predictions={"other": table})
