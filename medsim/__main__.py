"""Runs the program: ``medsim``, or ``python -m medsim``."""

import sys

from medsim.core import surroundings
from medsim.core.errors import MedsimError


def main() -> None:
    """Run the command line; SIGTERM ends it as an interrupt does."""
    surroundings.prepare()
    with surroundings.ending_in_one_line():
        try:
            surroundings.check_threads()
        except MedsimError as error:
            sys.exit(f"error: {error}")
        from medsim.cli import app  # noqa: PLC0415 — takes long enough to be interrupted

        app()


if __name__ == "__main__":
    main()
