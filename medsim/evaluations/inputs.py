"""The pairs of builds and of rated files on which embeddings are evaluated."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from medsim.builds.output import LANGUAGES, Build
from medsim.builds.positives import linked_terms
from medsim.builds.spelling import Spelling, spelling_of, strata_of_spelling
from medsim.core.config import CROSS_LANGUAGE, MINIMAL, PARENT_CHILD, SET_COLUMNS
from medsim.core.errors import OptionError, counted
from medsim.core.manifest import combined, medsim_version
from medsim.core.progress import Progress
from medsim.core.terms import lowered_column, numbers_of
from medsim.definitions.benchmark import benchmark_names
from medsim.embeddings.encoders import cache_folder
from medsim.evaluations.baselines import FEWEST_POSITIVES, kept, learned_strata
from medsim.evaluations.confusions import kinds_of, ladder_of
from medsim.evaluations.layouts import RatedColumns, parse_rated
from medsim.evaluations.output import SET_PAIRS
from medsim.evaluations.rated_parts import WordTable, read_words, strata_of
from medsim.evaluations.ratings import read_rated
from medsim.evaluations.samples import sampled
from medsim.evaluations.sets import (
    ALL_KINDS,
    FEW,
    HEADLINE_DATASET,
    HEADLINE_NEGATIVES,
    IN_HEADLINE,
    NEGATIVE_KINDS,
    RUNGS,
    parts_of_sets,
    whole_sets,
    with_parts,
)
from medsim.kernels.components import components
from medsim.kernels.types import Flags, Ids, Values
from medsim.statistics.estimates import defined
from medsim.statistics.strata import Stratification

if TYPE_CHECKING:
    from medsim.evaluations.options import EvaluateOptions
    from medsim.evaluations.robustness import NoisyItems
    from medsim.evaluations.separation import Categories
    from medsim.evaluations.statistic import SampleKind

_ADDED = ("spelling", "stratum", *NEGATIVE_KINDS)  # columns of pairs, see ``with_strata``
_UNSAFE = re.compile(r"[^\w .+-]")  # characters to avoid in the names of Hive partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSet:
    """A set of pairs on which statistics are computed.

    Attributes:
        dataset: the name of the dataset; for a rated file the name of the rating, followed by the
            part if the set is a part, as in "mean/count=10-99".
        rows: int32[n_pairs], rows of the input's pairs, ascending.
        values: float64[n_pairs], ratings, or 1 for a positive and 0 for a negative.
        clusters: int32[n_pairs], the cluster of each pair, see ``EvaluationInput``; None if all
            pairs count as independent.
        strata: int32[n_pairs], the stratum of each pair of a set of kind matched, see
            ``strata_of_spelling``, beyond or of_kind, see ``learned_strata``, or own_negative or
            rung, of equal first terms; None for other sets.
    """

    dataset: str
    difficulty: str | None
    negatives: str | None
    rows: Ids
    values: Values
    kind: SampleKind
    clusters: Ids | None = None
    strata: Ids | None = None

    def __str__(self) -> str:
        return "/".join(part for part in self.key_columns().values() if part is not None)

    def key_columns(self) -> dict[str, str | None]:
        """Return the columns that name the set."""
        return {name: getattr(self, name) for name in SET_COLUMNS}


@dataclass(frozen=True, kw_only=True)
class EvaluationInput:
    """Pairs on which embeddings are evaluated.

    Attributes:
        rated: whether the pairs have ratings; else they have labels.
        frame: a row per pair of a set, ``SET_PAIRS``; also the further negatives of ``sampled``,
            and the pairs of ``ladder_of``.
        provenance: for the manifest, with its ``fingerprint``.
        independent: whether all pairs count as independent. Otherwise labelled pairs are in
            clusters: the positives of a dataset, of any difficulty, connect their terms, and a pair
            belongs to the cluster of its first term. Every negative shares its first term with a
            positive. A cluster of parent_child has the pairs of all children of a parent.
        build: the build of the pairs; None for rated files, and for pairs of earlier runs.
        all_difficulties: whether the pairs of a build are of any difficulty, not of a chosen one.
        linked: the terms that retrieval searches, see ``linked_terms``; None without retrieval.
        noisy: altered names of these terms; None without noise.
        categories: the categories to separate; None without separation.
    """

    name: str
    rated: bool
    frame: pl.DataFrame
    provenance: dict[str, object] = field(default_factory=dict)
    build: Build | None = None
    independent: bool = True
    all_difficulties: bool = True
    warnings: tuple[str, ...] = ()
    linked: pl.DataFrame | None = None
    noisy: NoisyItems | None = None
    categories: Categories | None = None

    @classmethod
    def of_run(
        cls, name: str, about: Mapping[str, object], frame: pl.DataFrame, options: Mapping[str, Any]
    ) -> EvaluationInput:
        """Return an input from its pairs, its provenance and the recorded options of a run.

        Pairs of medsim 0.2.0 have no strata, so the input has no AUC beyond spelling.
        """
        strata = pl.DataFrame(schema={name: SET_PAIRS.dtypes[name] for name in _ADDED})
        return cls(
            name=name,
            rated=about["kind"] == "rated",
            frame=pl.concat([frame, strata], how="diagonal"),
            independent=options["independent_pairs"],
            all_difficulties=len({*options["difficulty"]}) != 1,
        )

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """The pair_id, terms and added columns of each pair, in order of pair_id."""
        columns = ("pair_id", "term1", "term2", *_ADDED)
        return self.frame.select(columns).unique("pair_id").sort("pair_id")

    @cached_property
    def sets(self) -> list[PairSet]:
        """The sets in order of name, with rows of ``pairs``; without those that have strata.

        Minimal negatives are in none of these: they are compared with positives of equal terms.
        """
        numbered = self.pairs.select("pair_id").with_row_index("row")
        value = pl.coalesce(pl.col("rating"), pl.col("label").cast(pl.Float64)).alias("value")
        of_sets = self.frame.filter(
            pl.col("difficulty").ne_missing(ALL_KINDS), pl.col("negatives").ne_missing(MINIMAL)
        )
        slim = of_sets.select(*SET_COLUMNS, "pair_id", value).join(numbered, on="pair_id")
        clusters = {} if self.rated or self.independent else self._clusters
        groups = slim.partition_by(SET_COLUMNS, as_dict=True, include_key=False)
        pair_sets = []
        for key in sorted(groups, key=lambda key: [str(part) for part in key]):
            group = groups[key].sort("row", "value")
            dataset, difficulty, negatives = key
            rows = group["row"].to_numpy().astype(np.int32)
            pair_sets.append(
                PairSet(
                    dataset=dataset,
                    difficulty=difficulty,
                    negatives=negatives,
                    rows=rows,
                    values=group["value"].to_numpy(),
                    kind="rated" if self.rated else "labelled",
                    clusters=clusters[dataset][0, rows] if clusters else None,
                )
            )
        return pair_sets

    @cached_property
    def spelling(self) -> Spelling:
        """The spelling of all pairs."""
        return spelling_of(self.pairs)

    @cached_property
    def scored_sets(self) -> list[PairSet]:
        """The sets, and those with strata if the input has negatives of the necessary kinds."""
        if not self.all_difficulties:
            return self.sets
        parts = [part for part in self.sets if part.dataset == HEADLINE_DATASET]
        parts = [part for part in parts if part.negatives in HEADLINE_NEGATIVES]
        with_strata = [*self._changed_terms(), *self._rungs()]
        if {part.negatives for part in parts} != {*HEADLINE_NEGATIVES}:
            return [*self.sets, *with_strata]
        # The further negatives of a sample.
        further = self.frame.filter(dataset=HEADLINE_DATASET, difficulty=ALL_KINDS)["pair_id"]
        rows_of_further = self.pairs["pair_id"].is_in(further.implode()).arg_true().to_numpy()
        every = [*(part.rows for part in parts), rows_of_further.astype(np.int32)]
        values = [*(part.values for part in parts), np.zeros(len(rows_of_further))]
        matched = self._in_strata("matched", every, values, strata_of_spelling(self.spelling))
        if not (learned := self.pairs["stratum"]).count():
            return [*self.sets, matched, *with_strata]
        if self.pairs["spelling"].count():  # such a sample needs no further negatives
            every, values = every[:-1], values[:-1]
        beyond = self._in_strata("beyond", every, values, learned.to_numpy())
        of_kinds = self._of_kinds(beyond, learned.to_numpy())
        return [*self.sets, matched, beyond, *of_kinds, *with_strata]

    def _of_kinds(self, whole: PairSet, learned: Ids) -> Iterator[PairSet]:
        """Yield the positives of a set with the negatives of each kind, if these are enough.

        Each comes twice: in learned strata, and with a stratum for each first term.
        """
        first_terms = self.pairs["term1"].rank("dense").to_numpy()
        strata: dict[SampleKind, Ids] = {"of_kind": learned, "own_negative": first_terms}
        for column in NEGATIVE_KINDS:
            for kind, is_such in _enough(self.pairs[column].gather(whole.rows)):
                chosen = (whole.values == 1) | is_such
                for of, of_pairs in strata.items():
                    yield replace(
                        whole,
                        dataset=f"{whole.dataset}/{column}={kind}",
                        negatives="levenshtein",
                        rows=whole.rows[chosen],
                        values=whole.values[chosen],
                        kind=of,
                        clusters=None if whole.clusters is None else whole.clusters[chosen],
                        strata=of_pairs[whole.rows[chosen]].astype(np.int32),
                    )

    def _changed_terms(self) -> Iterator[PairSet]:
        """Yield the minimal negatives of each kind, with the positives of equal terms.

        A stratum has all pairs with a term, so each pair is in the strata of both of its terms.
        """
        rows = self.pairs.select("pair_id", "difference").with_row_index("row")
        pairs = self.frame.filter(dataset=HEADLINE_DATASET, negatives=MINIMAL)
        pairs = pairs.select("pair_id", "label").unique().join(rows, on="pair_id").sort("row")
        if pairs.is_empty():
            return
        row, value = (np.tile(pairs[name].to_numpy(), 2) for name in ("row", "label"))
        of_terms = pl.concat(self.pairs[side].alias("term") for side in ("term1", "term2"))
        term = of_terms.rank("dense").to_numpy().reshape(2, -1)[:, pairs["row"]].reshape(-1)
        clusters = None if self.independent else self._clusters[HEADLINE_DATASET][:, pairs["row"]]
        for kind, is_such in _enough(pairs["difference"]):
            chosen = (value == 1) | np.tile(is_such, 2)
            chosen &= np.isin(term, term[(value == 0) & chosen])
            yield PairSet(
                dataset=f"{HEADLINE_DATASET}/difference={kind}",
                difficulty=ALL_KINDS,
                negatives=MINIMAL,
                rows=row[chosen].astype(np.int32),
                values=value[chosen].astype(np.float64),
                kind="own_negative",
                clusters=None if clusters is None else clusters.reshape(-1)[chosen],
                strata=term[chosen].astype(np.int32),
            )

    def _rungs(self) -> Iterator[PairSet]:
        """Yield the pairs of each rung with those of the next, if both have enough pairs.

        A stratum has the pairs of one first term in which one name contains the other, or those in
        which none does.
        """
        rows = self.pairs.select("pair_id", "term1", "term2").with_row_index("row")
        ladder = self.frame.filter(dataset=PARENT_CHILD, difficulty=ALL_KINDS)
        ladder = ladder.select("pair_id", "negatives").join(rows, on="pair_id").sort("row")
        lower = (lowered_column(ladder[side]) for side in ("term1", "term2"))
        contains = [one in other or other in one for one, other in zip(*lower, strict=True)]
        of_pairs = ladder.select("term1", contains=pl.Series(contains, dtype=pl.Boolean))
        strata = of_pairs.to_struct().rank("dense").to_numpy()
        rungs = [rung for rung in RUNGS if ladder.filter(negatives=rung).height >= FEW]
        for rung, following in pairwise(rungs):
            chosen = ladder["negatives"].is_in([rung, following]).to_numpy()
            pair_rows = ladder["row"].to_numpy()[chosen].astype(np.int32)
            clusters = None if self.independent else self._clusters[PARENT_CHILD][0, pair_rows]
            yield PairSet(
                dataset=f"{PARENT_CHILD}/rung={rung}",
                difficulty=ALL_KINDS,
                negatives=following,
                rows=pair_rows,
                values=(ladder["negatives"] == rung).to_numpy()[chosen].astype(np.float64),
                kind="rung",
                clusters=clusters,
                strata=strata[chosen].astype(np.int32),
            )

    def _in_strata(
        self, kind: SampleKind, rows: Sequence[Ids], values: Sequence[Values], strata: Ids
    ) -> PairSet:
        """Return a set of all pairs of sets; ``strata`` are those of all pairs of the input."""
        distinct, first = np.unique(np.concatenate(rows), return_index=True)
        return PairSet(
            dataset=HEADLINE_DATASET,
            difficulty=ALL_KINDS,
            negatives=ALL_KINDS,
            rows=distinct,
            values=np.concatenate(values)[first],
            kind=kind,
            clusters=None if self.independent else self._clusters[HEADLINE_DATASET][0, distinct],
            strata=strata[distinct].astype(np.int32),
        )

    @cached_property
    def _clusters(self) -> dict[str, Ids]:
        """The clusters of the first and the second terms by dataset: int32[2, n_pairs]."""
        rows = self.pairs.select("pair_id").with_row_index("row")
        positives = self.frame.filter(label=1).join(rows, on="pair_id")
        ends = pl.concat(self.pairs[side].alias("term") for side in ("term1", "term2"))
        nodes = ends.unique(maintain_order=True)
        first, second = numbers_of(ends, nodes).to_numpy().reshape(2, -1)
        clusters = {}
        for dataset in self.frame["dataset"].unique():
            links = positives.filter(dataset=dataset)["row"].to_numpy()
            if dataset == PARENT_CHILD:  # its links connect nearly all terms
                of_nodes = np.full(len(nodes), len(nodes), np.int32)
                np.minimum.at(of_nodes, first[links], second[links])
            else:
                of_nodes = components(len(nodes), first[links], second[links])
            clusters[dataset] = of_nodes[np.stack([first, second])]
        return clusters


def read_inputs(
    options: EvaluateOptions, progress: Progress, *, strata: bool = True
) -> list[EvaluationInput]:
    """Read builds (folders) and rated files, and prepare them for retrieval and separation.

    The columns of a rated file in an unknown layout follow its path, as in
    "rated.csv,term1=A,term2=B,rating=score".

    Raises:
        InputError: an input is missing, damaged or in no known format.
        OptionError: two inputs have the same name, or an option needs another kind of input.
    """
    if not options.input_paths:
        raise OptionError("name at least one input: a build's folder or a file of rated pairs")
    inputs: dict[str, EvaluationInput] = {}
    with progress.stage("read inputs") as stage:
        words = None if options.words is None else read_words(Path(options.words))
        stratification = Stratification(options.bins, options.topic_bins, options.equal_parts)
        sizes = []
        for path in map(str, options.input_paths):
            if os.path.isdir(path):  # noqa: PTH112 — a path with its columns may be too long for Path
                chosen = (options.datasets, options.difficulty, options.negatives)
                input_ = read_build(Path(path), chosen)
                if PARENT_CHILD in input_.frame["dataset"] and len({*options.difficulty}) != 1:
                    frame = [input_.frame, ladder_of(Build(Path(path)))]
                    input_ = replace(input_, frame=pl.concat(frame, how="diagonal"))
                if strata and len({*options.difficulty}) != 1:
                    input_ = with_strata(input_, cache_folder(options.cache))
                if options.sample is not None:
                    pairs = sampled(input_.frame, options.sample, options.seed)
                    input_ = replace(input_, frame=pairs)
            else:
                input_ = _read_rated_file(*parse_rated(path), stratification, words)
            if input_.name in inputs:
                raise OptionError(f"two inputs are named {input_.name!r}; rename one of them")
            inputs[input_.name] = input_
            n_parts = parts_of_sets(input_.frame)["dataset"].n_unique() if input_.rated else 0
            n_pairs = whole_sets(input_.frame).height if input_.rated else input_.frame.height
            parts = f", {counted(n_parts, 'part')}" if n_parts else ""
            sizes.append(f"{input_.name}: {counted(n_pairs, 'pair')}{parts}")
        stage.note(", ".join(sizes))
    progress.warn(*(words.warnings if words else ()))
    progress.warn(*chain.from_iterable(input_.warnings for input_ in inputs.values()))
    _check(options, [input_ for input_ in inputs.values() if input_.rated], len(inputs))
    return [_with_targets(input_, options, progress) for input_ in inputs.values()]


def _check(options: EvaluateOptions, rated: Sequence[EvaluationInput], n_inputs: int) -> None:
    """Raise OptionError if an option needs a kind of input that is missing."""
    filters = ("datasets", "difficulty", "negatives", "sample")
    for option in (*filters, "retrieval", "separation", "near", "categories"):
        if getattr(options, option) and len(rated) == n_inputs:
            raise OptionError(f"`{option}` needs a build among the inputs, not only rated files")
    if options.words is not None and not rated:
        raise OptionError("`words` is for rated files, but no input is a rated file")
    available = {part for input_ in rated for part in with_parts(input_.frame)["part"].unique()}
    for option, cut, parts, what in (
        ("bins", options.bins, {"count"}, "word counts"),
        ("topic_bins", options.topic_bins, {"topics"}, "numbers of topics"),
        ("equal_parts", options.equal_parts, {"count", "topics"}, "word counts or topics"),
    ):
        if cut and not available & parts:
            raise OptionError(f"`{option}` needs {what} for both words of a pair; add `words`")


def _with_targets(
    input_: EvaluationInput, options: EvaluateOptions, progress: Progress
) -> EvaluationInput:
    """Return an input with the terms for retrieval and the categories for separation."""
    build = input_.build
    if build is None or not (options.retrieval or options.separates):
        return input_
    from medsim.evaluations.separation import categories_of  # noqa: PLC0415 — if asked for

    if options.retrieval:
        with progress.stage(f"link terms of {input_.name}") as stage:
            linked = linked_terms(build)
            input_ = replace(input_, linked=linked)
            stage.note(
                f"{linked['is_linked'].sum():,} of {linked.height:,} terms have a linked term"
            )
        if options.noise:
            from medsim.evaluations.robustness import noisy_items  # noqa: PLC0415 — if asked for

            input_ = replace(input_, noisy=noisy_items(build, linked, options, progress))
    if options.separates:
        with progress.stage(f"find categories of {input_.name}") as stage:
            named = options.categories or (*options.near, *options.far)
            categories = categories_of(build, named, options.n_threads, n_far=len(options.far))
            provenance = {**input_.provenance, "categories": categories.provenance()}
            input_ = replace(input_, categories=categories, provenance=provenance)
            sizes = (f"{c.name}: {len(c.terms):,} terms" for c in categories.categories)
            stage.note(", ".join(sizes))
    return input_


def _enough(kinds: pl.Series) -> Iterator[tuple[str, Flags]]:
    """Yield each kind of negatives that enough pairs have, and which have it: bool[n_pairs]."""
    counts = kinds.drop_nulls().value_counts().sort(kinds.name)
    for kind, n_pairs in counts.iter_rows():
        if n_pairs >= FEW:
            yield kind, kinds.eq_missing(kind).to_numpy()


def distinct_terms(inputs: Iterable[EvaluationInput]) -> list[str]:
    """Return the terms of inputs that need vectors, distinct and in order."""
    parts: list[pl.Series] = []
    for input_ in inputs:
        parts += [input_.frame["term1"], input_.frame["term2"]]
        if input_.linked is not None:
            parts.append(input_.linked["term"])
        if input_.noisy is not None:
            parts.append(input_.noisy.items["noisy_term"])
        if input_.categories is not None:
            parts.append(pl.Series(input_.categories.terms(), dtype=pl.String))
    return pl.concat([part.rename("term").unique() for part in parts]).unique().sort().to_list()


def pair_id_of(term1: str, term2: str) -> str:
    """Return the id of a pair of terms, as the macro ``id_of_pair`` makes it."""
    text = f"{len(term1)}:{term1}{term2}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:16]


def read_build(folder: Path, chosen: Sequence[Sequence[str]] = ((), (), ())) -> EvaluationInput:
    """Return the pairs of the chosen datasets, difficulty and negatives of a build.

    Empty choices are for all.

    Raises:
        InputError: files of the build are damaged.
        OptionError: the build has no such pairs.
    """
    build = Build(folder)
    outputs = build.manifest.outputs
    paths = sorted(path for path in outputs if path.startswith("pairs/"))
    frames = [pl.DataFrame(schema=SET_PAIRS.dtypes)]
    for path in paths:
        named = dict(part.split("=", 1) for part in path.split("/") if "=" in part)
        set_name = (named[column] for column in SET_COLUMNS)
        if any(names and name not in names for name, names in zip(set_name, chosen, strict=True)):
            continue
        pairs = build.read_checked(path)
        set_columns = {column: pl.lit(named[column], pl.String) for column in SET_COLUMNS}
        absent = {name: pl.lit(None, SET_PAIRS.dtypes[name]) for name in ("rating", *_ADDED)}
        pairs = pairs.with_columns(**set_columns, **absent)
        if named["dataset"] == CROSS_LANGUAGE:
            pairs = pairs.with_columns(dataset=pl.format("{}/{}-{}", "dataset", *LANGUAGES))
        frames.append(pairs.select(*SET_PAIRS.dtypes))
    if any(chosen) and all(frame.is_empty() for frame in frames):
        raise OptionError(
            f"{folder} has no such pairs; change `datasets`, `difficulty` or `negatives`"
        )
    n_empty = sum(not outputs[path].rows for path in paths)
    empty = counted(n_empty, "set has no pairs and is", "sets have no pairs and are")
    # The name without following links, usable as the name of a folder.
    named_folder = folder if folder.name not in {"", ".."} else folder.resolve()
    return EvaluationInput(
        name=_UNSAFE.sub("_", named_folder.name),
        rated=False,
        frame=pl.concat(frames),
        provenance={
            "kind": "build",
            "path": str(folder),
            "fingerprint": (digest := combined(outputs, "pairs/").fingerprint),
            "benchmark": benchmark_names().get(digest),
            "redistributable": build.manifest.source.get("redistributable"),
            "source": build.manifest.source,
            "options": build.manifest.options,
            "medsim": build.manifest.medsim,
        },
        build=build,
        warnings=(f"{folder}: {empty} left out",) if n_empty else (),
    )


def with_strata(input_: EvaluationInput, cache: Path | None) -> EvaluationInput:
    """Return a build whose pairs have ``spelling`` and ``stratum``, and ``NEGATIVE_KINDS``.

    See ``learned_strata``, which needs negatives of both strategies, and ``kinds_of``, which needs
    Levenshtein or minimal negatives. Otherwise they are null for all pairs.
    """
    pairs, identity = input_.frame.filter(IN_HEADLINE), str(input_.provenance["fingerprint"])
    if pairs["negatives"].n_unique() == len(HEADLINE_NEGATIVES):
        pairs = pairs.unique("pair_id").sort("pair_id")
        learned = learned_strata(pairs, identity, cache)
        if not learned["spelling"].count():
            few = (
                f"{input_.name} has too few positives to train the spelling classifier (it "
                f"needs {FEWEST_POSITIVES} to train on): the AUC beyond spelling compares pairs "
                "of the same edit distance and about the same lengths instead"
            )
            provenance = {**input_.provenance, "strata": "edit distance"}
            input_ = replace(input_, warnings=(*input_.warnings, few), provenance=provenance)
        input_ = _with_columns(input_, learned)
    is_near = pl.col("negatives").is_in(["levenshtein", MINIMAL])
    near = input_.frame.filter(is_near, dataset=HEADLINE_DATASET, label=0)
    build = input_.build
    if near.height and build and (is_a := build.manifest.outputs.get("terminology/is_a.parquet")):
        near = near.unique("pair_id").sort("pair_id")
        key = f"{identity} {is_a.fingerprint} {near.height} {medsim_version()}"
        input_ = _with_columns(input_, kept(cache, "kinds", key, partial(kinds_of, near, build)))
    return input_


def _with_columns(input_: EvaluationInput, columns: pl.DataFrame) -> EvaluationInput:
    """Return an input with other columns of pairs, by pair_id."""
    frame = input_.frame.drop(columns.columns[1:])
    frame = frame.join(columns, on="pair_id", how="left", maintain_order="left")
    return replace(input_, frame=frame.select(input_.frame.columns))


def _read_rated_file(
    path: Path,
    columns: RatedColumns | None,
    stratification: Stratification,
    words: WordTable | None,
) -> EvaluationInput:
    """Return a rated file with a row per pair and rating, and one for each part with the pair."""
    rated = read_rated(path, columns)
    parts, part_warnings = strata_of(rated, stratification, words)
    skipped = [f"lines left out: {skip.n_rows} ({skip.reason})" for skip in rated.skipped]
    facts = {}
    if (agreement := rated.agreement) is not None:
        iaa1, iaa2 = defined(agreement.iaa1.value), defined(agreement.iaa2.value)
        facts = {"agreement": {"raters": len(agreement.with_mean), "iaa1": iaa1, "iaa2": iaa2}}
    ids = [pair_id_of(*pair) for pair in rated.pairs.select("term1", "term2").iter_rows()]
    pairs = rated.pairs.select("term1", "term2", pair_id=pl.Series(ids, dtype=pl.String))
    whole = pl.concat(
        pairs.with_row_index("row").with_columns(rating=rating, dataset=pl.lit(rating.name))
        for rating in rated.pairs.drop("term1", "term2").iter_columns()
    )
    part_rows = whole.join(parts, on="row", maintain_order="left").with_columns(
        pl.format("{}/{}={}", "dataset", "part", "part_value").alias("dataset")
    )
    frames = [pl.DataFrame(schema=SET_PAIRS.dtypes), whole, part_rows.select(whole.columns)]
    about_words = None if words is None else {"name": words.name, "sha256": words.digest}
    about_parts = {"words": about_words, **stratification.provenance()}
    identity = f"{rated.sha256} {columns!a}"
    if columns is not None and columns.raters:
        identity += f" {columns.raters!a}"
    return EvaluationInput(
        name=_UNSAFE.sub("_", rated.name),
        rated=True,
        frame=pl.concat(frames, how="diagonal").select(*SET_PAIRS.dtypes),
        provenance={
            "kind": "rated",
            "path": str(path),
            "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
            "redistributable": None,
            "layout": rated.layout,
            "range": rated.range,
            "higher_is_similar": rated.higher_is_similar,
            "skipped": [asdict(skip) for skip in rated.skipped],
            "parts": None if parts.is_empty() else about_parts,
            **facts,
        },
        warnings=tuple(
            f"{path.name}: {warning}" for warning in (*skipped, *rated.warnings, *part_warnings)
        ),
    )
