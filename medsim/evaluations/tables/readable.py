"""Tables of an evaluation as people read them: numbers rounded, one statistic a cell."""

from __future__ import annotations

import polars as pl

from medsim.core.cells import number
from medsim.evaluations.sets import SET, parts_of_sets
from medsim.evaluations.tables.labels import rounded, set_columns

_UNDEFINED = "–"  # noqa: RUF001 — an en dash, as tables have it
_STARS = {0.001: "***", 0.01: "**", 0.05: "*"}  # of p after Holm's correction, by its level


def readable(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return any table of ``medsim compare`` as it is to be read.

    Of rows of ``best_metrics`` that is one table with a row per set and a column per embedding; of
    ``all_metrics`` one with a column per metric for all embeddings that have the same metrics. A
    cell has the value, on parts of rated sets with its interval, the metric where columns are
    embeddings, how many others it is significantly better (+) and worse (-) than, and a star for
    the best and what cannot be told from it; of an embedding's own pairs, how many there are.
    """
    if "length" in rows.columns:
        return [_retrieval(rows)]
    if "overlap_error" in rows.columns:
        return [_overlap_errors(rows)]
    if "mean_similarity" in rows.columns:
        groups = rows.group_by("input", maintain_order=True)
        return [_similarities_of_categories(group) for _, group in groups]
    if "value" not in rows.columns:
        return [_without_empty(rows)]
    if not rows.select(*SET, "statistic", "embedding").is_duplicated().any():
        return [_spread(rows, "embedding")]
    of_embedding = rows.group_by("embedding", maintain_order=True).agg(pl.col("metric").unique())
    families: dict[frozenset[str], list[str]] = {}
    for embedding, metrics in of_embedding.iter_rows():
        families.setdefault(frozenset(metrics), []).append(embedding)
    return [
        _spread(rows.filter(pl.col("embedding").is_in(members)).sort("embedding"), "metric")
        for members in families.values()
    ]


def categories_of(separation: pl.DataFrame) -> pl.DataFrame:
    """Return mean similarities within and across categories, a row per two of them (table D.1)."""
    of_triples = ("n_triples", "n_errors", "overlap_error", "signature")
    return separation.drop_nulls("category1").drop(of_triples)


def readable_correlations(rows: pl.DataFrame) -> pl.DataFrame:
    """Return correlations with a row per set and a column per task.

    A cell has r and the stars of its corrected p; the last columns the number of models and the
    smallest correlation that so many are likely to show. The shape is that of tables 6, 8 and 9 of
    Chiu et al. (BMC Bioinformatics 2018).
    """
    own = {"set", "statistic", "models", "detectable r"}
    table = []
    for (name, statistic), of_set in rows.group_by("set", "statistic", maintain_order=True):
        cells = {
            f"{task} (task)" if task in own else task: _correlation(r, p)
            for task, r, p in of_set.select("task", "r", "p_holm").iter_rows()
        }
        n_models = sorted(set(of_set["n_models"]))
        smallest = of_set["smallest_r"].drop_nulls().to_list()
        table.append(
            {
                "set": name,
                "statistic": statistic,
                **cells,
                "models": " to ".join(str(n) for n in dict.fromkeys((n_models[0], n_models[-1]))),
                "detectable r": number(max(smallest), ".2f") if smallest else _UNDEFINED,
            }
        )
    found = pl.DataFrame(table, infer_schema_length=None)
    return found if found["statistic"].null_count() == 0 else found.drop("statistic")


def _correlation(r: float | None, p: float | None) -> str:
    if r is None or p is None:
        return _UNDEFINED
    stars = next((stars for level, stars in _STARS.items() if p < level), "")
    return f"{number(r, '.3f')}{stars}"


def _spread(rows: pl.DataFrame, over: str) -> pl.DataFrame:
    """Return a table with a column per embedding or metric."""
    compared = "n_better" in rows.columns
    parts: list[pl.Expr] = [rounded("value")]
    if parts_of_sets(rows).height:
        parts.append(pl.format("[{}, {}]", rounded("low"), rounded("high")))
    index = [*SET, "statistic"]
    if over == "metric":
        index = ["embedding", *index, "n_pairs"]
    elif compared:
        parts.append(pl.col("metric"))
        index.append("n_pairs")
    else:
        parts += [pl.col("metric"), pl.format("({})", rounded("n_pairs", ","))]
    if compared:
        parts.append(pl.format("+{}\u2212{}", "n_better", "n_worse"))
        parts.append(pl.when("among_best").then(pl.lit("*")))
    cell = pl.concat_str(parts, separator=" ", ignore_nulls=True)
    cells = rows.with_columns(cell=pl.when(pl.col("value").is_not_null()).then(cell))
    return _without_empty(cells.pivot(over, index=index, values="cell"))


def _without_empty(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table without the columns of a set's name that are empty in every row."""
    empty = {*SET} - {*set_columns(frame)}
    return frame.drop(empty, strict=False)


def _retrieval(rows: pl.DataFrame) -> pl.DataFrame:
    """Return scores of retrieval, with the half width of their intervals, a column a statistic."""
    index = ["input", "embedding", "index", "recall", "difficulty", "length", "n_terms"]
    cells = rows.with_columns(half=(pl.col("high") - pl.col("low")) / 2).with_columns(
        pl.col("difficulty", "length").fill_null("all"),
        pl.when(pl.col("subset") == "own").then("n_covered").otherwise("n_terms").alias("n_terms"),
        rounded("recall"),
        pl.concat_str(
            rounded("value"), pl.format(" \N{PLUS-MINUS SIGN}{}", rounded("half")).fill_null("")
        ).alias("value"),
    )
    table = cells.pivot("statistic", index=index, values="value")
    return table if table["recall"].null_count() < table.height else table.drop("recall")


def _overlap_errors(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the overlap errors of all triples."""
    return rows.filter(pl.col("category1").is_null()).select(
        "input",
        "embedding",
        "metric",
        pl.col("n_terms1").alias("n_terms"),
        "n_triples",
        rounded("overlap_error"),
    )


def _similarities_of_categories(rows: pl.DataFrame) -> pl.DataFrame:
    """Return mean similarities of categories with a column per second category."""
    index = ["input", "embedding", "metric", "category1"]
    return rows.with_columns(rounded("mean_similarity")).pivot(
        "category2", index=index, values="mean_similarity"
    )
