"""The concepts of codes that corpora cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.terminologies.mappings import put_prefixes

if TYPE_CHECKING:
    from medsim.core.store import Store


def cite_codes(store: Store, vocabulary: str | None) -> None:
    """Write the table ``cited_code`` from the canonical tables in the store.

    ``vocabulary`` is the terminology's own, such as "MSH".
    """
    put_prefixes(store)
    store.run("terminologies/cited_code", vocabulary=vocabulary)
    store.drop("vocabulary_prefix")
