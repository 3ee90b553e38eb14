"""The tables by which Rouhizadeh et al. (2024) describe BioWiC, of any benchmark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.terms import lowered
from medsim.wic import GROUPS
from medsim.wic.bert_words import n_words
from medsim.wic.checks.rules import term_pair
from medsim.wic.semantic_groups import GROUP_OF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medsim.wic.benchmark import Benchmark

_ALL = "all"
_SIDES = (1, 2)
_MOST_TOKENS = 4
_MOST_TYPES = 10  # of a figure
_MOST_NAMED = 3  # kinds of mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A benchmark, as far as it is known.

    Attributes:
        name: of its folder or file.
        splits: instances by split, those that are there; ``WIC_INSTANCE_COLUMNS``, or
            ``WIC_COLUMNS`` where concepts are not known.
        types: ``SEMANTIC_TYPE_COLUMNS`` of its concepts; None where they are not known.
        made: the folder of ``medsim wic build``; None of another.
    """

    name: str
    splits: Mapping[str, pl.DataFrame]
    types: pl.DataFrame | None
    made: Benchmark | None

    def parts(self) -> dict[str, pl.DataFrame]:
        """Return the instances of each split, and of all where there are several."""
        whole = {_ALL: pl.concat(self.splits.values())} if len(self.splits) > 1 else {}
        return {**self.splits, **whole}


def corpora(found: Described) -> pl.DataFrame:
    """Return table 1: a row a corpus.

    Its ontologies and semantic types are those of its mentions, by the names that it gives them;
    many types are counted. A benchmark of the version before does not know them.
    """
    if found.made is None:
        raise OptionError(
            f"{found.name} does not say from which corpora it is; a folder of medsim wic build does"
        )
    used = found.made.mentions().group_by("corpus").len()
    n_used = dict(used.iter_rows())
    rows = []
    for one in found.made.manifest.corpora:
        kinds = {
            heading: _named(list(one[key]))  # type: ignore[call-overload]
            for heading, key in (("ontologies", "vocabularies"), ("semantic types", "kinds"))
            if key in one
        }
        rows.append(
            {
                "corpus": one["name"],
                **kinds,
                "documents": one["n_documents"],
                "sentences": one["n_sentences"],
                "sentences with a concept": n_used.get(one["name"], 0),
                "mentions": one["n_mentions"],
            }
        )
    return pl.DataFrame(rows).sort("corpus")


def splits(found: Described) -> pl.DataFrame:
    """Return table 3: a row a split, and one for all.

    Means are over both sentences of all instances; words are those of BERT's tokenizer, see
    ``medsim.wic.bert_words``. Pairs of terms count once in either order, ignoring case.
    """
    return pl.DataFrame([_split(name, own, found.types) for name, own in found.parts().items()])


def _split(name: str, own: pl.DataFrame, types: pl.DataFrame | None) -> dict[str, object]:
    counts = Counter(own["cat"])
    sentences = _both(own, "sentence")
    row: dict[str, object] = {
        "split": name,
        **{group.replace("_", " "): counts[group] for group in GROUPS},
        _ALL: own.height,
        "words per sentence": sentences.map_elements(n_words, pl.Int64).mean(),
        "characters per sentence": sentences.str.len_chars().mean(),
        "unique sentences": sentences.n_unique(),
        "unique term pairs": len({term_pair(*pair) for pair in own[["term1", "term2"]].rows()}),
    }
    if "concept1" in own.columns:
        concepts = _both(own, "concept").unique()
        row["unique concepts"] = len(concepts)
        if types is not None:
            own_types = types.filter(pl.col("concept_id").is_in(concepts.implode()))["type_id"]
            row["unique semantic types"] = own_types.n_unique()
            row["unique semantic groups"] = _groups(own_types).n_unique()
    return row


def tokens(found: Described) -> pl.DataFrame:
    """Return table 4: target terms by their number of tokens, split at white space."""
    table: dict[str, object] = {"tokens per term": [*_token_numbers(), _ALL]}
    for name, own in found.parts().items():
        n_tokens = Counter(
            min(len(term.split()), _MOST_TOKENS) for term in _both(own, "term").to_list()
        )
        numbers = [n_tokens[number] for number in range(1, _MOST_TOKENS + 1)]
        table |= _with_shares(name, [*numbers, 2 * own.height], [2 * own.height] * 5)
    return pl.DataFrame(table)


def _token_numbers() -> list[str]:
    return [*map(str, range(1, _MOST_TOKENS)), f"{_MOST_TOKENS}+"]


def seen(found: Described) -> pl.DataFrame:
    """Return table 5: instances of test by group, seen where train has one of both terms.

    Case does not count. Those of which train has both terms are among the seen ones.
    """
    if lacking := [name for name in ("train", "test") if name not in found.splits]:
        raise OptionError(
            f"{found.name} has no {lacking[0]} split, and seen are the terms of test that train "
            f"has; add `{lacking[0]}` FILE"
        )
    known = set(lowered(_both(found.splits["train"], "term").to_list()))
    test = found.splits["test"]
    pairs = zip(*(lowered(test[f"term{side}"].to_list()) for side in _SIDES), strict=True)
    n_known = pl.Series([sum(term in known for term in pair) for pair in pairs], dtype=pl.Int8)
    parts = [test["cat"] == group for group in GROUPS]
    parts.append(pl.repeat(True, test.height, dtype=pl.Boolean, eager=True))
    totals = [int(part.sum()) for part in parts]
    table: dict[str, object] = {
        "group": [*(group.replace("_", " ") for group in GROUPS), _ALL],
    }
    for name, flags in (
        ("seen", n_known > 0),
        ("unseen", n_known == 0),
        ("both seen", n_known == len(_SIDES)),
    ):
        table |= _with_shares(name, [int((part & flags).sum()) for part in parts], totals)
    return pl.DataFrame({**table, _ALL: totals})


def types(found: Described) -> pl.DataFrame:
    """Return figure 4: the ten semantic types and groups that most target terms have.

    Concepts may have several types, so shares, of target terms and of different concepts, may add
    up to more than all.
    """
    if found.types is None:
        raise OptionError(
            f"{found.name} knows no semantic types; a benchmark that medsim wic build makes with "
            "UMLS and its MRSTY.RRF does"
        )
    terms = pl.concat([_both(own, "concept") for own in found.splits.values()])
    of_terms = terms.value_counts().rename({"concept": "concept_id", "count": "n_terms"})
    own = of_terms.join(found.types, on="concept_id").with_columns(group=_groups(pl.col("type_id")))
    frames = []
    for of, column in (("semantic type", "semantic_type"), ("semantic group", "group")):
        counted = (
            own.unique(["concept_id", column])
            .group_by(pl.col(column).alias("name"))
            .agg(pl.col("n_terms").sum().alias("target terms"), pl.len().alias("concepts"))
            .sort("target terms", "name", descending=[True, False])
            .head(_MOST_TYPES)
        )
        frames.append(counted.select(pl.lit(of).alias("of"), pl.all()))
    return pl.concat(frames).select(
        *("of", "name", "target terms"),
        (pl.col("target terms") * 100 / terms.len()).alias("target terms %"),
        "concepts",
        (pl.col("concepts") * 100 / of_terms.height).alias("concepts %"),
    )


def _both(instances: pl.DataFrame, column: str) -> pl.Series:
    """Return a column of the first sides, then of the second ones."""
    first, second = (instances[f"{column}{side}"].alias(column) for side in _SIDES)
    return pl.concat([first, second])


def _groups(types: pl.Expr | pl.Series) -> pl.Expr | pl.Series:
    return types.replace_strict(GROUP_OF, default="unknown", return_dtype=pl.String)


def _named(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMED else str(len(names))


def _with_shares(name: str, numbers: list[int], totals: list[int]) -> dict[str, list[object]]:
    """Return a column of numbers, and of their shares of totals in per cent."""
    pairs = zip(numbers, totals, strict=True)
    shares = [100 * number / total if total else None for number, total in pairs]
    return {name: list(numbers), f"{name} %": list(shares)}
