"""The concepts of codes that corpora cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from medsim.terminologies.sources.ontology_rows import VOCABULARIES

if TYPE_CHECKING:
    from medsim.core.store import Store


def cite_codes(store: Store, vocabulary: str | None) -> None:
    """Write the table ``cited_code`` from the canonical tables in the store.

    ``vocabulary`` is the terminology's own, such as "MSH".
    """
    prefixes = {"prefix": list(VOCABULARIES), "vocabulary": list(VOCABULARIES.values())}
    store.put("vocabulary_prefix", pl.DataFrame(prefixes))
    store.run("terminologies/cited_code", vocabulary=vocabulary)
    store.drop("vocabulary_prefix")
