"""The command that scores embeddings by entity linking."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next, say_signs
from medsim.linking.options import LinkOptions


@command(app, LinkOptions, then=("report", "sql"))
def link(options: LinkOptions, *, form: Format = "table") -> None:
    """Score embeddings and other systems by entity linking: mentions are looked up among all names.

    Writes OUT with results, comparisons, curves, mentions and links as Parquet, and manifest.json.
    Exact match, Levenshtein distance and TF-IDF are in the same tables. The formats table, md and
    latex have scores in percent with their 95% confidence intervals by document, then how much is
    answered at which precision, and accuracy@1 by kind of mention; json and csv have a row per
    value.

    Example: medsim link BC5CDR.txt --terminology mesh -e glove=glove.6B.300d.txt -o linked
    """
    from medsim.linking.link import link as run
    from medsim.systems.rankings import ranking_sentences, readable_rankings

    linked = call(run, options)
    results = linked.results()
    sentences = ranking_sentences(results, linked.comparisons(), "mention")
    print_table(results, form, readable=readable_rankings, opening=sentences)
    say_signs(options, form, "in percent, with 95% confidence intervals by document in brackets")
    say_next(
        options,
        'for ranks, run medsim sql {out} "from link"',
        "for a report, run medsim report {out} -o report.html",
    )
