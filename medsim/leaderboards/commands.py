"""The command that ranks models."""

from __future__ import annotations

from medsim.core.console import app, command
from medsim.core.options import call
from medsim.core.printing import Format, print_table, say_next, say_signs
from medsim.leaderboards.options import LeaderboardOptions


@command(app, LeaderboardOptions)
def leaderboard(options: LeaderboardOptions, *, form: Format = "table") -> None:
    """Rank the models of several evaluations by their headline scores, and write them as a page.

    Prints a row per build and model. Writes one .html file that works offline if -o names it, and
    replaces an earlier report at that path. The rank is 1 plus the number of models that are
    significantly better. Results on different builds are never ranked together. With --check, the
    models of --embedding, and those whose result has an address on a hub (hf:MODEL), are evaluated
    again. For the models of one evaluation see medsim compare --table standings.

    Example: medsim leaderboard results other/result.json -o leaderboard.html
    """
    from medsim.leaderboards.ranking import leaderboard as run
    from medsim.leaderboards.ranking import readable_board

    print_table(call(run, options), form, readable=lambda rows: [readable_board(rows)])
    signs = "rank: 1 plus the number of significantly better models, by paired tests at 5% each"
    say_signs(options, form, f"{signs}; unchecked rows are claims of their submitters")
    if options.out is not None:
        say_next(options, "open {out} in a browser; it works offline")
