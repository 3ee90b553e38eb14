"""Category separation of a build under word embeddings, against loops over triples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import polars as pl
import pytest
from fixtures.categories import WORDS, categorised_release
from fixtures.embeddings import write_words

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
from medsim.evaluations.output import EVALUATION, SEPARATED, SEPARATION
from medsim.evaluations.readable import readable_tables
from medsim.evaluations.run import EvaluationRun
from medsim.evaluations.separation import (
    Categories,
    Separation,
    categories_of,
    separation,
    separation_tables,
    write_separation,
)

Counts = tuple[dict[tuple[int, int], tuple[int, int]], dict[tuple[int, int], float]]


def by_triples(similarities: np.ndarray, categories: list[list[int]]) -> Counts:
    """Return the number of triples and errors, and mean similarities, of every two categories."""
    counts, means = {}, {}
    for x, y in product(range(len(categories)), repeat=2):
        first, second = categories[x], categories[y]
        if x == y:
            pairs = list(combinations(first, 2))
        else:
            pairs = list(product(first, second))
            triples = [(a, b, c) for a in first for b in first if b != a for c in second]
            errors = sum(similarities[a, b] <= similarities[a, c] for a, b, c in triples)
            counts[x, y] = len(triples), int(errors)
        values = [float(similarities[pair]) for pair in pairs]
        means[x, y] = sum(values) / len(values) if values else np.nan
    return counts, means


def symmetric(n_terms: int, steps: int, seed: int) -> np.ndarray:
    """Return symmetric similarities; with few steps there are many ties."""
    values = np.random.default_rng(seed).integers(0, steps, (n_terms, n_terms))
    return ((values + values.T) / (2 * steps)).astype(np.float32)


def separated(
    similarities: np.ndarray, sizes: list[int], threads: int = 1, *, near: bool = False
) -> Separation:
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    workers = Workers(threads=threads)
    return separation(lambda part: similarities[part].copy(), starts, workers, near=near)


@pytest.mark.parametrize("steps", [1, 4, 10**6])
@pytest.mark.parametrize("sizes", [[5, 7, 6], [9, 1], [2, 3, 4, 5], [0, 4, 3], [1, 1]])
@pytest.mark.parametrize("n_values", [1, 40, 1 << 24])
def test_errors_match_a_loop_over_triples(
    sizes: list[int], steps: int, n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", n_values)
    similarities = symmetric(sum(sizes), steps, seed=len(sizes) + steps)
    ends = np.cumsum(sizes)
    categories = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]

    result = separated(similarities, sizes)

    counts, means = by_triples(similarities, categories)
    for (x, y), (n_triples, n_errors) in counts.items():
        assert (result.n_triples[x, y], result.n_errors[x, y]) == (n_triples, n_errors)
    for (x, y), mean in means.items():
        assert result.mean_similarity[x, y] == pytest.approx(mean, nan_ok=True)
    assert not result.n_triples.diagonal().any()
    assert not result.n_errors.diagonal().any()


@pytest.mark.parametrize("steps", [1, 4, 10**6])
@pytest.mark.parametrize("sizes", [[5, 7, 6], [3, 2, 4, 5], [1, 1, 1], [0, 4, 3], [4, 0, 3]])
@pytest.mark.parametrize("n_values", [1, 40, 1 << 24])
def test_errors_of_near_categories_match_a_loop_over_triples(
    sizes: list[int], steps: int, n_values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", n_values)
    sim = symmetric(sum(sizes), steps, seed=len(sizes) + steps)
    first, second, *far = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])

    result = separated(sim, sizes, near=True)

    for at, others in enumerate(far, start=2):
        errors = [sum(int(sim[i, j] <= sim[i, k]) for j in second for k in others) for i in first]
        assert result.errors[: len(first), at].tolist() == errors
        assert result.n_errors[0, at] == sum(errors)
        assert result.n_triples[0, at] == len(first) * len(second) * len(others)
    for counts in (result.n_errors, result.n_triples):
        assert not counts[1:].any()
        assert not counts[:, :2].any()
    means = separated(sim, sizes).mean_similarity
    assert result.mean_similarity.tobytes() == means.tobytes()


def test_the_overlap_error_follows_the_formula_of_the_paper() -> None:
    # Diagnostic procedures d1, d2; therapeutic t1, t2; organisms o1, o2, o3. Of the 12 triples
    # errors are, for d1: (t1, o2), since 0.4 <= 0.4, and (t1, o3), since 0.4 <= 0.7; for d2:
    # (t1, o1), (t1, o2) and (t2, o1), (t2, o2), since 0.1 and 0.2 <= 0.3 and 0.5. O = 6 / 12.
    across = [[0.4, 0.8, 0.3, 0.4, 0.7], [0.1, 0.2, 0.3, 0.5, 0.0]]
    similarities = np.ones((7, 7), np.float32)
    similarities[:2, 2:] = across
    similarities[2:, :2] = np.transpose(across)

    result = separated(similarities, [2, 2, 3], near=True)

    assert result.errors[:2, 2].tolist() == [2, 4]
    assert result.n_errors[0, 2] / result.n_triples[0, 2] == 6 / 12


def test_separation_depends_neither_on_threads_nor_on_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    similarities = symmetric(120, 50, seed=1)
    sizes = [50, 30, 40]
    whole = separated(similarities, sizes)
    monkeypatch.setattr(module, "SIMILARITIES_AT_ONCE", 120 * 7)
    monkeypatch.setattr(module, "_ROWS_A_TASK", 2)
    blocks = separated(similarities, sizes, threads=5)
    assert whole.n_errors.tolist() == blocks.n_errors.tolist()
    assert whole.mean_similarity.tobytes() == blocks.mean_similarity.tobytes()


Metrics = dict[str, Metric]
WORD_METRICS = metrics_of(WordBags)


@pytest.fixture(scope="module")
def categories(tmp_path_factory: pytest.TempPathFactory) -> Categories:
    folder = tmp_path_factory.mktemp("separation")
    release = categorised_release(2, 60).write_zip(folder / "release.zip", "Snapshot")
    build = medsim.build(release, folder / "build", negatives=["random"])
    return replace(categories_of(build, None, 1), n_far=0)


@pytest.fixture(scope="module")
def embedded(categories: Categories, tmp_path_factory: pytest.TempPathFactory) -> EmbeddedTerms:
    """Terms in an embedding of most words; two of the words have the same vector."""
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
) -> Iterator[EvaluationRun]:
    """Yield a run with one build and one embedding that has not written anything."""
    out = folder / "results"
    with claimed(out, EVALUATION, overwrite=False) as output:
        output.resume({})
        yield EvaluationRun(
            options=EvaluateOptions("build", {"words": "words.vec"}, out, threads=2),
            inputs={"build": {"fingerprint": "", "categories": categories.provenance()}},
            embeddings={"words": {"fingerprint": "", "options": {}}},
            metadata={"medsim": ""},
            submitted={},
            output=output,
            progress=progress or Progress(),
        )


def separation_table(
    categories: Categories, embedded: EmbeddedTerms, folder: Path, metrics: Metrics = WORD_METRICS
) -> pl.DataFrame:
    """Write the separation under all metrics, and return its table."""
    with new_run(folder, categories) as run:
        write_separation(run, "build", categories, "words", embedded, metrics)
        return separation_tables(run, "build")["separation.parquet"]


@pytest.mark.parametrize("metric", ["avg_cos", "pair_kendall", "max_jaccard"])
@pytest.mark.parametrize("n_far", [0, 1, 2])
def test_files_count_only_terms_with_vectors(
    metric: str, n_far: int, categories: Categories, embedded: EmbeddedTerms, tmp_path: Path
) -> None:
    parts = categories.categories
    if n_far == 2:  # the last category is cut in two
        half = len(parts[2].terms) // 2
        halves = (parts[2].terms[:half], parts[2].terms[half:])
        parts = (
            *parts[:2],
            *(replace(parts[2], name=f"{n}", terms=t) for n, t in enumerate(halves)),
        )
    names = [category.name for category in parts]
    at = {term: row for row, term in enumerate(embedded.terms["term"]) if embedded.covered[row]}
    covered = [[term for term in category.terms if term in at] for category in parts]
    sizes, rows = list(map(len, covered)), np.array([at[t] for terms in covered for t in terms])
    assert sum(sizes) < sum(len(category.terms) for category in parts)
    tabulated = WORD_METRICS[metric].tabulated
    table = tabulated(embedded.embedded, rows.astype(np.int32), Workers(threads=1))
    expected = separated(table(slice(len(rows))), sizes, near=n_far > 0)
    measure, other = ("overlap_error", "category_error")[:: 1 if n_far else -1]

    some = replace(categories, categories=parts, n_far=n_far)
    with new_run(tmp_path, some) as run:
        write_separation(run, "build", some, "words", embedded, {metric: WORD_METRICS[metric]})
        table = separation_tables(run, "build")["separation.parquet"]
        term_rows = run.output.load(SEPARATED.path("build", "words", metric)) if n_far else None

    *pairs, every = table.iter_rows(named=True)
    assert [(row["category1"], row["category2"]) for row in pairs] == [*product(names, repeat=2)]
    counts = ("n_triples", "n_errors", measure)
    for row, (x, y) in zip(pairs, product(range(len(names)), repeat=2), strict=True):
        n_triples, n_errors = expected.n_triples[x, y], expected.n_errors[x, y]
        errors = (n_triples, n_errors, n_errors / n_triples) if n_triples else (None, None, None)
        assert tuple(row[name] for name in counts) == errors
        assert (row["n_terms1"], row["n_terms2"]) == (sizes[x], sizes[y])
        assert row["mean_similarity"] == pytest.approx(expected.mean_similarity[x, y])
    n_triples, n_errors = expected.n_triples.sum(), expected.n_errors.sum()
    assert tuple(every[name] for name in counts) == (n_triples, n_errors, n_errors / n_triples)
    assert (every["n_terms1"], every["n_terms2"]) == (sum(sizes), None)
    assert table[other].null_count() == table.height
    for place in range(len(names) - n_far, len(names)):
        rows = term_rows.filter(far=names[place])
        assert rows["term"].to_list() == covered[0]
        assert rows["n_errors"].to_list() == expected.errors[: sizes[0], place].tolist()
        assert set(rows["n_triples"]) == {sizes[1] * sizes[place]}


def test_existing_files_are_not_computed_again(
    categories: Categories, embedded: EmbeddedTerms, tmp_path: Path
) -> None:
    metric = METRICS.get("avg_cos")
    refusing = replace(metric, similarities=None, tabulate=None)
    with new_run(tmp_path, categories) as run:
        for version in (metric, refusing):
            write_separation(run, "build", categories, "words", embedded, {"avg_cos": version})


def test_an_embedding_without_any_of_the_terms_has_no_error(
    categories: Categories, embedded: EmbeddedTerms, tmp_path: Path
) -> None:
    none = replace(embedded, covered=np.zeros(len(embedded.covered), np.bool_))
    table = separation_table(categories, none, tmp_path)
    assert table["n_terms1"].unique().to_list() == [0]
    assert table["n_triples"].sum() == table["n_errors"].sum() == 0
    assert table["category_error"].drop_nulls().is_empty()
    assert table["mean_similarity"].drop_nulls().is_empty()


def test_a_similarity_that_is_not_a_number_is_refused(
    categories: Categories, embedded: EmbeddedTerms, tmp_path: Path
) -> None:
    broken = Metric(
        kind=WordBags,
        describes="no numbers",
        similarities=lambda _embedded, first, _second, _workers: np.full(len(first), np.nan),
    )
    with pytest.raises(InputError, match="under broken a similarity"):
        separation_table(categories, embedded, tmp_path, metrics={"broken": broken})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a build and an embedding."""
    folder = tmp_path_factory.mktemp("evaluated")
    release = categorised_release(3, 50).write_zip(folder / "release.zip", "Snapshot")
    medsim.build(release, folder / "build", negatives=["random"])
    write_words(folder / "words.vec", WORDS[:-1], 4)
    return folder


def evaluate(data: Path, name: str, **options) -> medsim.Evaluation:
    chosen = {
        "embeddings": {"words": data / "words.vec"},
        "metrics": ["avg_cos", "max_jaccard"],
        "resamples": 100,
        **options,
    }
    return medsim.evaluate(data / "build", out=data / name, **chosen)


def test_an_evaluation_has_the_overlap_errors_among_its_results(data: Path) -> None:
    out = evaluate(data, "results", separation=True)

    all_triples = out.separation().filter(pl.col("category1").is_null())
    results = out.results().filter(statistic="overlap_error")
    assert (
        results.select("embedding", "metric", "value").rows()
        == all_triples.select("embedding", "metric", "overlap_error").rows()
    )
    assert results["dataset"].unique().to_list() == ["separation"]
    about = out.manifest.inputs["build"]["categories"]["categories"]
    assert results["n_pairs"].unique().to_list() == [sum(category["n_terms"] for category in about)]
    assert results["n_covered"].to_list() == all_triples["n_terms1"].to_list()
    assert results["n_covered"][0] < results["n_pairs"][0]
    with pytest.raises(InputError, match="has no rated file among its inputs"):
        medsim.compare(out, "rated")
    assert out.results().filter(statistic="category_error").is_empty()


def letters(terms: list[str]) -> np.ndarray:
    """Return the counts of the letters of each term."""
    return np.array([[1 + term.lower().count(each) for each in ascii_lowercase] for term in terms])


def test_an_invented_release_has_the_default_categories(tmp_path: Path) -> None:
    medsim.synth(tmp_path / "release.zip", concepts=300)
    medsim.build(tmp_path / "release.zip", tmp_path / "build", negatives=["random"])

    out = evaluate(
        tmp_path, "results", embeddings={"letters": letters}, metrics=["cos"], separation=True
    )

    counted = out.manifest.inputs["build"]["categories"]["categories"]
    assert [each["concept_id"] for each in counted] == ["103693007", "277132007", "410607006"]
    assert min(each["n_terms"] for each in counted) > 30
    (error,) = out.results().filter(statistic="overlap_error")["value"]
    assert 0 < error < 0.5


def by_hand(out: medsim.Evaluation, far: str, metric: str) -> list[tuple[float, str]]:
    """Return the overlap errors of the terms with a far category, in ascending order."""
    rows = out.separated().filter(pl.col("far") == far, pl.col("metric") == metric).collect()
    counts = rows.select("n_errors", "n_triples", "term").rows()
    return sorted((n_errors / n_triples, term) for n_errors, n_triples, term in counts)


def test_tables_have_the_best_and_the_worst_metrics_and_terms(data: Path) -> None:
    near, far = ["dp=103693007", "277132007"], ["org=410607006"]
    out = evaluate(data, "near", near=near, far=far)

    rows = out.separation().filter(category1="dp", category2="org")
    errors = sorted(rows.select("overlap_error", "metric").rows())
    compared = medsim.compare(out, "separation")
    assert compared.select("standing", "far", "value", "metric").rows() == [
        ("best", "org", *errors[0]),
        ("worst", "org", *errors[-1]),
    ]
    (table,) = readable_tables(compared)
    (best, best_metric), (worst, worst_metric) = errors[0], errors[-1]
    assert table.select("metric", "overlap_error").row(0) == (
        f"{best_metric}/{worst_metric}",
        f"{100 * best:.1f}%/{100 * worst:.1f}%",
    )
    assert medsim.compare(out, "all-separation").height == 2
    means = medsim.compare(out, "categories")
    assert means.height == 2 * 9
    assert readable_tables(means)[0].columns[4:] == [
        *("sim(dp, Therapeutic velp)", "sim(dp, org)", "sim(Therapeutic velp, org)"),
        *("sim(dp, dp)", "sim(Therapeutic velp, Therapeutic velp)", "sim(org, org)"),
    ]
    terms = medsim.compare(out, "separation-terms")
    for metric in ("avg_cos", "max_jaccard"):
        expected = by_hand(out, "org", metric)
        shown = terms.filter(metric=metric).select("overlap_error", "term").rows()
        assert shown == expected[:5] + expected[5:][-5:]


def test_far_categories_have_separate_errors_and_a_joint_one() -> None:
    common = {"input": "build", "embedding": "words", "category1": "a"}
    rows = [
        common | {"metric": metric, "category2": far, "n_triples": 10, "overlap_error": error}
        for metric, errors in (("cos", (0.1, 0.4)), ("pearson", (0.3, 0.2)))
        for far, error in [*zip("cd", errors, strict=True), (None, sum(errors) / 2)]
    ]
    every = pl.DataFrame(rows, schema=SEPARATION.dtypes).with_columns(
        category1=pl.when(pl.col("category2").is_not_null()).then("category1")
    )

    standings = best_and_worst(errors_of(every))

    assert standings.select("far", "standing", "metric", "value").rows() == [
        *(("c", "best", "cos", 0.1), ("c", "worst", "pearson", 0.3)),
        *(("d", "best", "pearson", 0.2), ("d", "worst", "cos", 0.4)),
        *((None, "best", "cos", 0.25), (None, "worst", "cos", 0.25)),
    ]
    assert overall_errors(every)["far"].to_list() == [None, None]
    part = every.filter(pl.col("category2").fill_null("c") == "c")
    assert errors_of(part)["far"].to_list() == overall_errors(part)["far"].to_list() == ["c", "c"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"near": ["1", "2"]}, "give two categories with `near`, and at least one with `far`"),
        ({"far": ["1"]}, "give two categories with `near`"),
        ({"near": ["1", "2", "3"], "far": ["4"]}, "give two categories with `near`"),
        ({"near": ["1", "2"], "far": ["3"], "categories": ["4", "5"]}, "give one or the other"),
    ],
)
def test_near_and_far_categories_must_be_complete(data: Path, options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        evaluate(data, "none", **options)


def test_categories_of_an_earlier_run_are_not_mixed_with_others(data: Path) -> None:
    first = evaluate(data, "grown")
    assert first.separation().is_empty()
    chosen = ["one=103693007", "two=277132007"]

    with_them = evaluate(data, "grown", categories=chosen)
    again = evaluate(data, "grown")

    assert set(with_them.separation()["category1"].drop_nulls()) == {"one", "two"}
    assert again.separation().equals(with_them.separation())
    for other in ({"separation": True}, {"near": [*chosen], "far": ["410607006"]}):
        with pytest.raises(OutputError, match=r"another input named build \(other categories"):
            evaluate(data, "grown", **other)
    assert medsim.Evaluation(data / "grown").separation().equals(with_them.separation())


@pytest.mark.parametrize("option", ["separation", "retrieval"])
def test_a_build_must_be_among_the_inputs(data: Path, option: str) -> None:
    rated = data / "rated.csv"
    rated.write_text("term1,term2,rating\na,b,1\nc,d,2\na,d,3\n", encoding="utf-8")
    with pytest.raises(OptionError, match=f"`{option}` needs a build"):
        medsim.evaluate(rated, {"words": data / "words.vec"}, data / "none", **{option: True})
