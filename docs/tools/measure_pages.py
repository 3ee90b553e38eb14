"""The pages of statistics and of metrics, from their declarations."""

from __future__ import annotations

from docs.tools.markdown import page
from medsim.embeddings.metrics import METRICS, TermPoints, WordBags
from medsim.evaluations.options import PAPER
from medsim.evaluations.statistic import STATISTICS
from medsim.systems.scorers import PREDICTED, PREDICTED_MEANING

OF = {
    "own_negative": "Positives beside a negative of one kind",
    "rung": "Pairs of two rungs of the hierarchy",
    "of_kind": "Positives and negatives of one kind",
    "matched": "Pairs matched by spelling",
    "beyond": "Pairs that look equally alike",
    "labelled": "Pairs with labels",
    "rated": "Pairs with ratings",
    "retrieval": "Retrieval of linked terms",
    "separation": "Separation of categories",
}
"""The headings of the kinds of data that statistics describe."""

KINDS = {WordBags: "For word vectors", TermPoints: "For one vector per term"}
"""The headings of the kinds of terms that metrics compare."""


def measure_pages() -> dict[str, str]:
    """Return the pages of statistics and metrics by their paths below the reference."""
    of_kinds = {
        title: [statistic for statistic in STATISTICS.values() if statistic.kind == kind]
        for kind, title in OF.items()
    }
    metrics = {
        title: {name: item for name, item in METRICS.all().items() if item.kind is kind}
        for kind, title in KINDS.items()
    }
    return {
        "statistics.md": page("statistics", kinds=of_kinds, paper=PAPER),
        "metrics.md": page(
            "metrics", kinds=metrics, predicted=PREDICTED, meaning=PREDICTED_MEANING
        ),
    }
