"""Category separation of a build under word embeddings, against loops over triples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fixtures.categories import WORDS, categorised_release
from fixtures.embeddings import write_words
from oracles.metrics import METRICS as TWINS

import medsim
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.core.output import claimed
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import EmbeddedTerms, NamedEmbedding, embed_terms, open_source
from medsim.embeddings.metrics import METRICS, Metric, WordBags, Workers, metrics_of
from medsim.embeddings.options import parse_embedding
from medsim.evaluations import separation as module
from medsim.evaluations.conclusions import best_and_worst, errors_of, overall_errors
from medsim.evaluations.options import EvaluateOptions
from medsim.evaluations.output import EVALUATION, SEPARATED, SEPARATION, path_of
from medsim.evaluations.readable import readable
from medsim.evaluations.run import Run
from medsim.evaluations.separation import (
    Separation,
    separation,
    separation_tables,
    write_separation,
)
from medsim.evaluations.targets import Categories, categories_of

Found = tuple[dict[tuple[int, int], tuple[int, int]], dict[tuple[int, int], float]]


def by_triples(similarities: np.ndarray, categories: list[list[int]]) -> Found:
    """Return triples and errors, and mean similarities, of every two categories."""
    counts, means = {}, {}
    for x, y in product(range(len(categories)), repeat=2):
        own, other = categories[x], categories[y]
        if x == y:
            pairs = list(combinations(own, 2))
        else:
            pairs = list(product(own, other))
            triples = [(a, b, c) for a in own for b in own if b != a for c in other]
            errors = sum(similarities[a, b] <= similarities[a, c] for a, b, c in triples)
            counts[x, y] = len(triples), int(errors)
        values = [float(similarities[pair]) for pair in pairs]
        means[x, y] = sum(values) / len(values) if values else np.nan
    return counts, means


def symmetric(n_terms: int, steps: int, seed: int) -> np.ndarray:
    """Similarities of few steps tie often."""
    drawn = np.random.default_rng(seed).integers(0, steps, (n_terms, n_terms))
    return ((drawn + drawn.T) / (2 * steps)).astype(np.float32)


def separated(
    similarities: np.ndarray, sizes: list[int], threads: int = 1, *, near: bool = False
) -> Separation:
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    workers = Workers(threads=threads)
    return separation(lambda part: similarities[part].copy(), starts, workers, near=near)


@pytest.mark.parametrize("steps", [1, 4, 10**6])
@pytest.mark.parametrize("sizes", [[5, 7, 6], [9, 1], [2, 3, 4, 5], [0, 4, 3], [1, 1]])
@pytest.mark.parametrize("n_values", [1, 40, 1 << 24])
def test_the_error_is_that_of_a_loop_over_triples(
    sizes: list[int], steps: int, n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", n_values)
    similarities = symmetric(sum(sizes), steps, seed=len(sizes) + steps)
    ends = np.cumsum(sizes)
    categories = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]

    found = separated(similarities, sizes)

    counts, means = by_triples(similarities, categories)
    for (x, y), (n_triples, n_errors) in counts.items():
        assert (found.n_triples[x, y], found.n_errors[x, y]) == (n_triples, n_errors)
    for (x, y), mean in means.items():
        assert found.mean_similarity[x, y] == pytest.approx(mean, nan_ok=True)
    assert not found.n_triples.diagonal().any()
    assert not found.n_errors.diagonal().any()


@pytest.mark.parametrize("steps", [1, 4, 10**6])
@pytest.mark.parametrize("sizes", [[5, 7, 6], [3, 2, 4, 5], [1, 1, 1], [0, 4, 3], [4, 0, 3]])
@pytest.mark.parametrize("n_values", [1, 40, 1 << 24])
def test_the_error_of_near_categories_is_that_of_a_loop_over_triples(
    sizes: list[int], steps: int, n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", n_values)
    sim = symmetric(sum(sizes), steps, seed=len(sizes) + steps)
    first, second, *far = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    found = separated(sim, sizes, near=True)

    for at, others in enumerate(far, start=2):
        errors = [sum(int(sim[i, j] <= sim[i, k]) for j in second for k in others) for i in first]
        assert found.errors[: len(first), at].tolist() == errors
        assert found.n_errors[0, at] == sum(errors)
        assert found.n_triples[0, at] == len(first) * len(second) * len(others)
    for counts in (found.n_errors, found.n_triples):
        assert not counts[1:].any()
        assert not counts[:, :2].any()
    means = separated(sim, sizes).mean_similarity
    assert found.mean_similarity.tobytes() == means.tobytes()


def test_the_overlap_error_is_that_of_the_papers_formula() -> None:
    # Diagnostic procedures d1, d2; therapeutic t1, t2; organisms o1, o2, o3. Of the 12 triples
    # errors are, for d1: (t1, o2), since 0.4 <= 0.4, and (t1, o3), since 0.4 <= 0.7; for d2:
    # (t1, o1), (t1, o2) and (t2, o1), (t2, o2), since 0.1 and 0.2 <= 0.3 and 0.5. O = 6 / 12.
    across = [[0.4, 0.8, 0.3, 0.4, 0.7], [0.1, 0.2, 0.3, 0.5, 0.0]]
    similarities = np.ones((7, 7), np.float32)
    similarities[:2, 2:] = across
    similarities[2:, :2] = np.transpose(across)

    found = separated(similarities, [2, 2, 3], near=True)

    assert found.errors[:2, 2].tolist() == [2, 4]
    assert found.n_errors[0, 2] / found.n_triples[0, 2] == 6 / 12


def test_separation_depends_neither_on_threads_nor_on_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    similarities = symmetric(120, 50, seed=1)
    sizes = [50, 30, 40]
    one = separated(similarities, sizes)
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", 120 * 7)
    monkeypatch.setattr(module, "_ROWS_A_TASK", 2)
    many = separated(similarities, sizes, threads=5)
    assert one.n_errors.tolist() == many.n_errors.tolist()
    assert one.mean_similarity.tobytes() == many.mean_similarity.tobytes()


NEAR = 1e-6  # single precision moves a similarity by less
OF_WORDS = metrics_of(WordBags)
KINDS = ("avg_cos", "pair_kendall", "max_jaccard")
"""A metric of each family; test_similarities compares all with their twins."""


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> Categories:
    folder = tmp_path_factory.mktemp("separation")
    release = categorised_release(2, 60).write_zip(folder / "release.zip", "Snapshot")
    build = medsim.build(release, folder / "build", negatives=["random"])
    return replace(categories_of(build, None, 1), n_far=0)


@pytest.fixture(scope="module")
def has(categories: Categories, tmp_path_factory: pytest.TempPathFactory) -> EmbeddedTerms:
    """Terms as an embedding has them that knows most words; two of its words are one vector."""
    draw = np.random.default_rng(6)
    vectors = {word: draw.normal(size=7).round(3).tolist() for word in WORDS[:-2]}
    vectors["dar"] = vectors["bim"]
    path = tmp_path_factory.mktemp("embedding") / "words.vec"
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items()]
    path.write_text(f"{len(lines)} 7\n{''.join(lines)}")
    spec = parse_embedding(f"words={path}")
    named = NamedEmbedding(spec=spec, source=open_source(spec), fingerprint="")
    terms = sorted([*categories.terms(), "another term"])
    return embed_terms(named, terms, Progress(), threads=1, cache=None)


@contextmanager
def new_run(
    folder: Path, categories: Categories, progress: Progress | None = None
) -> Iterator[Run]:
    """Give the body a run with one build and one embedding, which has written nothing yet."""
    out = folder / "results"
    with claimed(out, EVALUATION, overwrite=False) as output:
        output.resume({})
        yield Run(
            options=EvaluateOptions("build", {"words": "words.vec"}, out, threads=2),
            inputs={"build": {"fingerprint": "", "categories": categories.provenance()}},
            embeddings={"words": {"fingerprint": "", "options": {}}},
            metadata={"medsim": ""},
            output=output,
            progress=progress or Progress(),
        )


def written(
    categories: Categories, has: EmbeddedTerms, folder: Path, metrics: dict[str, Metric] = OF_WORDS
) -> pl.DataFrame:
    """Return the table of all metrics."""
    with new_run(folder, categories) as run:
        write_separation(run, "build", categories, "words", has, metrics)
        return separation_tables(run, "build")["separation.parquet"]


@pytest.fixture(scope="module")
def table(
    categories: Categories, has: EmbeddedTerms, tmp_path_factory: pytest.TempPathFactory
) -> pl.DataFrame:
    return written(categories, has, tmp_path_factory.mktemp("written"))


def covered_terms(categories: Categories, has: EmbeddedTerms) -> dict[str, dict[str, np.ndarray]]:
    """Return the word vectors of every covered term, by category."""
    bags, rows = has.embedded, has.terms["term"].to_list()
    assert isinstance(bags, WordBags)
    of = {
        term: bags.vectors[bags.words[bags.starts[row] : bags.starts[row + 1]]]
        for row, term in enumerate(rows)
    }
    return {
        one.name: {term: of[term] for term in one.terms if len(of[term])}
        for one in categories.categories
    }


@pytest.fixture(scope="module")
def by_twin(
    categories: Categories, has: EmbeddedTerms
) -> Callable[[str], dict[tuple[str, str], float]]:
    """The similarity of any two covered terms under a metric, each computed once."""
    every = {
        term: vectors
        for some in covered_terms(categories, has).values()
        for term, vectors in some.items()
    }

    @cache
    def similarities(metric: str) -> dict[tuple[str, str], float]:
        found = {(a, b): TWINS[metric](every[a], every[b]) for a, b in combinations(every, 2)}
        own = {(a, a): TWINS[metric](every[a], every[a]) for a in every}
        return found | own | {(b, a): similarity for (a, b), similarity in found.items()}

    return similarities


@pytest.mark.parametrize("metric", KINDS)
def test_errors_and_means_are_those_of_a_loop_over_triples(
    metric: str, table: pl.DataFrame, categories: Categories, has: EmbeddedTerms, by_twin
) -> None:
    terms = covered_terms(categories, has)
    every = {term for some in terms.values() for term in some}
    sim = by_twin(metric)
    rows = {
        (row["category1"], row["category2"]): row
        for row in table.filter(metric=metric).iter_rows(named=True)
    }
    assert len(rows) == 10
    n_ties = 0
    for x, y in product(terms, repeat=2):
        row = rows[x, y]
        assert (row["n_terms1"], row["n_terms2"]) == (len(terms[x]), len(terms[y]))
        pairs = list(combinations(terms[x], 2)) if x == y else list(product(terms[x], terms[y]))
        mean = sum(sim[pair] for pair in pairs) / len(pairs)
        assert row["mean_similarity"] == pytest.approx(mean, abs=NEAR)
        if x == y:
            assert row["n_triples"] is row["n_errors"] is row["category_error"] is None
            continue
        triples = [
            (sim[a, b], sim[a, c]) for a in terms[x] for b in terms[x] if a != b for c in terms[y]
        ]
        inner, outer = np.array(triples).T
        errors = np.sum(inner - outer <= NEAR)
        n_ties += np.sum(abs(inner - outer) <= NEAR)
        # What is mathematically equal ties, but for zeros, of which rounding leaves different bits.
        zeros = np.sum(abs(inner) + abs(outer) <= NEAR)
        assert errors - zeros <= row["n_errors"] <= errors
        assert row["n_triples"] == len(triples)
        assert row["category_error"] == row["n_errors"] / len(triples)
    assert n_ties > 20
    across = [row for (x, y), row in rows.items() if x != y]
    overall = rows[None, None]
    assert overall["n_terms1"] == len(every)
    assert overall["n_triples"] == sum(row["n_triples"] for row in across)
    assert overall["n_errors"] == sum(row["n_errors"] for row in across)
    assert overall["category_error"] == overall["n_errors"] / overall["n_triples"]
    assert table["overlap_error"].null_count() == table.height
    assert overall["n_terms2"] is overall["mean_similarity"] is None


@pytest.mark.parametrize("metric", KINDS)
@pytest.mark.parametrize("n_far", [1, 2])
def test_the_overlap_error_is_that_of_a_loop_over_triples(
    metric: str, n_far: int, categories: Categories, has: EmbeddedTerms, by_twin, tmp_path: Path
) -> None:
    sim = by_twin(metric)
    parts = categories.categories
    if n_far == 2:  # the last category is cut in two
        half = len(parts[2].terms) // 2
        halves = (parts[2].terms[:half], parts[2].terms[half:])
        both = (replace(parts[2], name=f"far {at}", terms=t) for at, t in enumerate(halves))
        parts = (*parts[:2], *both)
    near = replace(categories, categories=parts, n_far=n_far)
    chosen = {metric: OF_WORDS[metric]}
    with new_run(tmp_path, near) as run:
        write_separation(run, "build", near, "words", has, chosen)
        rows = separation_tables(run, "build")["separation.parquet"]
        of_terms = run.output.load(path_of(SEPARATED, "build", "words", metric))
    first, second, *far = covered_terms(near, has).values()
    assert sum(map(len, (first, second, *far))) < len(near.terms())  # some have no vector

    overall = []
    for name, others in zip((one.name for one in parts[2:]), far, strict=True):
        row = rows.filter(category1=parts[0].name, category2=name).row(0, named=True)
        least, most = [], []
        for term in first:
            inner = [sim[term, other] for other in second]
            outer = [sim[term, other] for other in others]
            differences = [a - b for a in inner for b in outer]
            # What is mathematically equal ties; zeros, of which rounding leaves bits, may not.
            ties = sum(abs(a) + abs(b) <= NEAR for a in inner for b in outer)
            most.append(sum(one <= NEAR for one in differences))
            least.append(most[-1] - ties)
        found = of_terms.filter(far=name)
        assert found["term"].to_list() == list(first)
        assert (found["n_triples"] == len(second) * len(others)).all()
        assert all(
            low <= n <= high for low, n, high in zip(least, found["n_errors"], most, strict=True)
        )
        n_triples = len(first) * len(second) * len(others)
        assert (row["n_triples"], row["n_errors"]) == (n_triples, found["n_errors"].sum())
        assert row["overlap_error"] == row["n_errors"] / n_triples
        overall.append((row["n_triples"], row["n_errors"]))
    every = rows.filter(pl.col("category1").is_null()).row(0, named=True)
    assert (every["n_triples"], every["n_errors"]) == tuple(np.sum(overall, axis=0))
    assert rows["category_error"].null_count() == rows.height
    assert rows["overlap_error"].drop_nulls().len() == n_far + 1


def test_what_is_there_is_not_made_again(
    categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    metric = METRICS.get("avg_cos")
    refusing = replace(metric, similarities=None, tabulate=None)
    with new_run(tmp_path, categories) as run:
        for one in (metric, refusing):
            write_separation(run, "build", categories, "words", has, {"avg_cos": one})


def test_an_embedding_without_any_of_the_terms_has_no_error(
    categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    none = replace(has, covered=np.zeros(len(has.covered), np.bool_))
    table = written(categories, none, tmp_path)
    assert table["n_terms1"].unique().to_list() == [0]
    assert table["n_triples"].sum() == table["n_errors"].sum() == 0
    assert table["category_error"].drop_nulls().is_empty()
    assert table["mean_similarity"].drop_nulls().is_empty()


def test_a_similarity_that_is_no_number_is_refused(
    categories: Categories, has: EmbeddedTerms, tmp_path: Path
) -> None:
    broken = Metric(
        of=WordBags,
        describes="no numbers",
        similarities=lambda _embedded, first, _second, _workers: np.full(len(first), np.nan),
    )
    with pytest.raises(InputError, match="under broken a similarity"):
        written(categories, has, tmp_path, metrics={"broken": broken})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a build and an embedding."""
    folder = tmp_path_factory.mktemp("evaluated")
    release = categorised_release(3, 50).write_zip(folder / "release.zip", "Snapshot")
    medsim.build(release, folder / "build", negatives=["random"])
    write_words(folder / "words.vec", WORDS[:-1], 4)
    return folder


def evaluate(made: Path, name: str, **options) -> medsim.Evaluation:
    chosen = {"metrics": ["avg_cos", "max_jaccard"], "resamples": 100, **options}
    return medsim.evaluate(made / "build", {"words": made / "words.vec"}, made / name, **chosen)


def test_an_evaluation_has_the_overlap_errors_among_its_results(made: Path) -> None:
    out = evaluate(made, "results", separation=True)

    of_all = out.separation().filter(pl.col("category1").is_null())
    results = out.results().filter(statistic="overlap_error")
    assert (
        results.select("embedding", "metric", "value").rows()
        == of_all.select("embedding", "metric", "overlap_error").rows()
    )
    assert results["dataset"].unique().to_list() == ["separation"]
    about = out.manifest.inputs["build"]["categories"]["categories"]
    assert results["n_pairs"].unique().to_list() == [sum(one["n_terms"] for one in about)]
    assert results["n_covered"].to_list() == of_all["n_terms1"].to_list()
    assert results["n_covered"][0] < results["n_pairs"][0]
    with pytest.raises(InputError, match="has no rated file among its inputs"):
        medsim.compare(out, "rated")
    assert out.results().filter(statistic="category_error").is_empty()


def by_hand(out: medsim.Evaluation, far: str, metric: str) -> list[tuple[float, str]]:
    """Return the overlap errors of the terms with a far category, in ascending order."""
    rows = out.separated().filter(pl.col("far") == far, pl.col("metric") == metric).collect()
    counts = rows.select("n_errors", "n_triples", "term").rows()
    return sorted((n_errors / n_triples, term) for n_errors, n_triples, term in counts)


def test_tables_have_the_best_and_the_worst_metrics_and_terms(made: Path) -> None:
    near, far = ["dp=103693007", "277132007"], ["org=410607006"]
    out = evaluate(made, "near", near=near, far=far)

    rows = out.separation().filter(category1="dp", category2="org")
    errors = sorted(rows.select("overlap_error", "metric").rows())
    found = medsim.compare(out, "separation")
    assert found.select("standing", "far", "value", "metric").rows() == [
        ("best", "org", *errors[0]),
        ("worst", "org", *errors[-1]),
    ]
    (table,) = readable(found)
    (best, one), (worst, other) = errors[0], errors[-1]
    assert table.select("metric", "overlap_error").row(0) == (
        f"{one}/{other}",
        f"{100 * best:.1f}%/{100 * worst:.1f}%",
    )
    assert medsim.compare(out, "all-separation").height == 2
    means = medsim.compare(out, "categories")
    assert means.height == 2 * 9
    assert readable(means)[0].columns[4:] == [
        *("sim(dp, Therapeutic velp)", "sim(dp, org)", "sim(Therapeutic velp, org)"),
        *("sim(dp, dp)", "sim(Therapeutic velp, Therapeutic velp)", "sim(org, org)"),
    ]
    terms = medsim.compare(out, "separation-terms")
    for metric in ("avg_cos", "max_jaccard"):
        expected = by_hand(out, "org", metric)
        shown = terms.filter(metric=metric).select("overlap_error", "term").rows()
        assert shown == expected[:5] + expected[5:][-5:]


def test_several_far_categories_have_an_error_each_and_one_of_all() -> None:
    of = {"input": "build", "embedding": "words", "category1": "a"}
    rows = [
        of | {"metric": metric, "category2": far, "n_triples": 10, "overlap_error": error}
        for metric, errors in (("cos", (0.1, 0.4)), ("pearson", (0.3, 0.2)))
        for far, error in [*zip("cd", errors, strict=True), (None, sum(errors) / 2)]
    ]
    every = pl.DataFrame(rows, schema=SEPARATION.dtypes).with_columns(
        category1=pl.when(pl.col("category2").is_not_null()).then("category1")
    )

    found = best_and_worst(errors_of(every))

    assert found.select("far", "standing", "metric", "value").rows() == [
        *(("c", "best", "cos", 0.1), ("c", "worst", "pearson", 0.3)),
        *(("d", "best", "pearson", 0.2), ("d", "worst", "cos", 0.4)),
        *((None, "best", "cos", 0.25), (None, "worst", "cos", 0.25)),
    ]
    assert overall_errors(every)["far"].to_list() == [None, None]
    one = every.filter(pl.col("category2").fill_null("c") == "c")
    assert errors_of(one)["far"].to_list() == overall_errors(one)["far"].to_list() == ["c", "c"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"near": ["1", "2"]}, "name two categories by `near`, and at least one by `far`"),
        ({"far": ["1"]}, "name two categories by `near`"),
        ({"near": ["1", "2", "3"], "far": ["4"]}, "name two categories by `near`"),
        ({"near": ["1", "2"], "far": ["3"], "categories": ["4", "5"]}, "leave out either"),
    ],
)
def test_two_near_categories_and_far_ones_are_due(made: Path, options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        evaluate(made, "none", **options)


def test_categories_of_an_earlier_run_are_not_mixed_with_others(made: Path) -> None:
    first = evaluate(made, "grown")
    assert first.separation().is_empty()
    chosen = ["one=103693007", "two=277132007"]

    with_them = evaluate(made, "grown", categories=chosen)
    again = evaluate(made, "grown")

    assert set(with_them.separation()["category1"].drop_nulls()) == {"one", "two"}
    assert again.separation().equals(with_them.separation())
    for other in ({"separation": True}, {"near": [*chosen], "far": ["410607006"]}):
        with pytest.raises(OutputError, match=r"another input named build \(other categories"):
            evaluate(made, "grown", **other)
    assert medsim.Evaluation(made / "grown").separation().equals(with_them.separation())


@pytest.mark.parametrize("asked", ["separation", "retrieval"])
def test_a_build_must_be_among_the_inputs(made: Path, asked: str) -> None:
    rated = made / "rated.csv"
    rated.write_text("term1,term2,rating\na,b,1\nc,d,2\na,d,3\n", encoding="utf-8")
    with pytest.raises(OptionError, match=f"`{asked}` needs a build"):
        medsim.evaluate(rated, {"words": made / "words.vec"}, made / "none", **{asked: True})
