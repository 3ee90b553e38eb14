"""Ranks candidates by the probability that they are right, which is learned without labels.

Names of the standard are taken as if they were local names, as they are or altered, and searched.
Some are left out of the standard, and some together with their concept, so that nothing is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from medsim.kernels.types import FloatTable, Starts, Values, Vectors, starts_of
from medsim.mapping.candidates import PairSearch, comparable
from medsim.mapping.options import MAX_CANDIDATES
from medsim.statistics.boosting import CrossFitted
from medsim.statistics.choice import fitted_choice, shares_of_lists

_MAX_LISTS = 6_000
_LISTS_PER_CONCEPT = 10
_STATES = ("whole", "whole", "without_name", "without_concept")
_ALTERATIONS = ("none", "typing", "order", "more", "fewer", "short")
_ORDER = ("list", "query_id", "name_id", "concept")
_FEW = 50  # concepts; so few are not divided into halves, but their lists are
_LEAST = -8.0  # log odds of a name that supports no candidate
_BEND = 2.0  # log odds
_MAX_NUMBER = 500
_MAX_SHORT = 5  # letters of a word that is cut
_MAX_MORE = 3  # words that are added


def drawn_lists(names: pl.DataFrame, local: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return names of the standard as if they were local names.

    Half of the words that are added to names are beginnings or ends of local names, as these may
    have additions of their own, such as packs of a drug.

    Args:
        names: concept, term and key of each name.
        local: list and key of each local name; the numbers of names of its lists are drawn too.
        seed: random seed.

    Returns:
        A row per name: list; right, its concept; state, what is left out; given, the key of the
        name; term, the name or an altered name; and its key.
    """
    draw = np.random.default_rng(seed)
    concepts = names.group_by("concept", maintain_order=True).agg("term", "key")
    words = " ".join(names["key"].sample(min(len(names), _MAX_LISTS), seed=seed)).split()
    sizes, others = local.group_by("list").len().sort("list")["len"].to_numpy(), local["key"]
    rows = []
    n_lists = min(_MAX_LISTS, _LISTS_PER_CONCEPT * max(_FEW, len(concepts)))
    for number, at in enumerate(draw.integers(len(concepts), size=n_lists).tolist()):
        concept, terms, keys = concepts.row(at)
        state, how = _STATES[draw.integers(len(_STATES))], _ALTERATIONS[number % len(_ALTERATIONS)]
        for name in draw.permutation(len(terms))[: draw.choice(sizes)]:
            other = others[int(draw.integers(len(others)))].split()
            term = _altered(terms[name], how, words, other, draw)
            rows.append((number, concept, state, keys[name], terms[name], term))
    columns = {"list": pl.Int32, "right": pl.Int32, "state": pl.String, "given": pl.String}
    lists = pl.DataFrame(rows, {**columns, "whole": pl.String, "term": pl.String}, orient="row")
    lists = lists.with_columns(comparable(lists["term"]))
    # A name that was altered into another name of the standard means the other.
    is_other = (pl.col("key") != pl.col("given")) & pl.col("key").is_in(names["key"].implode())
    return lists.with_columns(
        pl.when(is_other).then("given").otherwise("key").alias("key"),
        pl.when(is_other).then("whole").otherwise("term").alias("term"),
    )


def _altered(
    term: str, how: str, vocabulary: Sequence[str], other: list[str], draw: np.random.Generator
) -> str:
    """Return a term as people write it elsewhere."""

    def drawn(n: int) -> int:
        return int(draw.integers(n))

    words = term.split()
    if how == "typing":
        for _ in range(1 + drawn(2)):
            at, word = drawn(len(term)), vocabulary[drawn(len(vocabulary))]
            letter = word[drawn(len(word))] if drawn(3) else ""
            term = term[:at] + letter + term[at + drawn(2) :] or term
        return term
    if how == "order":
        words = [words[at] for at in draw.permutation(len(words))]
    elif how == "fewer" and len(words) > 1:
        del words[drawn(len(words))]
    elif how == "short":
        words = [word[: 1 + drawn(_MAX_SHORT)] if drawn(2) else word for word in words]
    elif how == "more" and drawn(2):
        n_more = 1 + drawn(_MAX_MORE)
        return " ".join([*words, *other[-n_more:]] if drawn(3) else [*other[:n_more], *words])
    elif how == "more":
        for _ in range(1 + drawn(_MAX_MORE)):
            word = vocabulary[drawn(len(vocabulary))]
            unknown = "".join(word[at] for at in draw.permutation(len(word)))
            word = (word, unknown, str(drawn(_MAX_NUMBER)))[drawn(3)]
            words.insert(len(words) if drawn(3) else 0, word)
    return " ".join(words)


def likely_concepts(
    names: pl.DataFrame, local: pl.DataFrame, drawn: pl.DataFrame, found: PairSearch
) -> pl.DataFrame:
    """Return the candidates of local concepts with the probability that each is right.

    Args:
        names: concept and key of each name of the standard.
        local: list and key of each local name; a list has the names of a local concept.
        drawn: the rows of ``drawn_lists``.
        found: the candidates for the keys of both.

    Returns:
        Rows by list and descending probability: list, concept, local_key and standard_key, the most
        alike keys of both, and probability. The last row of a list has no concept, and the
        probability that no candidate is right.
    """
    query, name = (
        keys.to_frame("key").with_row_index(number).cast({number: pl.Int32})
        for number, keys in (("query_id", found.queries), ("name_id", found.names))
    )
    bearers = names.join(name, on="key").select("name_id", "concept").unique()
    local = local.join(query, on="key").select("list", "query_id").unique().sort("list", "query_id")
    left_out = drawn.filter(pl.col("state") != _STATES[0])
    left_out = left_out.join(name, left_on="given", right_on="key")
    drawn = drawn.join(query, on="key", maintain_order="left")
    drawn = drawn.unique(["list", "query_id"], keep="first", maintain_order=True)
    pairs = found.pairs()

    known = pairs.join(drawn, on="query_id").join(bearers, on="name_id")
    known = _known(known, left_out.select("list", "name_id"))
    features = np.concatenate([*found.features(known)], axis=1)
    group = "right" if names["concept"].n_unique() > _FEW else "list"
    halves = (known[group] % 2).cast(pl.Int32).to_numpy()
    model = CrossFitted(features, known["is_right"].to_numpy(), halves)
    known = known.with_columns(odds=model.log_odds(features, halves))
    fitted = _alternatives(known, drawn)
    right, is_none = pl.col("is_right").fill_null(value=False), pl.col("concept").is_null()
    is_right = fitted.select(right | (is_none & ~right.any().over("list"))).to_series().to_numpy()
    coefficients = fitted_choice(_features(fitted), _starts(fitted), is_right)
    none_share = is_right[_starts(fitted)[1:] - 1].mean()

    own = pairs.join(local, on="query_id", how="semi").sort("query_id", "name_id")
    odds = [_log_odds(model, part) for part in found.features(own)]
    own = own.with_columns(odds=np.concatenate([np.empty(0), *odds]))
    own = own.join(local, on="query_id").join(bearers, on="name_id").sort(*_ORDER)
    rows = _alternatives(own, local)
    shares = shares_of_lists(_features(rows) @ coefficients, _starts(rows), none_share)
    rows = rows.select(
        "list",
        "concept",
        local_key=found.queries.gather(rows["query_id"]),
        standard_key=found.names.gather(rows["name_id"]),
        probability=shares,
    )
    order = ["list", is_none, pl.col("probability")]
    return rows.sort(order, descending=[False, False, True], maintain_order=True)


def _known(pairs: pl.DataFrame, left_out: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of drawn lists that remain without what is left out, and ``is_right``."""
    pairs = pairs.join(left_out, on=["list", "name_id"], how="anti")
    pairs = pairs.with_columns(is_right=pl.col("concept") == pl.col("right"))
    return pairs.filter((pl.col("state") != _STATES[-1]) | ~pl.col("is_right")).sort(*_ORDER)


def _log_odds(model: CrossFitted, features: Vectors) -> Values:
    """Return the mean log odds of the models of both halves: float64[n_pairs]."""
    first, second = (np.full(features.shape[1], half) for half in (0, 1))
    return (model.log_odds(features, first) + model.log_odds(features, second)) / 2


def _alternatives(pairs: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Return the alternatives of each list: its most likely concepts, and none of them as the last.

    Args:
        pairs: list, query_id, name_id, concept, odds and is_equal.
        names: list and query_id of each name.

    Returns:
        One row each: list; concept; odds, the highest of its names; support, their mean over the
        names of the list; and query_id and name_id that are equal, or else have these odds.
    """
    sizes, key = names.group_by("list").agg(n_names=pl.len()), ["list", "concept"]
    odds, support = pl.col("odds"), pl.col("odds").clip(_LEAST) - _LEAST
    of_names = pairs.group_by(*key, "query_id").agg(odds.max()).sort(*key, "query_id")
    scores = of_names.group_by(key).agg(odds.max(), support=support.sum()).join(sizes, on="list")
    scores = scores.with_columns(support=pl.col("support") / pl.col("n_names") + _LEAST)
    best = pairs.sort("is_equal", "odds", descending=True, maintain_order=True)
    best = best.unique(key, keep="first").drop("odds").join(scores, on=key)
    best = best.sort(["list", "odds", "concept"], descending=[False, True, False])
    best = best.filter(pl.int_range(pl.len()).over("list") < MAX_CANDIDATES)
    none = sizes.select("list", odds=0.0, support=0.0, is_equal=False)
    every = pl.concat([best, none], how="diagonal")
    return every.sort("list", pl.col("concept").is_null(), maintain_order=True)


def _starts(rows: pl.DataFrame) -> Starts:
    return starts_of(rows.group_by("list", maintain_order=True).len()["len"].to_numpy())


def _features(rows: pl.DataFrame) -> FloatTable:
    """Return the features of alternatives: float64[n_rows, 6]; utility bends at two odds."""
    odds, is_none = rows["odds"].to_numpy(), rows["concept"].is_null().to_numpy()
    bends = np.maximum(odds - _BEND, 0), np.minimum(odds + _BEND, 0)
    others = rows["support"].to_numpy(), rows["is_equal"].to_numpy(), is_none
    return np.column_stack([odds, *bends, *others])
