"""Files of instances in the layout that BioWiC is published in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError
from medsim.wic import GROUPS
from medsim.wic.output import WIC_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 1 << 31


def read_instances(path: Path) -> pl.DataFrame:
    """Return the instances of a JSON file, a list of objects with the columns of ``WIC_COLUMNS``.

    What they say is not checked; ``medsim.wic.checks.rules`` does that.

    Returns:
        ``WIC_COLUMNS``, in the order of the file.

    Raises:
        InputError: the file cannot be read, or an instance lacks something or has something else.
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
    """Return instances as the text of a JSON file in the published layout.

    Args:
        instances: ``WIC_COLUMNS``, maybe among others.
    """
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
