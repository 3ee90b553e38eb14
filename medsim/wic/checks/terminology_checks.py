"""Whether what a benchmark keeps of its terminology is what the terminology says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.config import SourceOptions, available_threads
from medsim.core.store import Store
from medsim.core.terms import lowered
from medsim.terminologies.reading import read_terminology
from medsim.wic.checks.findings import Breach, Finding
from medsim.wic.making.candidates import names_of_forms
from medsim.wic.making.mentions import forms_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from medsim.core.progress import Progress
    from medsim.wic.checks.provenance_checks import Provenance


def check_terminology(
    location: str, options: Mapping[str, object], provenance: Provenance, progress: Progress
) -> list[Finding]:
    """Return whether names, related concepts and concepts of mentions are the terminology's.

    Args:
        location: a path or a built-in name.
        options: of the benchmark's manifest: how it read its terminology.
        provenance: what the benchmark keeps.
        progress: told of the stage.

    Raises:
        InputError: the terminology is missing, damaged or in no known format.
    """
    mentions = provenance.mentions
    with Store(threads=available_threads()) as store:
        reading = source_options(options)
        terminology = read_terminology(location, store, reading, progress)
        forms = forms_of(set(lowered(mentions["term"].to_list())))
        store.put("form", forms)
        names = store.frame("wic/name", language=reading.language)
        store.put("form_name", names_of_forms(names, forms))
        store.put("mentioned", mentions.select("concept_id").unique())
        store.run(
            "wic/related_concept",
            vocabulary=terminology.vocabulary,
            any_depth=options.get("broader") == "any",
        )
        active = store.table("concept").filter("active").select("concept_id")
        return [
            _compared("names", provenance.names, store.frame("wic/benchmark_name")),
            _compared("related", provenance.related, store.table("related_concept")),
            _compared("concepts", mentions.join(active, on="concept_id", how="semi"), mentions),
        ]


def source_options(options: Mapping[str, object]) -> SourceOptions:
    """Return how a benchmark read its terminology; older options are those by default."""
    usual = SourceOptions()
    scopes, vocabularies = (
        options.get(name, getattr(usual, name)) for name in ("synonym_scopes", "vocabularies")
    )
    return SourceOptions(
        language=str(options.get("language", usual.language)),
        synonym_scopes=tuple(scopes) if isinstance(scopes, list) else usual.synonym_scopes,
        vocabularies=tuple(vocabularies) if isinstance(vocabularies, list) else (),
    )


def _compared(check: str, kept: pl.DataFrame, said: pl.DataFrame) -> Finding:
    """Return the rows that only one side has."""
    columns = [name for name in said.columns if name in kept.columns]
    own, theirs = (set(frame.select(columns).iter_rows()) for frame in (kept, said))
    breaches = [
        *(Breach(found=f"{row} is not in the terminology") for row in sorted(own - theirs)),
        *(Breach(found=f"{row} is lacking") for row in sorted(theirs - own)),
    ]
    return Finding(split="", check=check, n_checked=said.height, breaches=breaches)
