"""Draws instances of a benchmark of words in context for people to label."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.core.errors import InputError, OptionError
from medsim.core.instances import check_terms, published_instances
from medsim.core.manifest import fingerprint
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.studies.asking import write_asked
from medsim.studies.asking_options import InstancesOptions
from medsim.studies.output import CONTEXT_ITEM_COLUMNS
from medsim.studies.presentations import draw_id
from medsim.studies.sheets import CONTEXT, MARKS

if TYPE_CHECKING:
    from medsim.studies.folder import Study

_PLACES = [f"{what}{side}" for side in "12" for what in ("sentence", "start", "end")]
_MARKED = ("marked1", "marked2")
_PLAIN = str.maketrans(dict(zip(MARKS, "[]", strict=True)))


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
    path = _file_of(Path(options.benchmark))
    with progress.stage("draw instances") as stage:
        instances = published_instances(path)
        check_terms(path, instances)
        items = _drawn(path, instances, options)
        stage.found(f"{items.height:,} of {instances.height:,}")
    source: dict[str, object] = {
        "kind": "instances",
        "path": str(path),
        "fingerprint": fingerprint(instances),
    }
    return write_asked(CONTEXT, items, _MARKED, source, options, progress)


def _file_of(benchmark: Path) -> Path:
    """Return the file of instances: of a folder, its test split."""
    if not benchmark.is_dir():
        return benchmark
    path = benchmark / "test.json"
    if not path.exists():
        raise InputError(f"{benchmark} has no test.json; name a folder that has, or a file")
    return path


def _drawn(path: Path, instances: pl.DataFrame, options: InstancesOptions) -> pl.DataFrame:
    """Return ``CONTEXT_ITEM_COLUMNS``: the instances that are drawn, in order of item_id.

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
    return drawn.select(pl.col(name).cast(kind) for name, kind in CONTEXT_ITEM_COLUMNS.items())


def _marked(place: dict[str, Any]) -> str:
    """Return a sentence with its target between ``MARKS``."""
    sentence, start, end = place.values()
    plain = sentence.translate(_PLAIN)
    return f"{plain[:start]}{MARKS[0]}{plain[start:end]}{MARKS[1]}{plain[end:]}"
