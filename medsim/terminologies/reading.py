"""Reads a terminology into the canonical tables, as a stage of what needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import InputError
from medsim.terminologies.sources import Terminology, find_source

if TYPE_CHECKING:
    from medsim.core.progress import Progress
    from medsim.core.store import Store
    from medsim.terminologies.options import ReadingOptions


def read_terminology(
    location: str, store: Store, reading: ReadingOptions, progress: Progress
) -> Terminology:
    """Fill the canonical tables and return the facts about the terminology.

    Raises:
        InputError: the source is missing, damaged, in no known format, or has no names in the
            language.
        OptionError: an option does not fit the source.
    """
    source, path = find_source(location)
    with progress.stage(f"read {path.name}") as stage:
        terminology = source.read(path, store, reading)
        languages = store.frame("terminologies/language")
        if reading.language not in languages["language"].to_list():
            known = ", ".join(languages["language"].to_list()) or "none"
            raise InputError(
                f"{path}: no active descriptions in language {reading.language!r}; "
                f"languages found: {known}"
            )
        stage.found(
            f"{store.n_rows('concept'):,} concepts, {store.n_rows('description'):,} descriptions"
        )
    return terminology
