"""Checks of a benchmark that has the provenance of its instances."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.core.files import digest_of
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.manifest import fingerprint
from medsim.wic import SPLITS
from medsim.wic.benchmark import INSTANCES, MENTIONS, NAMES, RELATED
from medsim.wic.checks.findings import Breach, each, finding, instances_of
from medsim.wic.output import WIC_INSTANCE_COLUMNS, WIC_MENTION_COLUMNS

if TYPE_CHECKING:
    import polars as pl

    from medsim.core.manifest import Output
    from medsim.wic.benchmark import Benchmark
    from medsim.wic.checks.findings import Instance, SplitFinding

_COLUMNS: dict[str, tuple[str, ...]] = {
    INSTANCES: tuple(WIC_INSTANCE_COLUMNS),
    MENTIONS: tuple(WIC_MENTION_COLUMNS),
    NAMES: ("term", "concept_id"),
    RELATED: ("concept1", "concept2", "relation"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The provenance of a benchmark's instances.

    Attributes:
        instances: of all splits, with their concepts and places.
        names: term, in lower case, and concept_id.
        related: concept1, concept2, relation of concepts that no instance has.
    """

    instances: pl.DataFrame
    mentions: pl.DataFrame
    names: pl.DataFrame
    related: pl.DataFrame


def check_outputs(made: Benchmark) -> SplitFinding:
    """Return whether the files of a folder are those of its manifest."""
    known = made.manifest.outputs
    expected = sorted({*known, *_COLUMNS, *(f"{split}.json" for split in SPLITS)})
    faults = [_fault(made, path, known.get(path)) for path in expected]
    breaches = [Breach(found=words) for words in faults if words]
    return finding("", "outputs", len(expected), breaches)


def _fault(made: Benchmark, path: str, known: Output | None) -> str:
    """Return the fault of a file: Parquet is compared by rows, all else by bytes."""
    if known is None:
        return f"{path} is not in the manifest"
    try:
        if path.endswith(".parquet"):
            found = fingerprint(made.read(path))
        else:
            found = digest_of(made.folder / path)
    except (InputError, OSError) as error:
        return f"{path} cannot be read ({error})"
    return "" if found == known.fingerprint else f"{path} is not what the manifest tells of"


def read_provenance(made: Benchmark) -> Provenance:
    """Return the provenance in a folder."""
    frames = {}
    for path, columns in _COLUMNS.items():
        frames[path] = made.read(path)
        if lacking := sorted(set(columns) - set(frames[path].columns)):
            raise InputError(f"{made.folder / path} has no column {lacking[0]!r}")
    return Provenance(
        instances=frames[INSTANCES],
        mentions=frames[MENTIONS],
        names=frames[NAMES],
        related=frames[RELATED],
    )


def check_mentions(provenance: Provenance) -> SplitFinding:
    """Return whether every sentence has one mention."""
    counted = Counter(provenance.mentions["sentence"].to_list())
    breaches = [Breach(found=f"{n} mentions in {text!r}") for text, n in counted.items() if n > 1]
    return finding("", "one_row", len(counted), breaches)


def check_provenance(
    split: str, instances: pl.DataFrame, provenance: Provenance
) -> list[SplitFinding]:
    """Return whether the instances of a split, as its JSON file has them, fit the provenance."""
    rows = provenance.instances.filter(provenance.instances["split"] == split)
    return [
        _same_rows(split, instances, rows.select(list(WIC_COLUMNS))),
        _mentions(split, rows, provenance),
        *_concepts(split, rows, provenance),
    ]


def _same_rows(split: str, found: pl.DataFrame, expected: pl.DataFrame) -> SplitFinding:
    pairs = zip(instances_of(found), instances_of(expected), strict=False)
    breaches = [
        Breach(instance=one, found="instances.parquet has another")
        for one, other in pairs
        if one != other
    ]
    if found.height != expected.height:
        text = f"{found.height:,} instances, and {expected.height:,} in instances.parquet"
        breaches.append(Breach(found=text))
    return finding(split, "rows", found.height, breaches)


def _concepts(split: str, rows: pl.DataFrame, provenance: Provenance) -> list[SplitFinding]:
    """Return whether labels and concepts go together."""
    concepts = rows.select("concept1", "concept2").rows()
    pairs = provenance.related.select(_COLUMNS[RELATED]).rows()
    related = {frozenset(pair): relation for *pair, relation in pairs}

    def wrong_label(instance: Instance) -> str:
        concept1, concept2 = concepts[instance.number - 1]
        if instance.label == (concept1 == concept2):
            return ""
        return f"{instance.label}, and the concepts are {concept1} and {concept2}"

    def left_out(instance: Instance) -> str:
        concept1, concept2 = concepts[instance.number - 1]
        relation = related.get(frozenset((concept1, concept2)))
        return f"{concept1} and {concept2} are left out: {relation}" if relation else ""

    instances = instances_of(rows)
    return [
        each(split, "label", instances, wrong_label),
        each(split, "excluded", instances, left_out),
    ]


def _mentions(split: str, rows: pl.DataFrame, provenance: Provenance) -> SplitFinding:
    """Return whether all mentions of a split are among those of the corpora."""
    known = set(provenance.mentions.select(_COLUMNS[MENTIONS]).rows())
    names = [name.removesuffix("_id") for name in WIC_MENTION_COLUMNS]
    sides = [rows.select(f"{name}{side}" for name in names).rows() for side in (1, 2)]

    def unknown(instance: Instance) -> str:
        wrong = [n for n, of in enumerate(sides, 1) if of[instance.number - 1] not in known]
        return f"mention {wrong[0]} is not in {MENTIONS}" if wrong else ""

    return each(split, "mention", instances_of(rows), unknown)
