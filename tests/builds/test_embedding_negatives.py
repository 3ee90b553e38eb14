"""Builds with embedding negatives: comparison with an oracle, verification and options."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.builds import alter, nearest_made_far, pairs_of, row_replaced
from fixtures.embeddings import write_text
from fixtures.program import program
from fixtures.release import edge_release, random_release
from oracles import pairs as oracle
from oracles.hashing import term_hash, tie_hash

import medsim
from medsim.core.config import STRATEGIES
from medsim.core.errors import InputError, OptionError

pytestmark = pytest.mark.slow

RELEASES = {"edge": edge_release, "random": lambda: random_release(20, 60)}
SEED = 3
PATIENCE = 120  # seconds to wait for a condition before a test fails
FIRST = "pairs/dataset=possibly_equivalent_to/difficulty=easy/negatives=embedding/data.parquet"
SET = "pairs/dataset=syn_syn/difficulty=hard/negatives=embedding/data.parquet"


def vector_of(term: str) -> list[float] | None:
    """Return an invented vector; many tie, some are scaled, and an eighth of terms have none."""
    word = term_hash(term)
    if word % 8 == 0:
        return None
    scale = (0.5, 1.0, 1.0, 3.0)[(word >> 40) % 4]
    return [scale * (float((word >> (8 * at + 3)) % 3) - 1) for at in range(4)]


def write_vectors(path: Path, vectors: Mapping[str, Sequence[float] | None]) -> Path:
    present = {term: vector for term, vector in sorted(vectors.items()) if vector is not None}
    schema = {"term": pl.String, "vector": pl.List(pl.Float32)}
    pl.DataFrame([list(present), list(present.values())], schema=schema).write_parquet(path)
    return path


@pytest.fixture(scope="module", params=RELEASES, ids=str)
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("embedding")
    RELEASES[request.param]().write_folder(folder / "release", "Full")
    rows = oracle.read_release(folder / "release")
    pool = oracle.terminology_pool(rows)
    vectors = {term: vector_of(term) for term in pool}
    write_vectors(folder / "terms.parquet", vectors)
    # A zero vector counts as no vector; there are some.
    vectors = {term: vector if any(vector or ()) else None for term, vector in vectors.items()}
    return folder, oracle.positive_sets(oracle.positives(rows)), pool, vectors


def built(folder: Path, out: Path, pool: str) -> medsim.Build:
    return medsim.build(
        folder / "release",
        out,
        pool=pool,
        seed=SEED,
        negatives=["embedding"],
        embedding=f"own={folder / 'terms.parquet'},case=keep",
    )


@pytest.fixture(scope="module")
def set_build(release) -> medsim.Build:
    """A build where each set draws negatives from its own terms."""
    return built(release[0], release[0] / "sets", "set")


@pytest.mark.some(2)
@pytest.mark.parametrize("pool", ["set", "terminology"])
def test_embedding_negatives_are_the_most_similar_allowed_terms(
    release, set_build: medsim.Build, tmp_path: Path, pool: str
) -> None:
    folder, positives, terms, vectors = release
    shared = terms if pool == "terminology" else None

    build = set_build if pool == "set" else built(folder, tmp_path / "out", pool)

    expected = oracle.greedy_nearest(
        positives, lambda *pair: tie_hash(SEED, *pair), shared, oracle.farness(vectors)
    )
    actual = pairs_of(build, 0, "embedding")
    assert actual == {key: sorted(pairs) for key, pairs in expected.items()}
    n_missing = {key: len(positives[key]) - len(actual[key]) for key in actual}
    stats = build.stats().select("dataset", "difficulty", "shortfall")
    assert {row[:2]: row[2] for row in stats.iter_rows()} == n_missing
    assert build.manifest.shortfall == sum(n_missing.values())
    assert medsim.verify(build.folder, sample="all").findings["violations"].sum() == 0


def test_similarities_are_cosines_and_distances_are_levenshtein_distances(
    release, set_build: medsim.Build
) -> None:
    _, _, _, vectors = release

    pairs = set_build.pairs()
    assert pairs.columns[7] == "similarity"
    assert pairs.schema["similarity"] == pl.Float32
    for row in pairs.iter_rows(named=True):
        assert row["distance"] == oracle.lower_distance(row["term1"], row["term2"])
        a, b = vectors[row["term1"]], vectors[row["term2"]]
        expected = None if a is None or b is None else oracle.cosine(a, b)
        assert row["similarity"] == expected
    assert pairs.filter(pl.col("label") == 0)["similarity"].null_count() == 0
    used = {text for side in ("term1", "term2") for text in pairs[side]}
    firsts = set(pairs.filter(pl.col("label") == 1)["term1"])
    skipped = {entry["reason"]: entry["n_rows"] for entry in set_build.manifest.skipped}
    for said, affected in (("not a candidate", used), ("gets no embedding negatives", firsts)):
        (n_rows,) = (n for reason, n in skipped.items() if said in reason)
        assert n_rows == sum(vectors[term] is None for term in affected)
    assert any("have no vector in own" in warning for warning in set_build.manifest.warnings)


@pytest.fixture(scope="module")
def words(
    tmp_path_factory: pytest.TempPathFactory, shared_release: Path, shared_build: medsim.Build
) -> Path:
    """A folder with a release and vectors of most of its words."""
    folder = tmp_path_factory.mktemp("words")
    shutil.copy(shared_release, folder)
    rows = shared_build.table("description").collect()
    draw = np.random.default_rng(1)
    named = sorted({word for term in rows["term"] for word in term.lower().split()})
    vectors = {word: draw.integers(-2, 3, 5).astype(float).tolist() for word in named[::2]}
    write_text(folder / "words.vec", vectors, header=True)
    return folder


@pytest.fixture(scope="module")
def complete(words: Path) -> medsim.Build:
    """A build with all strategies, made by one thread."""
    return medsim.build(
        words / "release.zip",
        words / "every",
        negatives=["embedding", "random", "levenshtein"],
        embedding=f"own={words / 'words.vec'}",
        threads=1,
    )


def test_other_strategies_do_not_change_rows(shared_build: medsim.Build, complete) -> None:
    plain = shared_build.manifest
    names = [stage["name"] for stage in complete.manifest.stages]
    sets = [name.rsplit("/", 1)[1] for name in names if name.startswith("make")]

    made = [name for name in STRATEGIES if name != "minimal"]
    assert complete.manifest.options["strategies"] == made == list(complete.strategies)
    assert sets == sorted(sets, key=STRATEGIES.index)
    assert "embedding" not in plain.options
    assert plain.options["strategies"] == ["random", "levenshtein"]
    for name, output in plain.tables.items():
        assert name == "stats.parquet" or complete.manifest.outputs[name] == output
    assert complete.stats().height == 30


def test_similarity_is_null_in_other_sets_and_no_column_without_embedding_negatives(
    shared_build: medsim.Build, complete
) -> None:
    plain = shared_build
    n_known = "select negatives, count(similarity) > 0 as known from pair group by negatives"

    assert sorted(complete.sql(n_known).rows()) == [
        ("embedding", True),
        ("levenshtein", False),
        ("random", False),
    ]
    pairs = complete.pairs()
    assert pairs.height == complete.sql("from pair select count(*)").item()
    assert pairs.filter(pl.col("negatives") != "embedding")["similarity"].null_count() > 0
    assert "similarity" not in complete.pairs(negatives="random").collect_schema()
    assert "similarity" not in plain.pairs().collect_schema()
    with pytest.raises(medsim.MedsimError, match="similarity"):
        plain.sql("select similarity from pair")
    with pytest.raises(medsim.MedsimError, match=r"'embedding'.*known: random, levenshtein"):
        plain.pairs(negatives="embedding")


def test_the_manifest_records_the_embedding_and_separately_its_path(complete, words) -> None:
    manifest = complete.manifest

    named = manifest.options["embedding"]
    assert (named["name"], named["options"]) == ("own", {})
    assert len(named["fingerprint"]) == 64
    assert manifest.embedding == {"path": str(words / "words.vec"), "format": "word2vec-text"}
    for path in complete.folder.rglob("*.parquet"):
        metadata = pl.read_parquet_metadata(path)
        assert json.loads(metadata["options"])["embedding"] == named
        assert str(words) not in str(metadata)


# What fits together


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"negatives": ["embedding"]}, "need each other; add the other one"),
        ({"embedding": "own=x.vec"}, "need each other; add the other one"),
        ({"negatives": ["embeding"], "embedding": "own=x"}, "did you mean embedding"),
        ({"negatives": ["random", "random"]}, "each only once"),
        ({"negatives": []}, "one or more of random, levenshtein, embedding"),
        ({"negatives": ["random"], "dask": "local"}, "`dask` is for Levenshtein negatives"),
        ({"negatives": ["embedding"], "embedding": "x.vec"}, "is not NAME=PATH"),
        ({"negatives": ["embedding"], "embedding": "own=no.vec"}, "no.vec does not exist"),
    ],
)
def test_errors_for_conflicting_options_say_how_to_fix_them(
    words: Path, tmp_path: Path, options, says: str
) -> None:
    with pytest.raises(medsim.MedsimError, match=says):
        medsim.build(words / "release.zip", tmp_path / "out", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("negatives", "says"),
    [
        (["levenshtein", "embedding"], "is not for embedding negatives; build them in one piece"),
        (["random"], "`shard` is for Levenshtein negatives"),
    ],
)
def test_shards_are_only_for_levenshtein_negatives(
    words: Path, tmp_path: Path, negatives: list[str], says: str
) -> None:
    with pytest.raises(medsim.MedsimError, match=says):
        medsim.build_shard(
            words / "release.zip", tmp_path / "out", shard="1/2", negatives=negatives
        )


# Verification


def make_embedding_build(words: Path, out: Path) -> Path:
    """Make a build with only embedding negatives, and an embedding beside it."""
    shutil.copy(words / "words.vec", out.with_suffix(".vec"))
    medsim.build(
        words / "release.zip",
        out,
        negatives=["embedding"],
        embedding=f"own={out.with_suffix('.vec')},coverage=all",
    )
    return out


@pytest.fixture(scope="module")
def pristine(words: Path) -> Path:
    out = make_embedding_build(words, words / "pristine")
    assert medsim.verify(out, sample="all").holds
    return out


def with_a_farther_negative(pairs: pl.DataFrame) -> pl.DataFrame:
    return nearest_made_far(pairs, -pl.col("similarity"))


def with_a_negative_too_few(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(pl.int_range(pairs.height) != pairs["label"].index_of(0))


def with_another_similarity(pairs: pl.DataFrame) -> pl.DataFrame:
    at = pairs["similarity"].is_not_null().arg_max()
    return row_replaced(pairs, at, similarity=pairs["similarity"][at] - 0.00001)


def with_a_similarity_of_nothing(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.with_columns(pl.col("similarity").fill_null(0.5))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (with_a_farther_negative, {"most_similar", "similarities", "rows"}),
        (with_a_negative_too_few, {"most_similar"}),
        (with_another_similarity, {"similarities"}),
        (with_a_similarity_of_nothing, {"similarities"}),
    ],
)
def test_verification_finds_changes(
    pristine: Path, tmp_path: Path, change, expected: set[str]
) -> None:
    shutil.copytree(pristine, tmp_path / "copy")
    alter(tmp_path / "copy", SET, change)

    broken = set(medsim.verify(tmp_path / "copy", sample="all").broken)

    assert expected <= broken
    assert "fingerprint" not in broken


@pytest.mark.full
def test_a_moved_embedding_is_given_again(words: Path, tmp_path: Path) -> None:
    out = make_embedding_build(words, tmp_path / "out")
    moved = (tmp_path / "out.vec").rename(tmp_path / "moved.vec")

    with pytest.raises(medsim.MedsimError, match=r"out.vec, the .* with `embedding` own="):
        medsim.verify(out)
    assert medsim.verify(out, embedding=f"own={moved}").holds
    assert medsim.verify(out, embedding=f"own={moved},coverage=all").holds
    with pytest.raises(medsim.MedsimError, match="of the build is named 'own'"):
        medsim.verify(out, embedding=f"other={moved}")
    with pytest.raises(medsim.MedsimError, match=r"case=lower, but .* read it with its"):
        medsim.verify(out, embedding=f"own={moved},case=lower")


def test_a_different_embedding_is_rejected(
    words: Path, shared_build: medsim.Build, tmp_path: Path
) -> None:
    out = make_embedding_build(words, tmp_path / "out")
    with (tmp_path / "out.vec").open("a") as file:
        file.write("\n")

    with pytest.raises(medsim.MedsimError, match="is not the embedding that the build was made"):
        medsim.verify(out)
    with pytest.raises(medsim.MedsimError, match="has no embedding negatives"):
        medsim.verify(shared_build.folder, embedding=f"own={words / 'words.vec'}")


# Interruption


@pytest.mark.full
def test_a_killed_build_resumes_only_with_the_same_embedding(tmp_path: Path) -> None:
    source = tmp_path / "release.zip"
    medsim.synth(source, concepts=600, seed=1)
    with zipfile.ZipFile(source) as release:
        name = next(name for name in release.namelist() if "sct2_Description_Full-en" in name)
        terms = pl.read_csv(release.read(name), separator="\t", quote_char=None)["term"]
    draw = np.random.default_rng(2)
    named = sorted({word for term in terms for word in term.lower().split()})
    vectors = {word: draw.integers(-9, 10, 8).astype(float).tolist() for word in named}
    text = write_text(tmp_path / "words.vec", vectors, header=True)
    options = {"negatives": ["embedding"], "embedding": f"own={text}"}
    undisturbed = medsim.build(source, tmp_path / "undisturbed", **options)
    out = tmp_path / "out"
    job = tmp_path / ".out.unfinished" / "job.json"
    command = [program(), "build", str(source), "-o", str(out)]
    command += ["--negatives", "embedding", "--embedding", f"own={text}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and not (job.exists() and FIRST in job.read_text()):
        assert time.monotonic() < deadline, "the first set never came"
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert not out.exists()
    shutil.copytree(tmp_path / ".out.unfinished", tmp_path / ".other.unfinished")

    progress = medsim.Progress()
    lines: list[str] = []
    progress.say = lines.append  # type: ignore[method-assign]
    build = medsim.build(source, out, progress=progress, **options)
    assert build.manifest.outputs == undisturbed.manifest.outputs
    assert any("take over possibly_equivalent_to/easy/embedding" in line for line in lines)

    vectors[named[0]] = [1.0] * 8
    write_text(text, vectors, header=True)
    lines.clear()
    other = medsim.build(source, tmp_path / "other", progress=progress, **options)
    assert not any("take over" in line for line in lines)
    assert other.manifest.options != build.manifest.options


def vectors_of(texts: Sequence[str]) -> np.ndarray:
    """Return vectors of terms with few ties: float64[n, 4]."""
    rows = [[1 + (term_hash(text) >> shift) % 251 for shift in (0, 8, 16, 24)] for text in texts]
    return np.array(rows, float) - 120


def build_with(release: Path, out: Path, embedding: object) -> medsim.Build:
    return medsim.build(
        release, out, negatives=["embedding"], embedding=embedding, cache="none", threads=1
    )


@pytest.fixture(scope="module")
def function_build(shared_release: Path, tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    return build_with(shared_release, tmp_path_factory.mktemp("object") / "out", vectors_of)


@pytest.mark.full
def test_a_function_gives_the_same_negatives_as_its_vectors(
    shared_release: Path, function_build: medsim.Build, tmp_path: Path
) -> None:
    terms = sorted(set(function_build.sql("select unnest([term1, term2]) as t from pair")["t"]))
    table = medsim.Embedding(vectors_of(terms), terms=terms, case="keep")

    build = build_with(shared_release, tmp_path / "out", table)

    assert build.pairs().equals(function_build.pairs())
    about = {"path": "Python function vectors_of", "format": "python"}
    assert function_build.manifest.embedding == {**about, "identity": "hash of the vectors used"}
    assert function_build.manifest.options["embedding"]["name"] == "embedding"


def test_a_build_from_an_object_is_verified_only_with_that_object(
    function_build: medsim.Build,
) -> None:
    assert medsim.verify(function_build, embedding=vectors_of, sample=5, threads=1).holds
    with pytest.raises(InputError, match="negatives was a Python object, 'embedding'"):
        medsim.verify(function_build)
    with pytest.raises(InputError, match="is not the embedding that the build was made with"):
        medsim.verify(function_build, embedding=lambda texts: vectors_of(texts) ** 3)
    with pytest.raises(OptionError, match="the embedding of the build is named 'embedding'"):
        medsim.verify(function_build, embedding=medsim.Embedding(vectors_of, name="mine"))


def test_a_version_identifies_an_object_and_wrong_vectors_are_found(
    shared_release: Path, tmp_path: Path
) -> None:
    embedding = medsim.Embedding(vectors_of, name="mine", version="1")
    build = build_with(shared_release, tmp_path / "out", embedding)

    assert medsim.verify(build, embedding=embedding, sample=5, cache="none").holds
    other = medsim.Embedding(lambda texts: vectors_of(texts) ** 3, version="1")
    result = medsim.verify(build, embedding=other, sample=5, cache="none")
    assert "similarities" in result.broken
    with pytest.raises(InputError, match="is not the embedding"):
        medsim.verify(build, embedding=medsim.Embedding(vectors_of, version="2"))


@pytest.mark.full
def test_an_interrupted_build_from_an_object_resumes(
    shared_release: Path, tmp_path: Path, function_build: medsim.Build, monkeypatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("medsim.builds.build.CheckedPairs.findings", stopped)
        with pytest.raises(KeyboardInterrupt):
            build_with(shared_release, tmp_path / "out", vectors_of)
    unfinished = tmp_path / ".out.unfinished" / SET
    written = unfinished.stat().st_mtime_ns

    build = build_with(shared_release, tmp_path / "out", vectors_of)

    assert (build.folder / SET).stat().st_mtime_ns == written
    assert build.pairs().equals(function_build.pairs())
