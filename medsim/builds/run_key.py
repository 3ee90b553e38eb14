"""What decides the rows of a build, by which files of an interrupted run are known."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from medsim.builds.embedded import identity_of
from medsim.core import manifest

if TYPE_CHECKING:
    from medsim.builds.options import SearchOptions
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.sources import Terminology


def run_key(
    options: SearchOptions, terminology: Terminology, named: NamedEmbedding | None = None
) -> dict[str, str]:
    """Return what decides the rows of a build, and may they be passed on: no clock, no path.

    Every file of the build bears it as metadata.

    Args:
        options: what is asked for.
        terminology: that was read.
        named: the embedding, where it asks for embedding negatives.
    """
    day = terminology.release_date
    return {
        "medsim": manifest.medsim_version(),
        "libraries": json.dumps(libraries_of(named)),
        "source": terminology.name,
        "source_files": json.dumps([asdict(file) for file in terminology.files]),
        "release_date": day.isoformat() if day else "",
        "options": json.dumps(options_of(options, named)),
        "redistributable": json.dumps(terminology.redistributable),
        "terms_of_use": terminology.terms_of_use,
    }


def options_of(options: SearchOptions, named: NamedEmbedding | None) -> dict[str, object]:
    """Return the options that decide the rows, and what the embedding is that does."""
    record = options.recorded()
    return record if named is None else {**record, "embedding": identity_of(named)}


def libraries_of(named: NamedEmbedding | None) -> dict[str, str]:
    """Return the versions of what decides the rows; encoders do only where there are vectors."""
    encoders = {} if named is None else manifest.encoder_versions()
    return {**manifest.library_versions(), **encoders}
