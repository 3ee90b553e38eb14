"""The option that names language models, and the names that they cannot have."""

from __future__ import annotations

from medsim.core.options import main_option

CHANCE, ALWAYS_NO, LEVENSHTEIN = BASELINES = "chance", "always_no", "levenshtein"
"""The names of the baselines."""

LLMS = main_option(
    "Language model to ask multiple-choice questions, then ,model=M and optionally ,ask=choice or "
    "pairs ,shots=N ,tokens=N. For example llama=api:http://localhost:8000/v1,model=llama. "
    "ask=choice shows all names of a question, ask=pairs the term with one name at a time; "
    "shots=N puts N examples from train before each.",
    ("--llm",),
    metavar="NAME=api:URL",
)
"""The option that names language models."""
