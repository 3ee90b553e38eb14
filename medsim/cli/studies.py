"""The group of commands that ask people."""

from __future__ import annotations

import typer

from medsim.cli.application import app

study = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Ask people to judge a build's pairs or to rate words, and score what they answer.",
)
app.add_typer(study, name="study")
