"""The sets of a build in the order of their negatives, with their files and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from medsim.builds.negatives import SAMPLERS, PositiveSet, Sampling, SearchResult
from medsim.builds.output import LANGUAGES, PAIR
from medsim.builds.positives import Derived, Positives, pair_distances
from medsim.core import queries
from medsim.core.checks import Finding
from medsim.core.config import CROSS_LANGUAGE, DIFFICULTIES, MINIMAL, PARENT_CHILD
from medsim.core.errors import OutputError
from medsim.core.parquet import read_parquet, write_parquet
from medsim.core.progress import Stage
from medsim.core.terms import numbers_of
from medsim.kernels.types import Hashes, Ids, Ranks, Rows

if TYPE_CHECKING:
    from medsim.builds.options import SearchOptions
    from medsim.core.store import Store


_BATCH_ROWS = 1 << 18  # rows whose texts are in memory at the same time
_ID_BYTES = 8


def pair_keys(
    term1_ids: Ids, term2_ids: Ids, terms: pl.Series, store: Store, seed: int
) -> tuple[Hashes, Rows]:
    """Return the ids and the order of pairs, computed in batches.

    Args:
        term1_ids: int32[n_pairs], rows of ``terms``.
        term2_ids: int32[n_pairs], rows of ``terms``.
        terms: the texts.
        store: store that computes hashes.
        seed: random seed of the order.

    Returns:
        The ids as numbers, uint64[n_pairs] (see ``pair_id``), and the rows of pairs in the order
        drawn from the seed, int64[n_pairs].
    """
    n_pairs = len(term1_ids)
    ids, places = np.empty(n_pairs, np.uint64), np.empty((2, n_pairs), np.uint64)
    for begin in range(0, n_pairs, _BATCH_ROWS):
        rows = slice(begin, begin + _BATCH_ROWS)
        texts = {
            "row": np.arange(begin, min(rows.stop, n_pairs)),
            "term1": terms.gather(term1_ids[rows]),
            "term2": terms.gather(term2_ids[rows]),
        }
        with store.frame_as("pair_text", pl.DataFrame(texts)):
            keys = store.frame("builds/pairs/pair_key", seed=str(seed))
        decoded = keys["pair_id"].str.decode("hex")
        ids[rows] = decoded.bin.reinterpret(dtype=pl.UInt64, endianness="big").to_numpy()
        for half, name in enumerate(("place", "second_place")):
            places[half, rows] = keys[name].to_numpy().byteswap()  # DuckDB starts at the last byte
    return ids, _order(places, ids, term1_ids, term2_ids)


def _order(places: NDArray[np.uint64], ids: Hashes, term1_ids: Ids, term2_ids: Ids) -> Rows:
    """Return the rows sorted by both halves of their hashes, id and terms: int64[n_pairs].

    Only the first half matters, unless it is equal for two pairs.
    """
    order = np.argsort(places[0], kind="stable")
    first = places[0][order]
    if (first[1:] == first[:-1]).any():
        return np.lexsort((term2_ids, term1_ids, ids, places[1], places[0]))
    return order


def pair_id(ids: Hashes) -> pl.Series:
    """Return the column of pair ids, uint64[n_pairs], in hexadecimal digits."""
    buffers = [None, pa.py_buffer(ids.byteswap())]
    packed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(_ID_BYTES), len(ids), buffers)
    return pl.Series("pair_id", packed).bin.encode("hex")


def file_rows(
    numbers: pl.DataFrame, positives: Positives, schema: pl.Schema
) -> pl.DataFrame | pl.LazyFrame:
    """Return the rows of the file of a set; a large set is lazy, computed in batches at each read.

    Args:
        numbers: rows with numbers instead of texts; see ``SetMaker.make``.
        positives: positives, with the texts.
        schema: schema of the file.
    """

    def texts(part: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        terms, concepts = positives.terms["term"], positives.concepts
        makers: dict[str, Callable[[], pl.Series]] = {
            "pair_id": lambda: pair_id(part["pair"].to_numpy()),
            "term1": lambda: terms.gather(part["term1_id"]),
            "term2": lambda: terms.gather(part["term2_id"]),
            "concept1": lambda: concepts.gather(part["concept1"]),
            "concept2": lambda: concepts.gather(part["concept2"]),
            "language1": lambda: positives.languages.gather(part["language1"]),
            "language2": lambda: positives.languages.gather(part["language2"]),
        }
        data = {name: makers[name]() if name in makers else part[name] for name in columns}
        return pl.DataFrame(data)

    def batches(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        most: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        for part in (numbers if most is None else numbers.head(most)).iter_slices(_BATCH_ROWS):
            frame = texts(part, columns or list(schema))
            yield frame if predicate is None else frame.filter(predicate)

    if numbers.height <= _BATCH_ROWS:
        return texts(numbers, list(schema))
    return register_io_source(batches, schema=schema)


TERM_IDS = ("term1_id", "term2_id")
_CONCEPTS = ("concept1", "concept2")
_TURNED = {end: other for ends in (TERM_IDS, _CONCEPTS) for end, other in permutations(ends)}
_POSITIVE, _NEGATIVE = 1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKey:
    """The name of one set of a build.

    Attributes:
        dataset: dataset, such as "fsn_syn".
        difficulty: "easy" or "hard".
        negatives: strategy of negatives, such as "levenshtein".
    """

    dataset: str
    difficulty: str
    negatives: str

    @property
    def path(self) -> str:
        """The file inside the folder of a build."""
        return PAIR.path(self.dataset, self.difficulty, self.negatives)

    def __str__(self) -> str:
        return f"{self.dataset}/{self.difficulty}/{self.negatives}"

    def schema(self) -> pl.Schema:
        """Return the columns of its file."""
        schema = pl.Schema(PAIR.all_columns())
        for name in () if self.dataset == CROSS_LANGUAGE else LANGUAGES:
            del schema[name]
        if self.negatives != "embedding":
            del schema["similarity"]
        return schema


def set_keys(n_languages: int, *strategies: str, hierarchy: bool = False) -> list[SetKey]:
    """Return the sets of some strategies, in the order in which their negatives are made.

    Args:
        n_languages: number of languages of the build.
        strategies: strategies of negatives.
        hierarchy: whether the build has the dataset parent_child.
    """
    every = queries.datasets(n_languages, hierarchy=hierarchy)
    return [
        SetKey(dataset=dataset.name, difficulty=difficulty, negatives=strategy)
        for strategy in strategies
        for dataset in (queries.datasets(1, hierarchy=False) if strategy == MINIMAL else every)
        for difficulty in DIFFICULTIES
    ]


def keys_of(options: SearchOptions, *strategies: str) -> list[SetKey]:
    """Return the sets of a build with some strategies, see ``set_keys``."""
    return set_keys(len(options.languages), *strategies, hierarchy=options.hierarchy)


def positive_rows(positives: Positives, key: SetKey) -> pl.DataFrame:
    """Return the positives of a set, in order of (term1, term2); they are adjacent rows."""
    pairs = positives.parent_child if key.dataset == PARENT_CHILD else positives.pairs
    in_set = (pairs["dataset"] == key.dataset) & (pairs["difficulty"] == key.difficulty)
    return pairs.slice(in_set.arg_max() or 0, int(in_set.sum()))


def positive_sets(positives: Positives, key: SetKey) -> list[PositiveSet]:
    """Return the positives of a set as arrays, in order of (term1, term2), by their languages."""
    return [
        PositiveSet(
            name="/".join([key.dataset, key.difficulty, *positives.languages.gather([*languages])]),
            term1_ids=part["term1_id"].to_numpy(),
            term2_ids=part["term2_id"].to_numpy(),
            language=languages[1] if languages else None,
        )
        for languages, part in by_languages(positive_rows(positives, key))
    ]


def by_languages(pairs: pl.DataFrame) -> list[tuple[tuple[Any, ...], pl.DataFrame]]:
    """Return the pairs of each two languages in order of their numbers, or all with no numbers."""
    if pairs["language1"].null_count() == pairs.height:
        return [((), pairs)]
    parts = pairs.drop_nulls(LANGUAGES).partition_by(LANGUAGES, as_dict=True)
    return sorted(parts.items(), key=lambda part: part[0])


def with_term_ids(pairs: pl.DataFrame, terms: pl.Series) -> pl.DataFrame:
    """Return pairs with term1_id and term2_id, rows of terms; null for a text that is not one."""
    return pairs.with_columns(
        numbers_of(pairs[side], terms).alias(f"{side}_id") for side in ("term1", "term2")
    )


def with_numbers(pairs: pl.DataFrame, positives: Positives) -> pl.DataFrame:
    """Return pairs with numbers instead of concepts and languages; null for unknown ones."""
    pairs = pl.concat(
        [pl.DataFrame(schema=dict.fromkeys(LANGUAGES, pl.String)), pairs], how="diagonal"
    )
    concepts = (numbers_of(pairs[side], positives.concepts).alias(side) for side in _CONCEPTS)
    languages = (numbers_of(pairs[side], positives.languages).alias(side) for side in LANGUAGES)
    return pairs.with_columns(*concepts, *(numbers.cast(pl.Int8) for numbers in languages))


@dataclass(eq=False, kw_only=True)
class SetMaker:
    """The sets of one strategy; each is made after the sets whose negatives it must not repeat.

    Attributes:
        strategy: name of the strategy.
        derived: positives and terms of the terminology.
        store: store that computes hashes.
        options: options of the build.
        threads: threads to use.
        results: candidates that were searched elsewhere.
    """

    strategy: str
    derived: Derived
    store: Store
    options: SearchOptions
    threads: int
    results: Sequence[SearchResult] = ()

    def __post_init__(self) -> None:
        self._positives = self.derived.positives
        keys = keys_of(self.options, self.strategy)
        sets = [part for key in keys for part in positive_sets(self._positives, key)]
        seed, results = self.options.seed, self.results
        sampling = Sampling(seed=seed, threads=self.threads, results=results, sets=sets)
        self._sampler = SAMPLERS.get(self.strategy)(self.derived.index, sampling)
        self._made: list[tuple[SetKey, Ranks]] = []

    def make(self, key: SetKey, stage: Stage) -> pl.DataFrame:
        """Return one set, positives and negatives, in an order drawn from the seed.

        Returns:
            A row per pair: term1_id, term2_id, label, distance, concept1 and concept2 by their
            numbers; pair, its id as a number; and the other columns of its file.
        """
        numbers = self.draw(key, stage)
        first, second = (numbers[side].to_numpy() for side in TERM_IDS)
        texts = self._positives.terms["term"]
        pairs, order = pair_keys(first, second, texts, self.store, self.options.seed)
        numbers = numbers.with_columns(pl.Series("pair", pairs))
        embedding = self.derived.index.embedding
        if embedding is not None and self.strategy == "embedding":
            from medsim.builds.embedded import pair_cosines  # noqa: PLC0415 — encoders

            similarity = pair_cosines(embedding, first, second, self.threads)
            numbers = numbers.with_columns(similarity)
        return numbers[order]

    def draw(self, key: SetKey, stage: Stage) -> pl.DataFrame:
        """Return positives and negatives of one set in no particular order, without ids."""
        rows, begin, parts = positive_rows(self._positives, key), 0, []
        anchors, sets = rows, positive_sets(self._positives, key)
        if self.strategy == MINIMAL:  # either term of a positive
            anchors = pl.concat([rows, rows.rename(_TURNED).select(rows.columns)])
            term1_ids, term2_ids = (anchors[side].to_numpy() for side in TERM_IDS)
            sets = [replace(sets[0], term1_ids=term1_ids, term2_ids=term2_ids)]
        for positives in sets:
            against, second_ids = self._sampler(positives, self.used_before(key), stage)
            self._made.append((key, np.stack([positives.term1_ids[against], second_ids])))
            parts.append(anchors[begin + against].with_columns(term2_id=second_ids))
            begin += len(positives.term1_ids)
        negatives = pl.concat(parts)
        first, second = (negatives[side] for side in TERM_IDS)
        lower, bearers = self._positives.terms["lower_term"], self._positives.bearers
        distance = pair_distances(lower, first, second, self.threads)
        negatives = negatives.with_columns(distance, concept2=bearers[second.to_numpy()])
        labels = np.array([_POSITIVE, _NEGATIVE], np.int8)
        return pl.concat([rows, negatives]).select(
            *TERM_IDS,
            pl.lit(np.repeat(labels, [rows.height, negatives.height])).alias("label"),
            "distance",
            *_CONCEPTS,
            *LANGUAGES,
        )

    def take_over(self, key: SetKey, pairs: pl.LazyFrame) -> pl.DataFrame:
        """Record the negatives of a set that was made before, and return its numbers.

        The rows are like those of ``make``, without the columns that only the file has.
        """
        named = pairs.select(pl.exclude("pair_id", "similarity")).collect()
        rows = with_term_ids(named, self._positives.terms["term"])
        self.record(key, rows)
        return with_numbers(rows, self._positives)

    def record(self, key: SetKey, numbers: pl.DataFrame) -> None:
        """Record the negatives of a set, or of a part of it, by their terms' ids."""
        negatives = numbers.filter(label=_NEGATIVE)
        self._made.append((key, np.stack([negatives[side].to_numpy() for side in TERM_IDS])))

    def used_before(self, key: SetKey) -> Ranks:
        """Return pairs that must not be negatives of this set: int32[2, n_used].

        They are negatives of earlier sets; for parent_child, terms of related concepts; and with
        links of two steps, positives and, for Levenshtein negatives, terms near them in the set.
        """
        may_share = key.difficulty == "hard" or "repeats" not in self.options.published_rules
        passed_over = queries.dataset(key.dataset).contains if may_share else ()
        used = [pairs for earlier, pairs in self._made if earlier.dataset not in passed_over]
        used += [self._related] if key.dataset == PARENT_CHILD else []
        if "two_steps" in self.options.published_rules:
            used.append(self._positives.pairs.select(TERM_IDS).to_numpy().T)
            with self.store.frame_as("set_pair", positive_rows(self._positives, key)):
                near = self.store.frame("builds/pairs/two_steps").to_numpy().T
            used += [near] if self.strategy == "levenshtein" else []
        return np.concatenate([np.empty((2, 0), np.int32), *used], axis=1)

    @cached_property
    def _related(self) -> Ranks:
        """The pairs of terms of a concept and of its ancestor: int32[2, n_pairs]."""
        pairs = self.store.frame("builds/pairs/related_term")
        return np.stack([pairs[side].cast(pl.Int32).to_numpy() for side in TERM_IDS])


_COLUMNS = {
    "set_id": pl.UInt16,
    "row": pl.Int32,
    **dict.fromkeys(("term1_id", "term2_id"), pl.Int32),
    "label": pl.Int8,
    **dict.fromkeys(("distance", "concept1", "concept2"), pl.Int32),
    **dict.fromkeys(LANGUAGES, pl.Int8),
    **dict.fromkeys(("has_equal_terms", "is_linked"), pl.Boolean),
}
_NUMBERED = (  # tables for checks, made once
    "numbered_name",
    "numbered_association",
    "unfounded_name_pair",
    "unfounded_substitution",
)


class CheckedPairs:
    """The pairs of all sets of a build, for the checks of ``sql/builds/checks``.

    The store has the canonical tables, dataset, term, term_component, pool and bearer. If links are
    two steps long, positives may link the terms of a negative. The pairs of each set are a file in
    a folder, which has no others.
    """

    def __init__(
        self, store: Store, positives: Positives, options: SearchOptions, folder: Path
    ) -> None:
        self._folder = folder
        self._store, is_short = store, "two_steps" in options.published_rules
        self._left_out = {"linked_negative"} if is_short else set[str]()
        components = store.table("term_component").sort("term_id")["component_id"]
        self._values = {"has_equal_terms": positives.terms["node_id"], "is_linked": components}
        self._sets: list[tuple[SetKey, Path]] = []
        ids = np.arange(len(positives.bearers), dtype=np.int32)
        bearers = pl.DataFrame({"term_id": ids, "concept_number": positives.bearers})
        store.put("numbered_bearer", bearers)

    def add(self, key: SetKey, numbers: pl.DataFrame, file: Path) -> None:
        """Add the pairs of a set.

        Args:
            key: key of the set.
            numbers: term1_id, term2_id, label, distance, concepts and languages as numbers; null
                for one that is not in the terminology.
            file: file with the ids, read if a pair violates a rule.
        """
        self._sets.append((key, file))
        first, second = (numbers[side] for side in TERM_IDS)
        numbered = numbers.with_columns(
            *(
                (values.gather(first) == values.gather(second)).alias(name)  # null if unknown
                for name, values in self._values.items()
            ),
            set_id=len(self._sets) - 1,
            row=pl.int_range(pl.len()),
        )
        columns = (pl.col(name).cast(dtype) for name, dtype in _COLUMNS.items())
        path = self._folder / f"{len(self._sets)}.parquet"
        try:
            write_parquet(numbered.select(columns), path, {})
        except (OSError, pl.exceptions.PolarsError) as error:
            raise OutputError(f"cannot write {path}: {' '.join(str(error).split())}") from error

    def findings(self) -> list[Finding]:
        """Return a finding for each file of ``sql/builds/checks``."""
        self._store.view_files(self._folder, {"numbered_pair": "*.parquet"})
        names = [list(asdict(key).values()) for key, _ in self._sets]
        sets = pl.DataFrame(names, schema=PAIR.folder_columns(), orient="row")
        self._store.put("pair_set", sets.with_row_index("set_id"))
        self._store.run_each("builds/pairs", *_NUMBERED)
        findings = []
        absent = {dataset.name for dataset in queries.datasets()}.difference(sets["dataset"])
        absent |= self._left_out
        for name in queries.names("builds/checks"):
            if name.rpartition("/")[2] in absent:
                continue
            wrong = []
            for (number,), rows in self._store.frame(name).group_by("set_id"):
                key, file = self._sets[int(str(number))]
                ids = read_parquet(file, ["pair_id"])["pair_id"].gather(rows["row"])
                wrong += [" ".join([*asdict(key).values(), str(pair)]) for pair in ids]
            promise = queries.query(name).sentence
            findings.append(Finding(name.rpartition("/")[2], promise, sorted(wrong)))
        self._store.drop("pair_set", "numbered_bearer", *_NUMBERED[:2])
        return findings
