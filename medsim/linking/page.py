"""The report of entity linking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medsim.core.errors import counted
from medsim.pages.page import Page, facts, license_notice, report
from medsim.systems.page import ranking_section

if TYPE_CHECKING:
    from medsim.linking.output import Linking


def linking_page(linking: Linking) -> Page:
    """Return the report of entity linking: scores of all models, and how much they can answer."""
    manifest = linking.manifest
    models = (manifest.embeddings | manifest.systems).items()
    terminology = manifest.terminology
    n_mentions = counted(linking.mentions().height, "mention")
    return report(
        manifest,
        linking.folder.name,
        title=f"Entity linking to {terminology['name']}",
        lead=f"{n_mentions} looked up among the names of {terminology['name']}.",
        sections=[ranking_section(linking, "mention")],
        notice=license_notice({str(terminology["name"]): terminology}),
        parts=[
            *(facts(f"Corpus {name}", about.items()) for name, about in manifest.corpora.items()),
            *(facts(f"Model {name}", about.items()) for name, about in models),
        ],
        commands='medsim sql OUT "from link join mention using (mention_id) where rank > 1"',
    )
