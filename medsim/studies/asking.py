"""Draws the items of studies: pairs of a build, pairs to rate, instances, words, associations."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from medsim.builds.datasets import set_keys
from medsim.builds.output import PAIR, Build
from medsim.core.config import SET_COLUMNS
from medsim.core.errors import InputError, OptionError, counted
from medsim.core.instances import checked_terms, file_of, published_instances
from medsim.core.manifest import fingerprint
from medsim.core.opened import reading_output
from medsim.core.options import folder_of, public
from medsim.core.progress import Progress, progress_of
from medsim.core.tables import TextTable, read_table
from medsim.core.terms import lowered
from medsim.kernels.packing import tie_hashes
from medsim.statistics.strata import PAIR_PROPERTIES, property_in
from medsim.studies.folder import Study, add_to_study, draw_id, presentations_of, write_study
from medsim.studies.options import (
    PER_CLASS,
    AddOptions,
    DomainsOptions,
    GradeOptions,
    InspectOptions,
    InstancesOptions,
    SampleOptions,
    annotators_of,
)
from medsim.studies.output import (
    CONTEXT_ITEMS,
    DOMAIN_ITEMS,
    EVERY,
    GRADED_ITEMS,
    JUDGED_ITEMS,
    RATING_COLUMNS,
    SCORE_TABLES,
)
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, GRADED, JUDGEMENT, MARKS, Scale
from medsim.studies.sheets.answers import StudyIdentity, read_answers
from medsim.studies.words import BIOMEDICAL, kept_words

_CLASSES = (1, 0)  # labels
_PAIR_COLUMNS = [name for name in PAIR.dtypes if name != "distance"]


@public(SampleOptions)
def sample_study(options: SampleOptions) -> Study:
    """Return the study of a build, or of a table of pairs, that it writes to ``out``.

    From every dataset of a build, the same number of positives and negatives is drawn uniformly. No
    pair is drawn twice, in either direction and ignoring case, so datasets that share pairs take
    turns. Of a table all pairs are asked; its column label, if there is one, has the known answers,
    and other columns are kept. All annotators judge all pairs, or with `per_item` each pair is
    judged by that many, drawn so that everyone has equally many pairs, or one more. Each has a
    different order. Give annotators only their folder in ``annotators``.

    Raises:
        InputError: the folder holds no finished build, the build has no pairs, or the table cannot
            be read, holds a pair twice or an unknown label.
        OptionError: an option is out of range, or there are too few pairs for the annotators.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress = progress_of(options.progress)
    scale = JUDGEMENT.asking(options.question, options.answer_words)  # before slow steps
    if options.is_table:
        path, licence = Path(folder_of(options.pairs)), ""
        with progress.stage(f"read {path.name}"):
            table = read_pairs(path, progress, _TAKEN_OF_JUDGED)
            items = _labelled(table, scale, options.seed)
        source = _source("pairs", path, table.sha256)
    else:
        items, source, licence = _of_build(options, progress)
    return write_study(
        JUDGEMENT,
        items,
        _shares(items, options.names, options.per_item, options.seed),
        options,
        progress,
        source=source,
        notice=" ".join(filter(None, [licence, options.notice])) or None,
        question=options.question,
        answer_words=list(options.answer_words) or None,
    )


def _of_build(
    options: SampleOptions, progress: Progress
) -> tuple[pl.DataFrame, dict[str, object], str]:
    """Return the pairs that are drawn of a build, their source, and a notice on its licence."""
    per_class = options.per_class or PER_CLASS
    build = Build(folder_of(options.pairs))
    with reading_output(build), progress.stage("draw pairs") as stage:
        items = _drawn_items(build, per_class, options.seed)
        stage.note(f"{items.height:,} pairs")
    counts = {"/".join(row[:3]): row[3:] for row in drawn_counts(items).iter_rows()}
    for key in set_keys(len(build.options.languages), *build.strategies):
        n_positives, n_negatives = counts.get(str(key), (0, 0))
        if min(n_positives, n_negatives) < per_class:
            progress.warn(
                f"{key} has {counted(n_positives, 'positive')} and "
                f"{counted(n_negatives, 'negative')} to draw, not {per_class} of each"
            )
    source, licence = build.manifest.source, ""
    if source.get("redistributable") is False:
        licence = (
            f"This holds terms of {source.get('name')}, which must not be passed on unless its "
            f"licence allows it. {source.get('terms_of_use') or ''}"
        ).strip()
    recorded = {
        **_source("build", build.folder, build.manifest.digest),
        "redistributable": source.get("redistributable"),
        "name": source.get("name"),
    }
    return items, recorded, licence


def _shares(
    items: pl.DataFrame, names: Sequence[str], per_item: int | None, seed: int
) -> dict[str, pl.DataFrame]:
    """Return the items of each annotator.

    Each item goes to the annotators who have the fewest so far, drawn among equals, so numbers
    differ by at most one. The order of items, by item_id, is drawn from the seed too.
    """
    shares: dict[str, list[str]] = {name: [] for name in names}
    for item_id in items["item_id"]:
        draws = {name: (len(shares[name]), draw_id(seed, "give", item_id, name)) for name in names}
        for name in sorted(names, key=draws.__getitem__)[:per_item]:
            shares[name].append(item_id)
    if not all(shares.values()):
        few = f"{items.height:,} pairs are too few for {len(names)} annotators"
        raise OptionError(f"{few}, with {per_item} per pair")
    return {name: items.filter(pl.col("item_id").is_in(ids)) for name, ids in shares.items()}


_LABELS = {"positive": 1, "negative": 0, "": None}


def _labelled(table: TextTable, scale: Scale, seed: int) -> pl.DataFrame:
    """Return ``JUDGED_ITEMS`` of a table of pairs, and its other columns, in order of item_id.

    Columns that the table lacks are null. Labels are answers of the scale, or positive or negative.
    """
    frame, columns = table.frame, JUDGED_ITEMS.dtypes
    if "label" in frame.columns:
        cells = frame["label"].str.to_lowercase()
        values = {cell: scale.value_of(cell) for cell in cells.unique()} | _LABELS
        known = [cell for cell, value in values.items() if value in _CLASSES or not cell]
        words = ", ".join(scale.allowed[: len(_CLASSES)])
        accepted = f"is not one of {words}, yes, no, 1, 0, positive, negative, or empty"
        table.refuse(~cells.is_in(known), "label", accepted)
        frame = frame.with_columns(cells.replace_strict(values, return_dtype=pl.Int8))
    texts = [name for name in columns if name in frame.columns and name != "label"]
    frame = frame.with_columns(pl.col(texts).replace("", None))
    absent = {name: None for name in columns if name not in {"item_id", *frame.columns}}
    items = _with_ids(frame.with_columns(**absent), seed, _SIDES).sort("item_id")
    return items.select(*columns, pl.exclude([*columns])).cast(columns)  # type: ignore[arg-type]


def drawn_counts(items: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of positives and negatives of every dataset, in order of name."""
    sums = {
        name: (pl.col("label") == label).sum().cast(pl.Int64)
        for name, label in {"n_positives": 1, "n_negatives": 0}.items()
    }
    return items.group_by(SET_COLUMNS).agg(**sums).sort(SET_COLUMNS)


def _drawn_items(build: Build, per_class: int, seed: int) -> pl.DataFrame:
    """Return ``JUDGED_ITEMS``: the drawn pairs, in order of item_id.

    Every class of every dataset has its own order of pairs. They take turns, each with its next
    pair that is not yet drawn, so shared pairs are divided evenly.
    """
    keys = set_keys(len(build.options.languages), *build.strategies)
    longest = per_class * len(keys) * len(_CLASSES)  # others may take all but per_class of these
    waiting = []
    for key in keys:
        pairs = build.read(key.path, _PAIR_COLUMNS)
        for label in _CLASSES:
            labelled = pairs.filter(label=label)
            ids = labelled["pair_id"].str.to_integer(base=16, dtype=pl.UInt64).to_numpy()
            class_seed = np.uint64(int(draw_id(str(key), label), 16))
            ranks = pl.Series("rank", tie_hashes(np.uint64(seed), class_seed, ids))
            first = labelled.with_columns(ranks).bottom_k(longest, by="rank").sort("rank")
            waiting.append((key, label, first.drop("rank").iter_rows(named=True)))
    drawn_pairs: set[tuple[str, ...]] = set()
    rows = []
    for _ in range(per_class):
        for key, label, ranked in waiting:
            for row in ranked:
                pair = tuple(sorted(lowered((row["term1"], row["term2"]))))
                if pair not in drawn_pairs:
                    drawn_pairs.add(pair)
                    item_id = draw_id(seed, "item", row["pair_id"])
                    rows.append({**row, **asdict(key), "label": label, "item_id": item_id})
                    break
    if not rows:
        raise InputError(f"{build.folder} has no pairs to judge")
    return pl.DataFrame(rows, schema=JUDGED_ITEMS.dtypes).sort("item_id")


_SIDES = ("term1", "term2")
_OF_ANSWERS = EVERY["answers"].dtypes
_JUDGED = SCORE_TABLES[JUDGEMENT.name]["judged"].dtypes
_TAKEN_OF_JUDGED = {"comments", *_OF_ANSWERS, *_JUDGED} - {*_SIDES}
_TAKEN = frozenset({*GRADED_ITEMS.dtypes, *RATING_COLUMNS, *_OF_ANSWERS} - set(_SIDES))


@public(GradeOptions)
def grade_study(options: GradeOptions) -> Study:
    """Return the graded study of pairs that it writes to ``out``.

    Every group of raters has its own pairs, and all raters rate the consistency set. Every rater
    sees some pairs twice, with about half of the others in between. Pages have equal lengths, and
    each has an equal share of the group's own pairs, of the consistency set and of the repeated
    pairs: with 500, 50 and 50 pairs and 120 per page, a page has 100, 10 and 10 (Chiu et al. 2018).
    Give raters only their folder in ``annotators``.

    Raises:
        InputError: the file cannot be read, or holds a pair twice.
        OptionError: an option is out of range, or the pairs are too few for it.
        OutputError: ``out`` is taken or cannot be written.
    """
    raters = options.names
    path, progress = Path(options.pairs), progress_of(options.progress)
    with progress.stage("share pairs out"):
        table = read_pairs(path, progress)
        n_pairs, consistency = table.frame.height, options.consistency or 0
        if n_pairs - consistency < options.groups:
            raise OptionError(
                f"`consistency` {consistency} leaves too few of {n_pairs:,} pairs for "
                f"{options.groups} groups"
            )
        n_first = consistency + (n_pairs - consistency) // options.groups
        if options.duplicates > n_first:
            few = f"a rater sees only {n_first:,} pairs"
            raise OptionError(f"`duplicates` {options.duplicates} is too many; {few}")
        items = _with_ids(table.frame, options.seed, _SIDES)
        draws = [draw_id(options.seed, "group", item_id) for item_id in items["item_id"]]
        rank = pl.Series(draws).rank("ordinal").cast(pl.Int32) - 1 - consistency
        group = pl.when(rank < 0).then(0).otherwise(rank % options.groups + 1)
        items = items.with_columns(group=group.cast(pl.Int32)).sort("item_id")
        items = items.select(*GRADED_ITEMS.dtypes, pl.exclude(GRADED_ITEMS.dtypes))
        sizes: dict[int, int] = dict(items["group"].value_counts().iter_rows())
        n_seen = sizes.pop(0, 0) + max(sizes.values()) + options.duplicates  # of the largest group
        n_pages = math.ceil(n_seen / options.page_size) if options.page_size else 1
    return write_study(
        GRADED,
        items,
        _in_groups(items, raters, options.groups),
        options,
        progress,
        (options.duplicates, n_pages),
        source=_source("pairs", path, table.sha256),
        page_size=math.ceil(n_seen / n_pages) if options.page_size else 0,
    )


@public(AddOptions)
def add_annotator(options: AddOptions) -> Study:
    """Return a study to which it adds an annotator, with a sheet of the pairs that need votes.

    These are the pairs with fewer answers than people who were asked, fewest answers first; without
    answers all pairs. The sheets and answers of all others stay valid.

    Raises:
        InputError: the folder is not a study, or an answer is invalid.
        OptionError: the name is unfit or taken, or no pair needs a vote.
        OutputError: the study cannot be written.
    """
    study = Study(folder_of(options.study))
    names, shown = study.manifest.annotators, study.assignment()
    *_, name = annotators_of([*names, options.name], stem="")
    entries = shown.with_columns(value=pl.lit(None))
    if options.answers:
        identity = StudyIdentity(study_id=study.manifest.study_id, scale=study.asked)
        entries = read_answers([*map(Path, options.answers)], shown, identity).entries
    is_asked = ~pl.col("annotator").is_in(study.manifest.added)  # others replace these
    needed = (
        entries.group_by("item_id")
        .agg(pl.col(*study.scale.sides).first(), n=pl.col("value").count(), n_asked=is_asked.sum())
        .filter(pl.col("n") < pl.col("n_asked"))
        .sort("n", "item_id")
    )
    if needed.is_empty():
        raise OptionError(f"every {study.scale.noun} has all its answers, so none is left to add")
    seed = int(str(study.manifest.options.get("seed", 0)))
    return add_to_study(study, presentations_of(seed, name, needed, shown=study.scale.sides))


def rater_counts(study: Study) -> pl.DataFrame:
    """Return the number of pairs of each rater of a graded study, and the rater's group."""
    shown = study.assignment().join(study.items().select("item_id", "group"), on="item_id")
    first = pl.col("showing") == 1
    counts = {
        "n_of_group": (pl.col("group") > 0) & first,
        "n_of_all": (pl.col("group") == 0) & first,
        "n_twice": ~first,
    }
    sums = {name: which.sum().cast(pl.Int64) for name, which in counts.items()}
    return shown.group_by("annotator").agg(pl.col("group").max(), **sums).sort("annotator")


def read_pairs(
    path: Path, progress: Progress | None = None, taken: Collection[str] = _TAKEN
) -> TextTable:
    """Return the pairs of a table: term1, term2, and its other columns as text.

    Columns cannot have the names ``taken``.

    Raises:
        InputError: the file cannot be read, lacks a column or has a column with a reserved name, or
            a pair lacks a term or is repeated; the message names the line.
    """
    table = read_table(path, _SIDES, extra=None)
    progress_of(progress).warn(*table.warnings)
    for name in table.frame.columns:
        if name in taken:
            raise InputError(f"{path}: medsim writes a column {name!r} itself; rename it")
    lacking = table.frame.select(pl.any_horizontal(pl.col(_SIDES) == "")).to_series()
    if table.frame.height > 1 and lacking[-1] and lacking.sum() == 1:  # such as totals
        where, cells = list(table.rows())[-1]
        shown = " ".join(filter(None, cells))
        progress_of(progress).warn(f"{path.name}: {where} ({shown!r}) lacks a term; left out")
        table = replace(table, at=table.at[:-1], frame=table.frame[:-1])
    if table.frame.is_empty():
        raise InputError(f"{path} has no pairs")
    for side in _SIDES:
        table.refuse(table.frame[side] == "", side, "is empty")
    _check_properties(table)
    first_location: dict[tuple[str, ...], str] = {}
    for location, (term1, term2, *_) in table.rows():
        pair = tuple(sorted(lowered([term1, term2])))
        if pair[0] == pair[1]:
            raise InputError(f"{path}: {location}: both terms are {term1!r}")
        if (earlier := first_location.setdefault(pair, location)) != location:
            raise InputError(f"{path}: {earlier} and {location} have the same pair")
    return table


def _check_properties(table: TextTable) -> None:
    """Raise InputError if a column that an evaluation reads has an invalid value."""
    for column in filter(table.frame.columns.__contains__, PAIR_PROPERTIES):
        for location, cell in zip(table.at, table.frame[column], strict=True):
            try:
                property_in(column, cell)
            except InputError as error:
                raise InputError(f"{table.path}: {table.unit} {location}: {error}") from error


_TARGETS = [f"{what}{side}" for side in "12" for what in ("sentence", "start", "end")]
_PLAIN = str.maketrans(dict(zip(MARKS, "[]", strict=True)))
_INSPECTED = {"domain": BIOMEDICAL, "associated": "yes"}
"""The values of pairs to inspect, if a file has these columns."""


@public(InstancesOptions)
def instances_study(options: InstancesOptions) -> Study:
    """Return the study of a benchmark of words in context that it writes to ``out``.

    Every annotator sees the same number of instances, drawn uniformly and without labels. Some are
    shown to all, to compute their agreement, and others to nobody else (Rouhizadeh et al. 2024,
    BioWiC). Give annotators only their folder in ``annotators``.

    Raises:
        InputError: the file cannot be read, or has a term that is not at its offsets.
        OptionError: an option is out of range, or there are too few instances.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress = progress_of(options.progress)
    path = Path(options.benchmark)
    if path.is_dir():
        path = file_of(path, "test")
        if not path.exists():
            raise InputError(f"{path.parent} has no test.json; give a folder with one, or a file")
    with progress.stage("draw instances") as stage:
        instances = checked_terms(path, published_instances(path))
        items = _drawn_instances(path, instances, options)
        stage.note(f"{items.height:,} of {instances.height:,}")
    source = _source("instances", path, fingerprint(instances))
    seen = _in_groups(items, options.names, len(options.names))
    return write_study(CONTEXT, items, seen, options, progress, source=source)


@public(DomainsOptions)
def domains_study(options: DomainsOptions) -> Study:
    """Return the study of words to sort by domain that it writes to ``out``.

    The words are the candidates for word pairs: forms and spellings of a word are merged, and words
    that nobody could rate are left out. All annotators see all words, or the words of a sample
    (Chiu et al. 2018). Give annotators only their folder in ``annotators``.

    Raises:
        InputError: the table cannot be read, or no word remains.
        OptionError: an option is out of range, or there are too few words.
        OutputError: ``out`` is taken or cannot be written.
    """
    path, progress = Path(options.words), progress_of(options.progress)
    with progress.stage(f"read {path.name}") as stage:
        candidates = kept_words(options)
        for skipped in candidates.left_out:
            if skipped.n_rows:
                progress.say(f"left out, {skipped.reason}: {skipped.n_rows:,}")
        words = candidates.frame
        if words.is_empty():
            raise InputError(f"{path} has no words to sort")
        size = words.height if options.size is None else options.size
        if size > words.height:
            raise OptionError(f"`size` {size:,} is too many; {path} has {words.height:,} words")
        items = (
            _with_ids(words, options.seed, ("word",))
            .with_columns(pl.lit(candidates.word_class).alias("class"))
            .sort("item_id")
            .head(size)
            .select(*DOMAIN_ITEMS.dtypes)
            .cast(pl.Schema(DOMAIN_ITEMS.dtypes))
        )
        stage.note(f"{items.height:,} of {words.height:,} words")
    source = _source("words", path, fingerprint(words))
    seen = dict.fromkeys(options.names, items)
    return write_study(DOMAIN, items, seen, options, progress, source=source)


@public(InspectOptions)
def inspect_study(options: InspectOptions) -> Study:
    """Return the study of pairs to inspect that it writes to ``out``.

    All annotators see all associated pairs, and confirm which are associated in a biomedical sense
    (Chiu et al. 2018). Give annotators only their folder in ``annotators``.

    Raises:
        InputError: the file cannot be read, holds a pair twice, or has no associated pair.
        OptionError: an option is out of range.
        OutputError: ``out`` is taken or cannot be written.
    """
    path, progress = Path(options.pairs), progress_of(options.progress)
    with progress.stage(f"read {path.name}") as stage:
        table = read_pairs(path, progress)
        pairs = table.frame
        for column, value in _INSPECTED.items():
            if column in pairs.columns:
                matches = [property_in(column, cell) in {None, value} for cell in pairs[column]]
                pairs = pairs.filter(pl.Series(matches, dtype=pl.Boolean))
        if pairs.is_empty():
            raise InputError(f"{path} has no associated biomedical pair")
        stage.note(f"{pairs.height:,} of {table.frame.height:,} pairs to inspect")
    items = _with_ids(pairs, options.seed, _SIDES).sort("item_id")
    source = _source("pairs", path, table.sha256)
    seen = dict.fromkeys(options.names, items)
    return write_study(ASSOCIATION, items, seen, options, progress, source=source)


def shown_counts(study: Study) -> pl.DataFrame:
    """Return the number of items of each annotator, and of the items that others see too."""
    shown = study.assignment().with_columns(common=pl.len().over("item_id") > 1)
    n_shown, n_common = pl.len().cast(pl.Int64), pl.col("common").sum().cast(pl.Int64)
    counts = {f"n_{study.scale.noun}s": n_shown, "n_common": n_common}
    return shown.group_by("annotator").agg(**counts).sort("annotator")


def _drawn_instances(
    path: Path, instances: pl.DataFrame, options: InstancesOptions
) -> pl.DataFrame:
    """Return ``CONTEXT_ITEMS``: the drawn instances, in order of item_id.

    Their ids are digests of sentences and offsets, so draws do not depend on their order. Of
    repeated instances the first is used.
    """
    different = (
        _with_ids(instances, options.seed, _TARGETS)
        .unique("item_id", keep="first", maintain_order=True)
        .sort("item_id")
    )
    n_annotators, n_common = len(options.names), options.n_common
    n_own = options.size - n_common
    n_wanted = n_common + n_annotators * n_own
    if n_wanted > different.height:
        raise OptionError(
            f"`size` {options.size} and `common` {n_common} need {n_wanted:,} instances for "
            f"{n_annotators} annotators; {path} has {different.height:,}"
        )
    number = (pl.int_range(pl.len()) - n_common) // max(n_own, 1) + 1
    chosen = different.head(n_wanted).with_columns(
        pl.when(number > 0).then(number).otherwise(0).alias("group"),
        pl.struct("sentence1", "start1", "end1").map_elements(_marked, pl.String).alias("marked1"),
        pl.struct("sentence2", "start2", "end2").map_elements(_marked, pl.String).alias("marked2"),
    )
    return chosen.select(*CONTEXT_ITEMS.dtypes).cast(pl.Schema(CONTEXT_ITEMS.dtypes))


def _marked(target: dict[str, Any]) -> str:
    """Return a sentence with its target between ``MARKS``."""
    sentence, start, end = target.values()
    plain = sentence.translate(_PLAIN)
    return f"{plain[:start]}{MARKS[0]}{plain[start:end]}{MARKS[1]}{plain[end:]}"


def _source(kind: str, path: Path, content: str) -> dict[str, object]:
    return {"kind": kind, "path": str(path), "fingerprint": content}


def _with_ids(frame: pl.DataFrame, seed: int, columns: Sequence[str]) -> pl.DataFrame:
    """Return a frame with a first column item_id, a digest of some of its columns."""
    ids = [draw_id(seed, "item", *row) for row in frame.select(columns).iter_rows()]
    return frame.select(pl.Series("item_id", ids, pl.String), pl.all())


def _in_groups(items: pl.DataFrame, names: Sequence[str], n_groups: int) -> dict[str, pl.DataFrame]:
    """Return the items of group 0 and of each annotator's group; groups are nearly equal."""
    return {
        name: items.filter(pl.col("group").is_in([0, n_earlier * n_groups // len(names) + 1]))
        for n_earlier, name in enumerate(names)
    }
