"""The command that scores embeddings by entity linking."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, quoted, say_next, say_signs
from medsim.linking.options import LinkOptions


@command(app, LinkOptions, then=("sql",))
def link(options: LinkOptions, *, form: Format = "table") -> None:
    """Score embeddings by entity linking: each mention is looked up among all names.

    Writes OUT with results, mentions and links as Parquet, and manifest.json. Exact match,
    Levenshtein distance and TF-IDF are in the same table. The formats table, md and latex have
    scores in percent with their 95% confidence intervals by document, then accuracy@1 by kind of
    mention; json and csv have a row per value.

    Example: medsim link BC5CDR.txt --terminology mesh -e glove=glove.6B.300d.txt -o linked
    """
    from medsim.linking.link import link as run
    from medsim.linking.link import readable_link_scores

    print_table(call(run, options).results(), form, readable=readable_link_scores)
    say_signs(
        options.progress, form, "in percent, with 95% confidence intervals by document in brackets"
    )
    say_next(options.progress, f'for ranks, run medsim sql {quoted(options.out)} "from link"')
