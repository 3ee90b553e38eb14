"""Draws words of a corpus for people to sort by domain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import InputError, OptionError
from medsim.core.manifest import fingerprint
from medsim.core.options import public
from medsim.core.progress import progress_of
from medsim.studies.asking import write_asked
from medsim.studies.asking_options import DomainsOptions
from medsim.studies.output import DOMAIN_ITEM_COLUMNS
from medsim.studies.presentations import draw_id
from medsim.studies.sheets import DOMAIN
from medsim.studies.words.kept import kept_words

if TYPE_CHECKING:
    from medsim.studies.folder import Study


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
        items = _drawn(path, kept.frame, kept.word_class, options)
        stage.found(f"{items.height:,} of {kept.frame.height:,} words")
    source: dict[str, object] = {
        "kind": "words",
        "path": str(path),
        "fingerprint": fingerprint(kept.frame),
    }
    return write_asked(DOMAIN, items, ("word",), source, options, progress)


def _drawn(
    path: Path, words: pl.DataFrame, word_class: str, options: DomainsOptions
) -> pl.DataFrame:
    """Return ``DOMAIN_ITEM_COLUMNS``: the words that are drawn, in order of item_id."""
    if words.is_empty():
        raise InputError(f"{path} has no word that people could sort")
    size = words.height if options.size is None else options.size
    if size > words.height:
        raise OptionError(f"`size` {size:,} is too many; {path} has {words.height:,} words to sort")
    ids = [draw_id(options.seed, "item", word) for word in words["word"]]
    return (
        words.with_columns(pl.Series("item_id", ids, pl.String), pl.lit(word_class).alias("class"))
        .sort("item_id")
        .head(size)
        .select(pl.col(name).cast(kind) for name, kind in DOMAIN_ITEM_COLUMNS.items())
    )
