"""Mentions of invented corpora looked up among the names of an invented terminology."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.corpora import invented_names, write_corpus, write_ontology
from fixtures.embeddings import write_words
from polars.testing import assert_frame_equal
from rapidfuzz.distance import Levenshtein
from sklearn.feature_extraction.text import TfidfVectorizer
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError
from medsim.linking.output import DEPTH
from medsim.statistics.estimates import clustered_mean

N_CONCEPTS = 200


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a corpus, an ontology with its concepts, and word vectors."""
    folder = tmp_path_factory.mktemp("linking")
    names = invented_names(3, N_CONCEPTS)
    corpus = write_corpus(folder, names, "velps", 1, n_documents=60)
    words = sorted(set(re.findall(r"[a-z]+", str(names).lower())))
    vectors = write_words(folder / "own.vec", words, 3)
    return {
        "corpus": corpus,
        "ontology": write_ontology(folder, names),
        "vectors": vectors,
        "out": folder / "out",
    }


@pytest.fixture(scope="module")
def linked(places: dict[str, Path]) -> medsim.Linking:
    return medsim.link(
        [places["corpus"]], places["ontology"], {"own": places["vectors"]}, places["out"]
    )


def names_of(ontology: Path) -> pl.DataFrame:
    """Return the names of an ontology in lower case and their concepts, in order of text."""
    rows = []
    for stanza in ontology.read_text(encoding="utf-8").split("[Term]")[1:]:
        concept = re.search("id: (.*)", stanza)[1]
        rows += [
            (name.lower(), concept)
            for name in re.findall('(?:name: |synonym: ")(.*?)["\n]', stanza)
        ]
    return pl.DataFrame(rows, ["name", "concept"], orient="row").unique().sort("name", "concept")


def expected_ranks(linked: medsim.Linking, ontology: Path, scores: np.ndarray) -> list[int | None]:
    """Return the ranks of mentions' concepts, given the scores of distinct terms and names."""
    names = names_of(ontology)
    distinct = names["name"].unique().sort().to_list()
    concepts = dict(names.group_by("name").agg("concept").iter_rows())
    mentions = linked.mentions().drop_nulls("concepts")
    terms = sorted({term.lower() for term in mentions["term"]})
    ranking = {}
    for term, row in zip(terms, scores, strict=True):
        nearest = np.argsort(-row, kind="stable")[:DEPTH]
        order = [c for at in nearest if row[at] > -np.inf for c in sorted(concepts[distinct[at]])]
        ranking[term] = list(dict.fromkeys(order))
    return [
        min(
            (
                ranking[term.lower()].index(c) + 1
                for c in gold.split("|")
                if c in ranking[term.lower()]
            ),
            default=None,
        )
        for term, gold in mentions.select("term", "concepts").iter_rows()
    ]


def texts_of(linked: medsim.Linking, ontology: Path) -> tuple[list[str], list[str]]:
    """Return the distinct terms of mentions with a concept, and the distinct names."""
    terms = {term.lower() for term in linked.mentions().drop_nulls("concepts")["term"]}
    return sorted(terms), names_of(ontology)["name"].unique().sort().to_list()


def ranks_by(linked: medsim.Linking, model: str) -> list[int | None]:
    of_model = linked.links().filter(model=model)
    known = linked.mentions().drop_nulls("concepts")
    assert of_model.join(known, on="mention_id", how="anti")["rank"].null_count() == (
        linked.mentions().height - known.height
    )
    return of_model.join(known, on="mention_id", how="semi")["rank"].to_list()


def test_exact_match_finds_equal_names(linked: medsim.Linking, places: dict[str, Path]) -> None:
    terms, names = texts_of(linked, places["ontology"])
    scores = np.where(np.array(terms)[:, None] == np.array(names), 1.0, -np.inf)
    ranks = expected_ranks(linked, places["ontology"], scores)
    assert ranks_by(linked, "exact") == ranks
    assert None in ranks
    assert max(filter(None, ranks)) > 1


def test_levenshtein_ranks_are_those_of_all_distances(
    linked: medsim.Linking, places: dict[str, Path]
) -> None:
    terms, names = texts_of(linked, places["ontology"])
    scores = np.array([[-Levenshtein.distance(term, name) for name in names] for term in terms])
    assert ranks_by(linked, "levenshtein") == expected_ranks(linked, places["ontology"], scores)


def test_tfidf_ranks_are_those_of_scikit_learn(
    linked: medsim.Linking, places: dict[str, Path]
) -> None:
    terms, names = texts_of(linked, places["ontology"])
    fitted = TfidfVectorizer(analyzer="char", ngram_range=(3, 3))
    of_names = fitted.fit_transform([f" {name} " for name in names])
    scores = (fitted.transform([f" {term} " for term in terms]) @ of_names.T).toarray()
    scores = np.where(scores > 0, scores.astype(np.float32), -np.inf)
    assert ranks_by(linked, "tfidf") == expected_ranks(linked, places["ontology"], scores)


def test_an_embedding_ranks_by_cosine(linked: medsim.Linking, places: dict[str, Path]) -> None:
    lines = places["vectors"].read_text(encoding="utf-8").splitlines()[1:]
    words = {word: np.array(values, float) for word, *values in map(str.split, lines)}
    terms, names = texts_of(linked, places["ontology"])

    def vectors(texts: list[str]) -> np.ndarray:
        means = [
            np.mean(
                [words[w] for w in re.findall("[a-z]+", text) if w in words] or [[np.nan] * 6], 0
            )
            for text in texts
        ]
        return np.array(means) / np.linalg.norm(means, axis=1, keepdims=True)

    cosines = vectors(terms) @ vectors(names).T
    scores = np.where(np.isnan(cosines), -np.inf, cosines.astype(np.float32))
    expected = expected_ranks(linked, places["ontology"], scores)
    ranks = ranks_by(linked, "own")
    same = np.mean([a == b for a, b in zip(ranks, expected, strict=True)])
    assert same > 0.9  # float32 cosines tie otherwise
    assert None in ranks


def test_scores_are_those_of_ranks_by_document(linked: medsim.Linking) -> None:
    mentions = linked.mentions()
    rows = mentions.filter(pl.col("status") == "known", "is_abbreviation")
    rows = rows.join(linked.links().filter(model="tfidf"), on="mention_id")
    hits = (rows["rank"] <= 5).fill_null(value=False).cast(pl.Float64).to_numpy()
    documents = rows["document_id"].rank("dense").cast(pl.Int64).to_numpy() - 1
    expected = clustered_mean(hits, documents)
    row = linked.results().row(
        by_predicate=(pl.col("type") == "all")
        & (pl.col("stratum") == "abbreviation")
        & (pl.col("model") == "tfidf")
        & (pl.col("statistic") == "accuracy_at_5"),
        named=True,
    )
    assert [row[name] for name in ("value", "low", "high")] == [
        expected.value,
        expected.low,
        expected.high,
    ]
    assert row["n_items"] == rows.height


def test_every_mention_is_in_one_stratum_of_its_status(linked: medsim.Linking) -> None:
    counts = linked.results().filter(type="all", model="exact", statistic="answered")
    counts = dict(counts.select("stratum", "n_items").iter_rows())
    statuses = dict(linked.mentions().group_by("status").len().iter_rows())
    assert counts["all"] == statuses["known"] == counts["name"] + counts["not_name"]
    assert counts["composite"] == statuses["composite"]
    assert counts["no_concept"] == statuses["no_concept"]
    assert 0 < counts["homonym"] <= counts["name"]
    assert 0 < counts["abbreviation"] < counts["all"]


def test_a_composite_mention_counts_its_first_concept(linked: medsim.Linking) -> None:
    composite = linked.mentions().filter(status="composite")
    assert composite["concepts"].str.contains("|", literal=True).any()
    assert not set(composite["mention_id"]) - set(linked.links()["mention_id"])


def test_a_build_gives_the_same_ranks_as_its_source(
    linked: medsim.Linking, places: dict[str, Path], tmp_path: Path
) -> None:
    build = medsim.build(places["ontology"], tmp_path / "build")
    again = medsim.link([places["corpus"]], build, {}, tmp_path / "again", threads=1)
    assert_frame_equal(again.links(), linked.links().filter(pl.col("model") != "own"))
    facts = [output.manifest.dictionary for output in (linked, again)]
    assert facts[0]["fingerprint"] == facts[1]["fingerprint"]
    assert facts[0]["build"] is None
    assert len(facts[1]["build"]) == 64


def linked_to(names: str, corpus: str, folder: Path, embeddings: dict[str, Path]) -> medsim.Linking:
    (folder / "names.csv").write_text(f"id,name\n{names}", encoding="utf-8")
    (folder / "corpus.txt").write_text(corpus, encoding="utf-8")
    out = folder / f"out{len(list(folder.iterdir()))}"
    return medsim.link([folder / "corpus.txt"], folder / "names.csv", embeddings, out)


def test_spellings_are_looked_up_separately(tmp_path: Path) -> None:
    vectors = tmp_path / "cased.vec"
    vectors.write_text("3 2\naids 1 0\nAIDS 0 1\nhelpers 1 0.1\n", encoding="utf-8")
    names = "X:1,helpers\nX:2,AIDS\n"
    lower = "1|t|aids\n1|a|\n1\t0\t4\taids\tD\tX:1\n"
    upper = "\n2|t|AIDS\n2|a|\n2\t0\t4\tAIDS\tD\tX:2\n"
    ranks = [
        linked_to(names, corpus, tmp_path, {"cased": vectors})
        .links()
        .filter(model="cased")
        .select("rank", "nearest_name")
        .rows()
        for corpus in (lower, lower + upper)
    ]
    assert ranks == [[(1, "helpers")], [(1, "helpers"), (1, "AIDS")]]


def test_ids_of_mesh_need_no_prefix_and_codes_of_one_concept_count_once(tmp_path: Path) -> None:
    names = "D000001,velp\nD000002,orl\n"
    corpus = "1|t|velp\n1|a|\n1\t0\t4\tvelp\tD\tD000001|MESH:D000001\n"
    assert linked_to(names, corpus, tmp_path, {}).mentions()["status"].to_list() == ["known"]
    corpus = corpus.replace("MESH:D000001", "-1")
    assert linked_to(names, corpus, tmp_path, {}).mentions()["status"].to_list() == ["composite"]
    with pytest.raises(InputError, match="such as MSH:D000009, and concepts such as D000001"):
        linked_to(names, corpus.replace("D000001", "D000009"), tmp_path, {})


@pytest.mark.some(4)
@pytest.mark.parametrize("id_of_table", ["HP:7", "hp:7", "http://purl.obolibrary.org/obo/HP_7"])
@pytest.mark.parametrize("code", ["HP:7", "hp:7", "HP_7", "http://purl.obolibrary.org/obo/HP_7"])
def test_an_identifier_is_found_in_any_form(tmp_path: Path, id_of_table: str, code: str) -> None:
    corpus = f"1|t|velp\n1|a|\n1\t0\t4\tvelp\tD\t{code}\n"
    mentions = linked_to(f"{id_of_table},velp\nX:1,orl\n", corpus, tmp_path, {}).mentions()
    assert mentions["concepts"].to_list() == [id_of_table]


def test_near_misses_are_parents_children_and_siblings(tmp_path: Path) -> None:
    rows = ["X:1,root pain,", "X:2,arm pain,X:1", "X:3,arm pains,X:2", "X:4,leg pain,X:1",
            "X:5,zzz,X:3"]  # fmt: skip
    (tmp_path / "names.csv").write_text("\n".join(["id,name,parent", *rows]), encoding="utf-8")
    mentions = {"arm pain": "X:2", "Arm pain": "X:3", "arm pains": "X:2", "leg pain": "X:2",
                "root pain": "X:5", "leg  pain": "X:4"}  # fmt: skip
    texts = [
        f"{at}|t|{mention}\n{at}|a|.\n{at}\t0\t{len(mention)}\t{mention}\tD\t{code}\n"
        for at, (mention, code) in enumerate(mentions.items(), 1)
    ]
    (tmp_path / "corpus.txt").write_text("\n".join(texts), encoding="utf-8")

    linking = medsim.link([tmp_path / "corpus.txt"], tmp_path / "names.csv", {}, tmp_path / "out")

    found = linking.links().filter(model="levenshtein").sort("mention_id")
    assert found["near_miss"].to_list() == [None, "parent", "child", "sibling", None, None]
    scores = linking.results().filter(model="levenshtein", type="all", stratum="all")
    values = dict(scores.select("statistic", "value").iter_rows())
    assert values["accuracy_at_1"] == pytest.approx(2 / 6)
    assert values["accuracy_at_1_or_parent"] == pytest.approx(3 / 6)
    assert [values[name] for name in ("parent", "child", "sibling")] == pytest.approx([1 / 6] * 3)


def test_without_a_hierarchy_nothing_is_a_near_miss(tmp_path: Path) -> None:
    corpus = "1|t|velp\n1|a|\n1\t0\t4\tvelp\tD\tX:1\n"
    linking = linked_to("X:1,velps\nX:2,velp\n", corpus, tmp_path, {})
    assert linking.links()["near_miss"].null_count() == linking.links().height > 0
    assert not {"parent", "accuracy_at_1_or_parent"} & {*linking.results()["statistic"]}


def test_codes_of_no_concept_are_counted(places: dict[str, Path], tmp_path: Path) -> None:
    text = places["corpus"].read_text(encoding="utf-8").replace("D90000", "D80000")
    (tmp_path / "other.txt").write_text(text, encoding="utf-8")
    ours = medsim.link([tmp_path / "other.txt"], places["ontology"], {}, tmp_path / "out")
    unknown = ours.mentions().filter(status="unknown_concept")
    assert unknown.height
    assert unknown["concepts"].null_count() == unknown.height
    scores = ours.results().filter(stratum="unknown_concept", type="all")
    assert scores["n_items"].unique().to_list() == [unknown.height]
    assert {*scores["statistic"]} == {"answered"}


def test_a_terminology_without_the_codes_is_refused(
    places: dict[str, Path], tmp_path: Path
) -> None:
    text = places["corpus"].read_text(encoding="utf-8").replace("D900", "D800")
    (tmp_path / "other.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no mention has a concept"):
        medsim.link([tmp_path / "other.txt"], places["ontology"], {}, tmp_path / "out")
    with pytest.raises(InputError, match="language"):
        medsim.link([places["corpus"]], places["ontology"], {}, tmp_path / "out", language="xx")


def test_a_name_of_a_baseline_is_refused(places: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"`extensions` other\.zip: .* takes only mappings"):
        medsim.link(
            [places["corpus"]], places["ontology"], {}, tmp_path / "no", extensions=["other.zip"]
        )
    with pytest.raises(OptionError, match="two models are named .tfidf."):
        medsim.link(
            [places["corpus"]], places["ontology"], {"tfidf": places["vectors"]}, tmp_path / "out"
        )


def test_the_command_prints_scores_in_percent(places: dict[str, Path], tmp_path: Path) -> None:
    arguments = [
        *("link", str(places["corpus"]), "-t", str(places["ontology"])),
        *("-e", f"own={places['vectors']}", "-o", str(tmp_path / "out")),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert re.search(r"levenshtein\s+\d+\.\d \[\d+\.\d, \d+\.\d\]", result.output)


def test_the_baselines_are_scored_without_an_embedding(
    linked: medsim.Linking, places: dict[str, Path], tmp_path: Path
) -> None:
    arguments = ["link", str(places["corpus"]), "-t", str(places["ontology"])]
    result = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "out")])

    assert result.exit_code == 0, result.output
    scores = medsim.Linking(tmp_path / "out").results()
    assert_frame_equal(scores, linked.results().filter(pl.col("model") != "own"))
