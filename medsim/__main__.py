"""Runs the program: ``python -m medsim``."""

from medsim.cli import main

main()
