"""Runs the program: ``medsim``, or ``python -m medsim``."""

from medsim.core import surroundings


def main() -> None:
    """Run the command line; SIGTERM ends it as an interrupt does."""
    surroundings.prepare()
    with surroundings.ending_in_one_line():
        from medsim.cli import app  # noqa: PLC0415 — takes long enough to be interrupted

        app()


if __name__ == "__main__":
    main()
