"""The content that decides the rows of a build, by which an interrupted run is known again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from medsim.builds.embedded import identity_of
from medsim.core import manifest

if TYPE_CHECKING:
    from medsim.builds.stages import Run
    from medsim.embeddings.embedded_terms import NamedEmbedding
    from medsim.terminologies.sources import Terminology


def run_key(run: Run, terminology: Terminology) -> dict[str, str]:
    """Return all that decides the rows of a build, and whether they may be passed on.

    No clock and no path is in it. Every file of the build has it as metadata.
    """
    day = terminology.release_date
    return {
        "medsim": manifest.medsim_version(),
        "libraries": json.dumps(libraries_of(run.named)),
        "source": terminology.name,
        "source_files": json.dumps([asdict(file) for file in terminology.files]),
        "release_date": day.isoformat() if day else "",
        "options": json.dumps(recorded_options(run)),
        "redistributable": json.dumps(terminology.redistributable),
        "terms_of_use": terminology.terms_of_use,
    }


def recorded_options(run: Run) -> dict[str, object]:
    """Return the options that decide the rows, in the order of manifests."""
    record = run.options.recorded()
    if run.corrections:
        record["corrections"] = [[one.term1, one.term2, one.same] for one in run.corrections]
    return record if run.named is None else {**record, "embedding": identity_of(run.named)}


def libraries_of(named: NamedEmbedding | None) -> dict[str, str]:
    """Return the versions of libraries that decide rows; encoders do where there are vectors."""
    return manifest.library_versions(*(() if named is None else manifest.ENCODERS))
