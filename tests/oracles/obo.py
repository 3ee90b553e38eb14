"""The terms of an OBO file parsed by fastobo, which follows the grammar of OBO 1.4."""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any

import fastobo
from fastobo import term

Rows = set[tuple[object, ...]]


def tables(text: bytes) -> dict[str, Rows]:
    """Return the canonical tables, with synonyms of any scope and only the last part of codes.

    A term must have a single frame.
    """
    rows: defaultdict[str, Rows] = defaultdict(set)
    for frame in fastobo.iter(io.BytesIO(text), ordered=True):
        if isinstance(frame, term.TermFrame):
            obsolete = any(isinstance(c, term.IsObsoleteClause) and c.obsolete for c in frame)
            rows["concept"].add((str(frame.id), not obsolete))
            for clause in frame:
                _add(rows, str(frame.id), clause)
    return rows


def _add(rows: dict[str, Rows], concept_id: str, clause: Any) -> None:
    if isinstance(clause, term.NameClause):
        rows["description"].add((concept_id, clause.name.strip(), "fsn"))
    elif isinstance(clause, term.SynonymClause):
        rows["description"].add((concept_id, clause.synonym.desc.strip(), "synonym"))
    elif isinstance(clause, term.IsAClause):
        rows["is_a"].add((concept_id, str(clause.term)))
    elif isinstance(clause, term.ReplacedByClause):
        rows["association"].add((concept_id, str(clause.term), "replaced_by"))
    elif isinstance(clause, term.ConsiderClause):
        rows["association"].add((concept_id, str(clause.term), "possibly_equivalent_to"))
    elif isinstance(clause, term.XrefClause) and isinstance(
        clause.xref.id, fastobo.id.PrefixedIdent
    ):
        rows["code"].add((concept_id, clause.xref.id.local))
