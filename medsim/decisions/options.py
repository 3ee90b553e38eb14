"""The option that names files of decisions."""

from __future__ import annotations

from medsim.core.options import input_option

DECISIONS_OPTION = input_option(
    "CSV or .xlsx of decisions, such as the page of the output saves. What is decided is not "
    "asked again. "
    "Repeat it for several.",
    ("--decisions",),
    metavar="FILE",
)
"""The declaration of files of decisions."""
