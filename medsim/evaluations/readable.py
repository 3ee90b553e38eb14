"""Tables of an evaluation for reading, with the names of sets and statistics that pages use too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

import polars as pl

from medsim.core import shown
from medsim.core.errors import listed
from medsim.core.shown import MISSING
from medsim.evaluations.options import Noise
from medsim.evaluations.sets import ALL_KINDS, FEW, SET, parts_of_sets
from medsim.evaluations.statistic import BASELINE, STATISTICS, statistics_of
from medsim.pages.readable import cents, percent, rounded, with_ends

_NAMED = 3  # sets that a sentence names at most

LABELS = {name: statistic.label for name, statistic in STATISTICS.items()}
"""The labels of statistics by their names."""

ALIKE = "alike in spelling"
"""The kind of the pairs that the headline score is computed on."""


def set_columns(frame: pl.DataFrame) -> list[str]:
    """Return those columns of ``SET`` that have a value in any row."""
    present = [column for column in SET if column in frame.columns]
    return [column for column in present if frame[column].null_count() < frame.height]


def set_kind(frame: pl.DataFrame) -> pl.Series:
    """Return the difficulty and strategy of each row's set, an empty text for rated pairs."""
    difficulty = pl.format("{}, {} negatives", "difficulty", "negatives")
    kind = pl.when(difficulty=ALL_KINDS).then(pl.lit(ALIKE)).otherwise(difficulty)
    return frame.select(kind.fill_null("").alias("kind")).to_series()


def set_name(frame: pl.DataFrame, *, with_kind: bool = False) -> pl.Series:
    """Return the name of each row's set.

    Returns:
        Text; if an input has several ratings, the name says which.
    """
    several = pl.col("dataset").n_unique().over("input") > 1
    rated = pl.col("difficulty").is_null()
    of_rated = pl.when(several).then(pl.format("{}: {}", "input", "dataset")).otherwise("input")
    full = pl.format("{}: {}, {}", "input", "dataset", set_kind(frame))
    of_labelled = full if with_kind else pl.col("dataset")
    name = pl.when(rated).then(of_rated).otherwise(of_labelled)
    return frame.select(name.alias("name")).to_series()


def why_scores_missing(rows: pl.DataFrame) -> str:
    """Return why statistics of pairs are missing, with their sets; empty if none is missing.

    Args:
        rows: the columns of a set, statistic, value, and n_pairs that it is computed from.
    """
    n_pairs = pl.col("n_pairs")
    labelled = [statistic.name for statistic in statistics_of("labelled")]
    reason = (
        pl.when(n_pairs == 0)
        .then(pl.lit("no pair is covered"))
        .when(pl.col("statistic").is_in(labelled))
        .then(pl.lit("only positives or only negatives are covered"))
        .when(n_pairs == 1)
        .then(pl.lit("a single pair has no correlation"))
        .otherwise(pl.lit("all ratings, or all similarities, are equal"))
    )
    named = rows.select(set=pl.concat_str(SET, separator=" ", ignore_nulls=True), reason=reason)
    sets = named.filter(rows["value"].is_null()).unique(maintain_order=True)
    reasons = [
        f"{reason} ({listed(of_reason['set'].to_list(), _NAMED)})"
        for (reason,), of_reason in sets.group_by("reason", maintain_order=True)
    ]
    return "; ".join(reasons)


def with_contenders(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of retrieval with a contender: the embedding, and the index if several are."""
    several = rows["index"].n_unique() > 1
    name = pl.format("{} ({})", "embedding", "index") if several else pl.col("embedding")
    return rows.with_columns(name.alias("contender"))


def in_order_of(rows: pl.DataFrame, embeddings: Sequence[str]) -> pl.DataFrame:
    """Return rows in the given order of embeddings, others last."""
    at = {name: at for at, name in enumerate(embeddings)}
    rank = pl.col("embedding").replace_strict(at, default=len(at), return_dtype=pl.Int64)
    return rows.sort(rank, maintain_order=True)


def present(order: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return those of an order that are among the names."""
    there = {*names}
    return [name for name in order if name in there]


def hardest_first(names: pl.Series) -> list[str]:
    """Return the distinct names of sets, hard positives with Levenshtein negatives first."""
    return sorted(set(names), key=lambda name: ("hard, levenshtein" not in name, name))


def apart(column: str, used: Sequence[str]) -> pl.Expr:
    """Return a column's names for use as columns; names already in use become "statistic (set)"."""
    with_kind = pl.format("{} ({})", column, pl.lit(column))
    return pl.when(pl.col(column).is_in(used)).then(with_kind).otherwise(column).alias(column)


_MANY = 4  # embeddings, whose columns would not fit a terminal
_WHY_MISSING = {
    **dict.fromkeys(("raters", "iaa1", "iaa2"), "a file lacks the ratings of each rater"),
    "n_vocabulary": "an embedding can embed any term",
    "recall": "an index is exact",
    **dict.fromkeys((one.name for one in statistics_of("retrieval")), "no term has a vector"),
    "mean": "no set has a value",
    "mean_similarity": "too few terms of a category have a vector",
}
"""Reasons for missing numbers in tables other than scores, by column: a clause after "where"."""

_STARS = {0.001: "***", 0.01: "**", 0.05: "*"}  # of p, by its level


def readable_tables(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return any table of ``medsim compare`` for reading.

    For rows of ``best_metrics`` that is a table per statistic, with a row per set and a column per
    embedding or, for four or more embeddings, a row per embedding, the best first; for rows of
    every metric one with a column per metric for all embeddings with the same metrics. A cell has
    the value (on parts of rated sets with its confidence interval), the metric if columns are
    embeddings, the number of others that it is significantly better (+) and worse (-) than, and a
    star for the best and those not significantly different from it; in the subset own, the number
    of pairs. A missing value is a dash, see ``why_missing_in``.
    """
    forms = (form for column, form in _FORMS.items() if column in rows.columns)
    return [
        frame.with_columns(
            shown.texts(column, shown.readable_text).fill_null(MISSING)
            for column in frame
            if column.name in _WHY_MISSING and column.null_count()
        )
        for frame in next(forms, lambda table: [table])(rows)
    ]


def why_missing_in(rows: pl.DataFrame, frames: Sequence[pl.DataFrame]) -> str:
    """Return why a table of ``medsim compare`` lacks numbers; an empty text if it has all.

    Args:
        rows: the table.
        frames: the same as ``readable_tables`` returns it.
    """
    if {"n_pairs", "value"} <= {*rows.columns}:
        return why_scores_missing(rows)
    if {"n_better", "dataset"} <= {*rows.columns}:
        is_missing = any(MISSING in row for frame in frames for row in frame.rows())
        return "no metric differs significantly from another" if is_missing else ""
    of_rows = [rows] if "mean_similarity" in rows.columns else frames
    reasons = (shown.why_missing(frame, _WHY_MISSING) for frame in of_rows)
    return "; ".join(filter(None, dict.fromkeys(reasons)))


def _of_rated(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return facts on rated sets; agreement is left out if no file has individual ratings."""
    agreement = ("raters", "iaa1", "iaa2")
    if rows["raters"].null_count() == rows.height:
        rows = rows.drop(agreement)
    means = (rounded(name) for name in agreement[1:] if name in rows.columns)
    scale = rounded("low", ",g"), rounded("high", ",g")
    return [rows.with_columns(*scale, percent("multi_word"), *means)]


def _of_overlap(rows: pl.DataFrame) -> list[pl.DataFrame]:
    whole = rows.filter(of="vocabulary")
    used = rows.filter(pl.col("of") != "vocabulary")
    return [*([readable_vocabularies(whole)] if whole.height else []), used]


def _of_variance(rows: pl.DataFrame) -> list[pl.DataFrame]:
    return [rows.with_columns(rounded(column, ".6f") for column in ("least", "median", "greatest"))]


def readable_correlations(rows: pl.DataFrame, p_column: str = "p_holm") -> pl.DataFrame:
    """Return correlations with a row per set and a column per task.

    A cell has r and the stars of its p-value; the last columns have the number of models
    and the smallest correlation that this many are likely to show. The layout is that of tables 6,
    8 and 9 of Chiu et al. (BMC Bioinformatics 2018).
    """
    key = ["set", "statistic"]
    n_models, p = pl.col("n_models"), pl.col(p_column)
    stars = [pl.when(p < level).then(pl.lit(signs)) for level, signs in _STARS.items()]
    cell = pl.concat_str(rounded("r"), pl.coalesce(*stars, pl.lit("")))
    cells = rows.with_columns(
        apart("task", [*key, "models", "detectable r"]),
        cell=pl.when(p.is_not_null()).then(cell).fill_null(MISSING),
    )
    models = pl.when(n_models.min() == n_models.max()).then(pl.format("{}", n_models.min()))
    sizes = rows.group_by(key, maintain_order=True).agg(
        models.otherwise(pl.format("{} to {}", n_models.min(), n_models.max())).alias("models"),
        pl.max("smallest_r").alias("detectable r"),
    )
    table = cells.pivot("task", index=key, values="cell")
    table = table.join(sizes, on=key, nulls_equal=True, maintain_order="left")
    table = table.with_columns(rounded("detectable r", ".2f").fill_null(MISSING))
    return table.drop("statistic") if table["statistic"].null_count() else table


def _of_scores(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return a table per statistic, or with all metrics one for embeddings with the same."""
    if not rows.select(*SET, "statistic", "embedding").is_duplicated().any():
        in_order = (rows.filter(statistic=name) for name in STATISTICS)
        return [_of_embeddings(group) for group in in_order if group.height]
    of_embedding = rows.group_by("embedding", maintain_order=True).agg(pl.col("metric").unique())
    families: dict[frozenset[str], list[str]] = {}
    for embedding, metrics in of_embedding.iter_rows():
        families.setdefault(frozenset(metrics), []).append(embedding)
    return [
        _spread(rows.filter(pl.col("embedding").is_in(members)).sort("embedding"), "metric")
        for members in families.values()
    ]


def _of_embeddings(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a table of one statistic at each embedding's best metric."""
    if rows["embedding"].n_unique() < _MANY:
        return _spread(rows, "embedding")
    index = ["set", "statistic", "n_pairs", "embedding", "metric"]
    has_value = pl.col("value").is_not_null()
    metric = pl.when(has_value).then("metric").alias("metric")
    named = rows.with_columns(set=_set_heading(rows)).with_columns(metric)
    best_first = named.sort(*SET, "value", descending=[False] * len(SET) + [True], nulls_last=True)
    return best_first.select(*index, *_value_and_standing(rows))


def _spread(rows: pl.DataFrame, over: str) -> pl.DataFrame:
    """Return a table with a column per embedding or metric."""
    compared = "n_better" in rows.columns
    details: list[pl.Expr] = []
    index = [*SET, "statistic"]
    if over == "metric":
        index = ["embedding", *index, "n_pairs"]
    elif compared:
        details.append(pl.col("metric"))
        index.append("n_pairs")
    else:
        details += [pl.col("metric"), pl.format("({})", rounded("n_pairs", ","))]
    cells = rows.with_columns(apart(over, index), cell=_cell(rows, details))
    few = pl.col("n_pairs").is_between(1, FEW - 1)
    if rows.select(few.any()).item():
        mark = pl.when(few).then(pl.lit(" (few)")).otherwise(pl.lit(""))
        cells = cells.with_columns(n_pairs=pl.concat_str(rounded("n_pairs", ","), mark))
    return _without_empty(cells.pivot(over, index=index, values="cell"))


def _cell(rows: pl.DataFrame, details: list[pl.Expr]) -> pl.Expr:
    """Return the cells of a table: a value, its metric or number of pairs, and its standing."""
    value, *standing = _value_and_standing(rows)
    cell = pl.concat_str(value, *details, *standing, separator=" ", ignore_nulls=True)
    return pl.when(pl.col("value").is_null()).then(pl.lit(MISSING)).otherwise(cell)


def _value_and_standing(rows: pl.DataFrame) -> list[pl.Expr]:
    """Return texts of values (with intervals on parts of sets) and of standings, if any."""
    has_ends = parts_of_sets(rows).height or rows["difficulty"].eq_missing(ALL_KINDS).all()
    value = with_ends("value", "low", "high") if has_ends else rounded("value")
    value = value.fill_null(MISSING).alias("value")
    if "n_better" not in rows.columns:
        return [value]
    star = pl.when("among_best").then(pl.lit(" *")).otherwise(pl.lit(""))
    standing = pl.format("+{}\u2212{}{}", "n_better", "n_worse", star)
    return [value, pl.when(pl.col("value").is_not_null()).then(standing).alias("standing")]


def _of_paper(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return a table of the paper: a row per embedding, a column per set.

    The first row has the numbers of compared pairs and of all pairs of the set.
    """
    fixed = not rows.select("embedding", "metric").unique()["embedding"].is_duplicated().any()
    index = ["embedding", *(["metric"] if fixed else [])]
    named = rows.with_columns(set=_set_heading(rows)).with_columns(apart("set", index))
    names = named["set"].unique(maintain_order=True)
    cell = _cell(named, [] if fixed else [pl.col("metric")])
    table = named.with_columns(cell=cell).pivot("set", index=index, values="cell").sort("embedding")
    size = pl.format("{} of {}", rounded("n_pairs", ","), rounded("n_in_set", ","))
    sizes = named.unique("set", keep="first", maintain_order=True).select("set", size.alias("size"))
    first = pl.DataFrame({"embedding": ["(pairs)"], **dict(sizes.iter_rows())})
    return [pl.concat([first, table], how="diagonal").select(*index, *names)]


def _set_heading(rows: pl.DataFrame) -> pl.Series:
    """Return names of sets, as short as possible within one table."""
    rated = rows["difficulty"].is_null()
    parts = [
        column
        for column in SET
        if column == "dataset" or rows.filter(~rated)[column].n_unique() > 1
    ]
    labelled = rows.select(pl.concat_str(parts, separator=" ").alias("set")).to_series()
    return set_name(rows).zip_with(rated, labelled)


def _of_standings(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the metrics of each embedding that differ from others, a column per set.

    A dash means that none does.
    """
    differs = (pl.col("n_better") > 0) | (pl.col("n_worse") > 0)
    counts = pl.format("+{}\u2212{}", "n_better", "n_worse")
    cell = pl.concat_str("metric", pl.lit(" "), counts).filter(differs).str.join(", ")
    named = rows.with_columns(set=_set_heading(rows)).with_columns(apart("set", ["embedding"]))
    cell = cell.replace("", MISSING).alias("cell")
    cells = named.group_by("embedding", "set", maintain_order=True).agg(cell)
    return [cells.pivot("set", index="embedding", values="cell").sort("embedding")]


def _without_empty(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table without the columns of a set's name that are empty in every row."""
    empty = {*SET} - {*set_columns(frame)}
    return frame.drop(empty, strict=False)


def _of_retrieval(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return scores of retrieval with their intervals, a column per statistic."""
    index = ["input", "embedding", "index", "recall", "difficulty", "length", "n_terms"]
    cells = rows.with_columns(
        pl.col("difficulty", "length").fill_null("all"),
        pl.when(pl.col("subset") == "own").then("n_covered").otherwise("n_terms").alias("n_terms"),
        rounded("recall"),
        with_ends("value", "low", "high").fill_null(MISSING).alias("value"),
    )
    table = cells.pivot("statistic", index=index, values="value")
    return [table if table["recall"].null_count() < table.height else table.drop("recall")]


def readable_robustness(rows: pl.DataFrame) -> pl.DataFrame:
    """Return accuracies on altered names, a column per embedding or baseline.

    A cell has the accuracy with its interval, and the accuracy on the unaltered names.
    """
    model = pl.when(embedding=BASELINE).then("metric").otherwise("embedding")
    index = ["input", "statistic", "kind", "n_errors", "n_items"]
    order = ("input", "statistic", pl.col("kind").cast(pl.Enum(get_args(Noise))))
    cell = pl.format("{} of {}", with_ends("value", "low", "high"), rounded("unaltered"))
    cells = rows.with_columns(model.alias("model"), cell=cell).with_columns(apart("model", index))
    return cells.pivot("model", index=index, values="cell").sort(*order, "n_errors")


def _of_terms(rows: pl.DataFrame) -> list[pl.DataFrame]:
    alike = (column for column in ("input", "far") if rows[column].n_unique() == 1)
    return [rows.drop(alike).with_columns(percent("overlap_error"))]


def _of_errors(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return errors by statistic, a row per embedding or, without standings, per metric."""
    frames = []
    for (statistic,), of_each in rows.group_by("statistic", maintain_order=True):
        errors = of_each.with_columns(pl.col("far").fill_null("all"), percent("value"))
        errors, key = errors.drop("statistic"), ["input", "far", "embedding"]
        if statistic != "overlap_error":
            errors, key = errors.drop("far"), ["input", "embedding"]
        if "standing" in rows.columns:
            errors = errors.group_by(key, maintain_order=True).agg(_both("metric", "value"))
        frames.append(errors.rename({"value": str(statistic)}))
    return frames


def _similarities(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean similarities of the categories of an input.

    There is a row per embedding or, if no categories are near, per embedding and category.
    """
    statistic = str(rows["statistic"][0])
    index = ["input", "embedding", "metric", statistic]
    cells = (
        rows.with_columns(rounded("mean_similarity", ".2f").fill_null(MISSING), percent("value"))
        .group_by("input", "embedding", "category1", "category2", maintain_order=True)
        .agg(_both("metric", "value", "mean_similarity"))
        .rename({"value": statistic})
    )
    if statistic == "category_error":
        index.append("category1")
        named = cells.with_columns(apart("category2", index))
        return named.pivot("category2", index=index, values="mean_similarity")
    names = rows["category1"].unique(maintain_order=True)
    at = [pl.col(f"category{n}").replace_strict(names, range(len(names))) for n in (1, 2)]
    return (
        cells.filter(at[0] <= at[1])
        .sort(at[0] == at[1], maintain_order=True)  # across, then within
        .sort("input", "embedding", maintain_order=True)
        .with_columns(pair=pl.format("sim({}, {})", "category1", "category2"))
        .pivot("pair", index=index, values="mean_similarity")
    )


def _both(*columns: str) -> list[pl.Expr]:
    """Return the texts of the best and the worst metric in one text, or a single one if equal."""
    return [
        pl.concat_str(
            pl.col(column).filter(standing="best").first(),
            pl.col(column).filter(standing="worst").first(),
            separator="/",
        ).alias(column)
        for column in columns
    ]


def readable_coverage(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the size and the coverage of each embedding, a row each: table A.1 of the paper.

    Coverage is the share of pairs whose words all have vectors: the smallest and largest of all
    rated sets, and of all datasets of builds, if there are any.
    """
    share = 1 - pl.col("n_pairs_oov") / pl.col("n_pairs")
    ranges = {
        f"{name} covered": pl.concat_str(
            cents(share.filter(of_kind).min(), ".1f"),
            pl.lit("\N{EN DASH}"),
            cents(share.filter(of_kind).max(), ".1f"),
            pl.lit("%"),
        )
        for name, of_kind in (
            ("rated sets", pl.col("difficulty").is_null()),
            ("datasets", pl.col("difficulty").is_not_null()),
        )
    }
    sizes = pl.col("n_vocabulary", "n_dimensions").first()
    table = rows.group_by("embedding").agg(sizes, **ranges).sort("embedding")
    return table.drop(name for name in ranges if table[name].null_count() == table.height)


def readable_vocabularies(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the share of each column's vocabulary that the row's has: table A.2 of the paper.

    Args:
        rows: ``OVERLAP`` of whole vocabularies.

    Returns:
        A row per embedding, in per cent; the last column is the mean of its row.
    """
    both = pl.concat(
        rows.select(
            pl.col(f"embedding{own}").alias("embedding"),
            pl.col(f"embedding{other}").alias("of"),
            pl.col(f"share{other}").alias("share"),
        )
        for own, other in ((1, 2), (2, 1))
    ).sort("embedding", "of")
    own = apart("of", ["embedding", "average"])
    names = both.select(of="embedding").select(own).to_series().unique(maintain_order=True)
    means = both.group_by("embedding").agg(cents(pl.col("share").mean(), ".2f").alias("average"))
    table = both.with_columns(own, cents(pl.col("share"), ".2f")).pivot(
        "of", index="embedding", values="share"
    )
    return table.select("embedding", *names).join(means, on="embedding", maintain_order="left")


_FORMS: Mapping[str, Callable[[pl.DataFrame], list[pl.DataFrame]]] = {
    "length": _of_retrieval,
    "unaltered": lambda rows: readable_robustness(rows).partition_by("statistic"),
    "term": _of_terms,
    "far": _of_errors,
    "mean_similarity": lambda rows: [*map(_similarities, rows.partition_by("input"))],
    "multi_word": _of_rated,
    "n_pairs_oov": lambda rows: [readable_coverage(rows), _without_empty(rows)],
    "share1": _of_overlap,
    "greatest": _of_variance,
    "n_in_set": _of_paper,
    "value": _of_scores,
    "dataset": _of_standings,
}
"""Readable forms of tables, by the first of these columns that a table has; others stay."""
