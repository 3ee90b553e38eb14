"""Studies in which a few people answer the same questions: of instances, words, associations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, OptionError
from medsim.core.instances import check_terms, published_instances
from medsim.core.manifest import fingerprint
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.evaluations.ratings.properties import property_in
from medsim.studies.folder import Study, StudyDraft, draw_id, presentations_of, write_study
from medsim.studies.grade import read_pairs
from medsim.studies.options import DomainsOptions, InspectOptions, InstancesOptions
from medsim.studies.output import CONTEXT_ITEMS, DOMAIN_ITEMS
from medsim.studies.sheets import ASSOCIATION, CONTEXT, DOMAIN, MARKS
from medsim.studies.words.frequencies import BIOMEDICAL, kept_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medsim.core.progress import Progress
    from medsim.studies.options import AskedOptions
    from medsim.studies.sheets import Scale

_PLACES = [f"{what}{side}" for side in "12" for what in ("sentence", "start", "end")]
_MARKED = ("marked1", "marked2")
_PLAIN = str.maketrans(dict(zip(MARKS, "[]", strict=True)))
_INSPECTED = {"domain": BIOMEDICAL, "associated": "yes"}
"""The values of pairs that are inspected, where a file tells them."""


@public(InstancesOptions)
def instances_study(options: InstancesOptions) -> Study:
    """Return the study of a benchmark of words in context that it writes to ``out``.

    Every annotator sees as many instances, drawn uniformly and without their labels: some that all
    see, by which their agreement is told, and others of their own (Rouhizadeh et al. 2024, BioWiC).
    Only what lies in ``annotators`` is for them.

    Raises:
        InputError: the file cannot be read, or has a term that is not at its offsets.
        OptionError: an option is out of range, or there are too few instances.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress = progress_of(options.progress)
    path = Path(options.benchmark)
    if path.is_dir():
        path /= "test.json"
        if not path.exists():
            raise InputError(f"{path.parent} has no test.json; name a folder that has, or a file")
    with progress.stage("draw instances") as stage:
        instances = published_instances(path)
        check_terms(path, instances)
        items = _drawn_instances(path, instances, options)
        stage.found(f"{items.height:,} of {instances.height:,}")
    source: dict[str, object] = {
        "kind": "instances",
        "path": str(path),
        "fingerprint": fingerprint(instances),
    }
    return _write_asked(CONTEXT, items, _MARKED, source, options, progress)


@public(DomainsOptions)
def domains_study(options: DomainsOptions) -> Study:
    """Return the study of words to sort by domain that it writes to ``out``.

    Words are those of which pairs could be chosen: all forms and spellings of a word count as one,
    and what nobody could rate is left out. All annotators see all of them, or as many as are drawn
    (Chiu et al. 2018). Only what lies in ``annotators`` is for them.

    Raises:
        InputError: the table cannot be read, or no word of it remains.
        OptionError: an option is out of range, or there are too few words.
        OutputError: ``out`` is taken or cannot be written.
    """
    path, progress = Path(options.words), progress_of(options.progress)
    with progress.stage(f"read {path.name}") as stage:
        kept = kept_words(options)
        for one in kept.left_out:
            if one.n_rows:
                progress.say(f"left out, {one.reason}: {one.n_rows:,}")
        words = kept.frame
        if words.is_empty():
            raise InputError(f"{path} has no word that people could sort")
        size = words.height if options.size is None else options.size
        if size > words.height:
            raise OptionError(
                f"`size` {size:,} is too many; {path} has {words.height:,} words to sort"
            )
        ids = [draw_id(options.seed, "item", word) for word in words["word"]]
        items = (
            words.with_columns(
                pl.Series("item_id", ids, pl.String), pl.lit(kept.word_class).alias("class")
            )
            .sort("item_id")
            .head(size)
            .select(*DOMAIN_ITEMS.dtypes)
            .cast(pl.Schema(DOMAIN_ITEMS.dtypes))
        )
        stage.found(f"{items.height:,} of {words.height:,} words")
    source: dict[str, object] = {
        "kind": "words",
        "path": str(path),
        "fingerprint": fingerprint(words),
    }
    return _write_asked(DOMAIN, items, ("word",), source, options, progress)


@public(InspectOptions)
def inspect_study(options: InspectOptions) -> Study:
    """Return the study of pairs to inspect that it writes to ``out``.

    All annotators see all pairs that are said to be associated, and confirm which of them are in a
    biomedical sense (Chiu et al. 2018). Only what lies in ``annotators`` is for them.

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
                told = [property_in(column, cell) in {None, value} for cell in pairs[column]]
                pairs = pairs.filter(pl.Series(told, dtype=pl.Boolean))
        if pairs.is_empty():
            raise InputError(f"{path} has no associated biomedical pair")
        stage.found(f"{pairs.height:,} of {table.frame.height:,} pairs to inspect")
    ids = [
        draw_id(options.seed, "item", *pair) for pair in pairs.select("term1", "term2").iter_rows()
    ]
    items = pairs.select(pl.Series("item_id", ids, pl.String), pl.all()).sort("item_id")
    source: dict[str, object] = {"kind": "pairs", "path": str(path), "fingerprint": table.sha256}
    return _write_asked(ASSOCIATION, items, ("term1", "term2"), source, options, progress)


def shown_counts(study: Study) -> pl.DataFrame:
    """Return how many items each annotator sees, and how many of them others see as well."""
    shown = study.assignment().with_columns(common=pl.len().over("item_id") > 1)
    return (
        shown.group_by("annotator")
        .agg(
            pl.len().cast(pl.Int64).alias(f"n_{study.scale.noun}s"),
            pl.col("common").sum().cast(pl.Int64).alias("n_common"),
        )
        .sort("annotator")
    )


def _drawn_instances(
    path: Path, instances: pl.DataFrame, options: InstancesOptions
) -> pl.DataFrame:
    """Return ``CONTEXT_ITEMS``: the instances that are drawn, in order of item_id.

    Their ids are digests of their sentences and offsets, so that no draw depends on their order; of
    instances that stand twice the first counts.
    """
    places = instances.select(_PLACES).iter_rows()
    ids = [draw_id(options.seed, "item", *place) for place in places]
    different = (
        instances.with_columns(pl.Series("item_id", ids, pl.String))
        .unique("item_id", keep="first", maintain_order=True)
        .sort("item_id")
    )
    n_annotators, n_common = len(options.names), options.n_common
    n_own = options.size - n_common
    n_wanted = n_common + n_annotators * n_own
    if n_wanted > different.height:
        raise OptionError(
            f"`size` {options.size} and `common` {n_common} need {n_wanted:,} different instances "
            f"for {n_annotators} annotators; {path} has {different.height:,}"
        )
    own = (pl.int_range(pl.len()) - n_common) // max(n_own, 1) + 1
    drawn = different.head(n_wanted).with_columns(
        pl.when(own > 0).then(own).otherwise(0).alias("group"),
        pl.struct("sentence1", "start1", "end1").map_elements(_marked, pl.String).alias("marked1"),
        pl.struct("sentence2", "start2", "end2").map_elements(_marked, pl.String).alias("marked2"),
    )
    return drawn.select(*CONTEXT_ITEMS.dtypes).cast(pl.Schema(CONTEXT_ITEMS.dtypes))


def _marked(place: dict[str, Any]) -> str:
    """Return a sentence with its target between ``MARKS``."""
    sentence, start, end = place.values()
    plain = sentence.translate(_PLAIN)
    return f"{plain[:start]}{MARKS[0]}{plain[start:end]}{MARKS[1]}{plain[end:]}"


def _write_asked(
    scale: Scale,
    items: pl.DataFrame,
    shown: Sequence[str],
    source: dict[str, object],
    options: AskedOptions,
    progress: Progress,
) -> Study:
    """Return the study of items that it writes to ``out``.

    Args:
        scale: of the study.
        items: with item_id, in its order; where they have a group, annotators see those of group 0
            and of their own, which count from 1.
        shown: the columns of items that annotators see.
        source: of the items, for the manifest.
        options: of the study.
        progress: told of the stage.
    """
    with progress.stage("write sheets") as stage:
        parts = []
        for number, name in enumerate(options.names, start=1):
            own = items.filter(pl.col("group").is_in([0, number])) if "group" in items else items
            parts.append(presentations_of(options.seed, name, own, shown=shown))
        stage.found(f"{items.height:,} {scale.noun}s for {len(options.names)} annotators")
        draft = StudyDraft(
            scale=scale,
            items=items,
            assignment=pl.concat(parts),
            notice=options.notice,
            source=source,
        )
        return write_study(draft, options, progress)
