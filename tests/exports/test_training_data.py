"""Training data compared with a plain reader of the build's files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import networkx as nx
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml
from fixtures.release import Release, small_release
from oracles.hashing import term_hash, tie_hash
from oracles.pairs import farness
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.core.errors import OptionError
from medsim.exports import formats, pairs
from medsim.exports.formats import EXPORT_FORMATS, sentence_transformers

Pair = dict[str, object]
TUPLE, PAIR, LABELLED = (
    f"{config}/train-00000-of-00001.parquet" for config in ("n-tuple", "pair", "pair-class")
)


def pairs_in(build: medsim.Build, strategy: str = "*", sets: str = "*") -> list[Pair]:
    """Return the rows of the pairs files, read only with Arrow."""
    pattern = f"dataset={sets}/difficulty=*/negatives={strategy}/data.parquet"
    return [
        row
        for path in sorted((build.folder / "pairs").glob(pattern))
        for row in pq.ParquetFile(path).read().to_pylist()
    ]


def unique_pairs(pairs: list[Pair], seed: int = 0) -> list[Pair]:
    """Return pairs once regardless of direction, in the order of an export."""
    first: dict[frozenset[object], Pair] = {}
    for row in sorted(pairs, key=lambda row: (row["term1"], row["term2"], row["concept1"])):
        first.setdefault(frozenset((row["term1"], row["term2"])), row)

    def place(row: Pair) -> str:
        return hashlib.md5(f"{seed} {row['pair_id']}".encode(), usedforsecurity=False).hexdigest()

    return sorted(first.values(), key=place)


def positives_in(build: medsim.Build, seed: int = 0, sets: str = "*") -> list[Pair]:
    return unique_pairs([row for row in pairs_in(build, sets=sets) if row["label"] == 1], seed)


def linked_terms(build: medsim.Build) -> nx.Graph:
    """Return a graph of the lower-cased terms of all pairs, linked by positives."""
    graph = nx.Graph()
    for row in pairs_in(build):
        first, second = str(row["term1"]).lower(), str(row["term2"]).lower()
        graph.add_nodes_from((first, second))
        if row["label"] == 1:
            graph.add_edge(first, second)
    return graph


def unlinked_terms(build: medsim.Build) -> dict[str, list[str]]:
    """Return for each anchor the terms that no chain of positives links to it."""
    graph = linked_terms(build)
    number = {
        term: at for at, linked in enumerate(nx.connected_components(graph)) for term in linked
    }
    terms = {str(row[side]) for row in pairs_in(build) for side in ("term1", "term2")}
    return {
        anchor: [term for term in terms if number[term.lower()] != number[anchor.lower()]]
        for anchor in {str(row["term1"]) for row in positives_in(build)}
    }


def nearest(anchor: str, others: list[str], n_wanted: int, seed: int) -> list[str]:
    def place(term: str) -> tuple[int, int, str]:
        distance = Levenshtein.distance(anchor.lower(), term.lower())
        return distance, tie_hash(seed, anchor, term), term

    return sorted(others, key=place)[:n_wanted]


def rows_of(export: medsim.Exported, path: str) -> list[tuple[object, ...]]:
    return export.read(path).rows()


@pytest.fixture(scope="module")
def exported(shared_build: medsim.Build, tmp_path_factory: pytest.TempPathFactory):
    """An export of Levenshtein negatives with its own seed."""
    out = tmp_path_factory.mktemp("training") / "out"
    return medsim.export(shared_build, out, "sentence-transformers", n_negatives=3, seed=4)


def test_positives_and_labelled_pairs_are_written_once_in_hash_order(
    shared_build: medsim.Build, exported: medsim.Exported
) -> None:
    of_strategy = unique_pairs(pairs_in(shared_build, "levenshtein"), seed=4)
    positives = [(row["term1"], row["term2"]) for row in of_strategy if row["label"] == 1]

    assert rows_of(exported, PAIR) == positives
    assert len(positives) > 100
    assert rows_of(exported, LABELLED) == [
        (row["term1"], row["term2"], row["label"]) for row in of_strategy
    ]


def test_negatives_are_the_nearest_unlinked_terms(
    shared_build: medsim.Build, exported: medsim.Exported
) -> None:
    others = unlinked_terms(shared_build)
    expected = {anchor: nearest(anchor, terms, 3, 4) for anchor, terms in others.items()}

    rows = exported.read(TUPLE)

    assert rows.columns == ["anchor", "positive", "negative_1", "negative_2", "negative_3"]
    assert [row[:2] for row in rows.rows()] == rows_of(exported, PAIR)
    assert [list(row[2:]) for row in rows.rows()] == [expected[row[0]] for row in rows.rows()]


def test_random_negatives_are_distinct_unlinked_and_drawn_for_each_positive(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    others = {anchor: set(terms) for anchor, terms in unlinked_terms(shared_build).items()}

    export = medsim.export(
        shared_build, tmp_path / "out", "sentence-transformers", negatives="random", n_negatives=4
    )

    rows = rows_of(export, TUPLE)
    assert [row[:2] for row in rows] == rows_of(export, PAIR)
    assert all(len(set(row[2:])) == 4 for row in rows)
    assert all(others[str(row[0])].issuperset(row[2:]) for row in rows)
    assert len({row[2:] for row in rows}) > 0.99 * len(rows)


@pytest.mark.some(1)
@pytest.mark.parametrize("tool", ["sentence-transformers", "sapbert", "jsonl"])
def test_files_depend_on_the_seed_but_not_on_threads_or_batches(
    shared_build: medsim.Build, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(name: str, seed: int, threads: int) -> dict[str, object]:
        export = medsim.export(shared_build, tmp_path / name, tool, seed=seed, threads=threads)
        return {
            path: output for path, output in export.manifest.outputs.items() if path != "README.md"
        }

    first = files("one", 0, 1)
    assert files("two", 0, 2) == first
    assert not set(map(str, files("other", 1, 1).values())) & set(map(str, first.values()))
    if tool == "jsonl":
        monkeypatch.setattr(pairs, "_TEXTS_AT_ONCE", 100)
        assert files("batches", 0, 1) == first


def test_many_rows_are_written_to_several_files_in_order(
    shared_build: medsim.Build,
    exported: medsim.Exported,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(formats, "MAX_ROWS", 30)
    monkeypatch.setattr(sentence_transformers, "_ROWS_AT_ONCE", 20)
    monkeypatch.setattr(pairs, "_TEXTS_AT_ONCE", 60)

    cut = medsim.export(
        shared_build, tmp_path / "out", "sentence-transformers", n_negatives=3, seed=4
    )

    for whole in (TUPLE, PAIR, LABELLED):
        config = whole.partition("/")[0]
        names = sorted(path for path in cut.manifest.outputs if path.startswith(f"{config}/"))
        frames = [cut.read(name) for name in names]
        assert names[-1].endswith(f"-{len(names) - 1:05d}-of-{len(names):05d}.parquet")
        assert [frame.height for frame in frames[:-1]] == [30] * (len(frames) - 1)
        assert len(frames) > 3
        assert pl.concat(frames).equals(exported.read(whole))


def test_the_header_of_the_readme_lists_every_configuration(exported: medsim.Exported) -> None:
    head = (exported.folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]

    names = ["pair", "pair-class", "n-tuple"]
    assert yaml.safe_load(head)["configs"] == [
        {
            "config_name": name,
            "data_files": [{"split": "train", "path": f"{name}/train-*"}],
            **({"default": True} if name == "n-tuple" else {}),
        }
        for name in names
    ]


def test_json_lines_have_the_keys_of_flagembedding(
    shared_build: medsim.Build, exported: medsim.Exported, tmp_path: Path
) -> None:
    export = medsim.export(shared_build, tmp_path / "out", "jsonl", n_negatives=3, seed=4)

    lines = (export.folder / "train.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["query"], *row["pos"], *row["neg"]) for row in rows] == rows_of(exported, TUPLE)
    beside = ("pair_id", "concept1", "concept2", "distance")
    assert [[row[key] for key in beside] for row in rows] == [
        [row[key] for key in beside] for row in positives_in(shared_build, seed=4)
    ]
    assert {tuple(row) for row in rows} == {("query", "pos", "neg", *beside)}


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["jsonl", "sapbert", "sentence-transformers", "huggingface"])
def test_a_single_split_is_exported_under_its_name(
    shared_splits: medsim.Splits, tmp_path: Path, tool: str
) -> None:
    options = {"private": True} if tool == "huggingface" else {}
    export = medsim.export(shared_splits["test"], tmp_path / "out", tool, **options)

    names = export.files()["file"].to_list()
    assert names
    assert not [name for name in names if "train" in name]
    assert [name for name in names if "test" in name]


def test_sapbert_has_a_line_for_each_pair_of_names_of_a_concept(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    export = medsim.export(shared_build, tmp_path / "out", "sapbert")

    lines = []
    with (export.folder / "train.txt").open(encoding="utf-8") as file:
        for line in file:  # as SapBERT reads it
            concept_id, name1, name2 = line.rstrip("\n").split("||")
            lines.append((concept_id, name1, name2))
    positives = positives_in(shared_build)
    same = [row for row in positives if row["concept1"] == row["concept2"]]
    assert lines == [(row["concept1"], row["term1"], row["term2"]) for row in same]
    assert export.manifest.skipped == [
        {"reason": "names of two concepts", "n_rows": len(positives) - len(same)}
    ]


@pytest.fixture(scope="module")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A build of few concepts, with names that have bars or letters of other scripts."""
    folder = tmp_path_factory.mktemp("awkward")
    release = Release()
    release.named("100005", "Zabi (disorder)", "Za||bi", "Zabi|", "|zabi", "Ζάβι é \U0001d4b3")
    release.named("200005", "Puru (disorder)", "Poro")
    release.write_folder(folder / "release", "Full")
    return medsim.build(folder / "release", folder / "build", negatives=["random"])


def test_names_with_bars_are_left_out_and_counted(awkward: medsim.Build, tmp_path: Path) -> None:
    export = medsim.export(awkward, tmp_path / "out", "sapbert")

    positives = [
        (str(row["concept1"]), str(row["term1"]), str(row["term2"]))
        for row in positives_in(awkward)
    ]
    expected = [row for row in positives if tuple("||".join(row).split("||")) == row]
    lines = (export.folder / "train.txt").read_text(encoding="utf-8").splitlines()
    assert [tuple(line.split("||")) for line in lines] == expected
    assert {("100005", "Zabi", "Zabi|"), ("100005", "Zabi", "|zabi")}.issubset(expected)
    n_cut = len(positives) - len(expected)
    assert n_cut > 4
    reason = "a name or an id with || or a line break"
    assert export.manifest.skipped == [{"reason": reason, "n_rows": n_cut}]


def test_positives_with_too_few_unlinked_terms_are_left_out_and_counted(
    awkward: medsim.Build, tmp_path: Path
) -> None:
    export = medsim.export(awkward, tmp_path / "out", "jsonl", n_negatives=3)

    (line,) = (export.folder / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["query"] == "Puru"
    assert export.manifest.skipped == [
        {"reason": "anchor has fewer than 3 unlinked terms", "n_rows": 10}
    ]
    (warning,) = export.manifest.warnings
    left_out = "10 positives of 11 left out: anchor has fewer than 3"
    assert warning.startswith(f"{awkward.folder}: {left_out}")


def test_missing_strategies_are_reported(awkward: medsim.Build, tmp_path: Path) -> None:
    export = medsim.export(awkward, tmp_path / "out", "sentence-transformers", n_negatives=0)

    assert set(export.manifest.outputs) == {PAIR, "README.md"}
    (warning,) = export.manifest.warnings
    assert "has no levenshtein negatives, so pair-class is left out" in warning
    lines = medsim.export(awkward, tmp_path / "lines", "jsonl", n_negatives=0).folder
    text = (lines / "train.jsonl").read_text(encoding="utf-8")
    assert '"Ζάβι é \U0001d4b3"' in text
    assert {tuple(json.loads(line)["neg"]) for line in text.splitlines()} == {()}


@pytest.mark.parametrize(
    ("tool", "options", "message"),
    [
        ("jsonl", {"negatives": "embedding"}, "has no embedding for `negatives` embedding"),
        ("jsonl", {"embedding": "one=nowhere"}, "`embedding` needs `negatives` embedding"),
        ("sapbert", {"negatives": "random"}, "`negatives` does not apply to exports for sapbert"),
        ("sentence-transformers", {"datasets": ["same_as"]}, "no positives for these `datasets`"),
        ("jsonl", {"datasets": ["same_as"]}, "no positives for these `datasets`"),
        ("sapbert", {"datasets": ["same_as"]}, "no positives for these `datasets`"),
    ],
)
def test_impossible_exports_are_rejected(
    awkward: medsim.Build, tmp_path: Path, tool: str, options: dict, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        medsim.export(awkward, tmp_path / "out", tool, **options)


def test_datasets_and_difficulty_choose_the_positives_but_not_the_candidates(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    export = medsim.export(
        shared_build,
        tmp_path / "out",
        "sentence-transformers",
        datasets=["fsn_syn"],
        difficulty="hard",
        n_negatives=1,
    )

    chosen = {
        (row["term1"], row["term2"])
        for row in pairs_in(shared_build, sets="fsn_syn")
        if row["label"] == 1 and int(str(row["distance"])) > 5
    }
    others = unlinked_terms(shared_build)
    assert set(rows_of(export, PAIR)) == chosen
    assert len(chosen) > 20
    assert [row[2] for row in rows_of(export, TUPLE)] == [
        nearest(str(row[0]), others[str(row[0])], 1, 0)[0] for row in rows_of(export, TUPLE)
    ]


def test_each_split_has_its_own_files_and_candidates(
    shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    export = medsim.export(shared_splits, tmp_path / "out", "sentence-transformers", n_negatives=2)

    head = (export.folder / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    files = yaml.safe_load(head)["configs"][-1]["data_files"]
    earlier: set[str] = set()
    for split, build in shared_splits.builds.items():
        others = unlinked_terms(build)
        rows = rows_of(export, TUPLE.replace("train", split))
        assert [row[:2] for row in rows] == [
            (row["term1"], row["term2"]) for row in positives_in(build)
        ]
        assert [list(row[2:]) for row in rows] == [
            nearest(str(row[0]), others[str(row[0])], 2, 0) for row in rows
        ]
        terms = {str(term).lower() for row in rows for term in row}
        assert not terms & earlier
        earlier |= terms
        assert {"split": split, "path": f"n-tuple/{split}-*"} in files


def test_every_module_of_the_formats_registers_the_tool_of_its_name() -> None:
    assert EXPORT_FORMATS.names() == list(EXPORT_FORMATS.all())


def vector_of(term: str) -> list[float] | None:
    """Return an invented vector; many tie, and an eighth of the terms have none."""
    word = term_hash(term)
    return [float((word >> (8 * at + 3)) % 3) - 1 for at in range(4)] if word % 8 else None


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A build with negatives from an embedding of its exact terms."""
    folder = tmp_path_factory.mktemp("embedded")
    small_release().write_folder(folder / "release", "Full")
    plain = medsim.build(folder / "release", folder / "plain", negatives=["random"])
    vectors = {term: vector_of(term) for term in plain.terms()["term"]}
    rows = [(term, vector) for term, vector in vectors.items() if vector is not None]
    schema = {"term": pl.String, "vector": pl.List(pl.Float32)}
    pl.DataFrame(rows, schema, orient="row").write_parquet(folder / "terms.parquet")
    spec = f"own={folder / 'terms.parquet'},case=keep"
    options = {"negatives": ["embedding"], "embedding": spec}
    return medsim.build(folder / "release", folder / "build", **options)


@pytest.mark.slow
def test_negatives_by_an_embedding_are_the_most_similar_unlinked_terms(
    embedded: medsim.Build, tmp_path: Path
) -> None:
    options = {"negatives": "embedding", "n_negatives": 4, "cache": "none"}
    export = medsim.export(embedded, tmp_path / "out", "sentence-transformers", **options)

    terms = embedded.terms()
    component = dict(terms.select("term", "component").iter_rows())
    distance = farness({term: vector_of(term) for term in component})
    expected, n_unknown, n_few = {}, 0, 0
    for anchor, positive in export.read(PAIR).rows():
        ranked = sorted(
            (far, tie_hash(0, anchor, term), term)
            for term in component
            if component[term] != component[anchor]
            if (far := distance(anchor, term)) is not None
        )
        n_unknown += vector_of(anchor) is None
        n_few += vector_of(anchor) is not None and len(ranked) < 4
        if len(ranked) >= 4:
            expected[anchor, positive] = [term for _, _, term in ranked[:4]]
    rows = export.read(TUPLE).rows()
    assert [list(row[2:]) for row in rows] == list(expected.values())
    assert [row[:2] for row in rows] == list(expected)
    assert export.manifest.skipped == [{"reason": "anchor has no vector", "n_rows": n_unknown}]
    assert n_unknown > 0 == n_few
