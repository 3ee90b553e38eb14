"""A benchmark of words in context as a folder, and the layout of its published JSON files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError, unknown_name
from medsim.core.opened import Opened
from medsim.wic import GROUPS, SPLITS
from medsim.wic.output import WIC, WIC_COLUMNS, WicManifest

if TYPE_CHECKING:
    from pathlib import Path

INSTANCES, MENTIONS, NAMES, RELATED, STATISTICS = (view.files for view in WIC.views.values())
"""Its Parquet files: instances of all splits with their provenance; the one mention of every
sentence; the concepts whose names are terms of mentions; pairs of concepts that no instance has;
and the numbers of ``medsim wic stats``."""

_MOST = 1 << 31


class Benchmark(Opened[WicManifest]):
    """A finished benchmark of words in context; its tables are read when they are asked for.

    Args:
        folder: that holds it.

    Raises:
        InputError: the folder holds none.

    Attributes:
        folder: that holds it.
        manifest: of the folder.
    """

    kind = WIC

    def instances(self, split: str | None = None) -> pl.DataFrame:
        """Return the instances of one split or of all: ``WIC_INSTANCE_COLUMNS``.

        Raises:
            OptionError: there is no such split.
        """
        if split is not None and split not in SPLITS:
            raise OptionError(unknown_name("split", split, list(SPLITS)))
        found = self.read(INSTANCES)
        return found if split is None else found.filter(pl.col("split") == split)

    def mentions(self) -> pl.DataFrame:
        """Return the one mention of every sentence: ``WIC_MENTION_COLUMNS``."""
        return self.read(MENTIONS)

    def statistics(self) -> pl.DataFrame:
        """Return numbers of instances, terms, sentences and corpora: ``WIC_STATISTIC_COLUMNS``."""
        return self.read(STATISTICS)


def read_instances(path: Path) -> pl.DataFrame:
    """Return the instances of a JSON file, a list of objects: ``WIC_COLUMNS``, in its order.

    Rules are not checked; ``medsim.wic.verify`` does that.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start:,})") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error})") from error
    if not isinstance(content, list):
        raise InputError(f"{path} holds {type(content).__name__}, not a list of instances")
    rows = [_row(path, number, one) for number, one in enumerate(content, start=1)]
    return pl.DataFrame(rows, schema=WIC_COLUMNS, orient="row")


def instances_text(instances: pl.DataFrame) -> str:
    """Return instances as the text of a JSON file in the published layout."""
    return json.dumps(instances.select(list(WIC_COLUMNS)).to_dicts(), ensure_ascii=False, indent=1)


def _row(path: Path, number: int, one: object) -> list[object]:
    """Return the values of one instance in the order of the columns."""
    if not isinstance(one, dict):
        raise InputError(f"{path}: instance {number} is {type(one).__name__}, not an object")
    for name, kind in WIC_COLUMNS.items():
        if name not in one:
            raise InputError(f"{path}: instance {number} has no {name!r}")
        text = kind == pl.String
        if type(one[name]) is not (str if text else int):
            expected = "a text" if text else "a whole number"
            raise InputError(f"{path}: instance {number}: {name} is {one[name]!r}, not {expected}")
        if not text and not 0 <= one[name] < _MOST:
            raise InputError(f"{path}: instance {number}: {name} is {one[name]}, out of range")
    if one["label"] > 1:
        raise InputError(f"{path}: instance {number}: label is {one['label']}, not 0 or 1")
    if one["cat"] not in GROUPS:
        raise InputError(
            f"{path}: instance {number}: cat is {one['cat']!r}, not one of {', '.join(GROUPS)}"
        )
    return [one[name] for name in WIC_COLUMNS]
