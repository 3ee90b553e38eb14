"""Makes the descriptions of invented concepts, of which text definitions are a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.terminologies import sctid
from medsim.terminologies.synthetic.components import USUAL_FATES, Fate, components, fates, ids
from medsim.terminologies.synthetic.families import places_of
from medsim.terminologies.synthetic.outline import MODEL_FSNS, Model
from medsim.terminologies.synthetic.wordings import Wording
from medsim.terminologies.synthetic.words import BRANCHES

if TYPE_CHECKING:
    from medsim.terminologies.synthetic.draws import Ints, Weights
    from medsim.terminologies.synthetic.outline import Outline

# The descriptions of a concept, by slot: FSN, preferred term, three more synonyms, the FSN that a
# later one replaced, a name in Spanish, a text definition.
_FSN, _PREFERRED, _OLD_FSN, _SPANISH, _DEFINITION = 0, 1, 5, 6, 7
_SHARES = np.array([1, 1, 0.42, 0.26, 0.17, 1, 0.015, 0.04])
_PLAIN_PREFERRED, _SPANISH_FSNS, _DEFINITIONS_AMONG_NAMES, _REWORDED = 0.7, 0.2, 0.1, 0.7
_ACRONYMS = 0.03
_FSN_FATES: Weights = {Fate.KEPT: 84, Fate.LATE: 8, Fate.CHANGED: 7, Fate.REVIVED: 1}
_RETIRED_FSN_FATES: Weights = {Fate.KEPT: 84, Fate.LATE: 8, Fate.CHANGED: 6, Fate.RETIRED: 2}
_LONGEST_TERM, _LONGEST_DEFINITION = 255, 4096
_CASE_RULES = (sctid.CASE_INSENSITIVE, sctid.CASE_SENSITIVE, sctid.INITIAL_CASE_INSENSITIVE)
_SYNONYM_WORDINGS = np.array(
    [
        Wording.REVERSED,
        Wording.RESPELLED,
        Wording.COMBINED,
        Wording.PLURAL,
        Wording.INVERTED,
        Wording.SHORTENED,
        Wording.REPHRASED,
        Wording.INITIALED,
        Wording.UPPER,
        Wording.EPONYM,
        Wording.TITLE,
    ]
)
_RETIRED_WORDINGS: Weights = {
    Wording.RESPELLED: 20,
    Wording.PLURAL: 15,
    Wording.UNSPECIFIED: 10,
    Wording.REVERSED: 16,
    Wording.INVERTED: 12,
    Wording.REPHRASED: 12,
    Wording.COMBINED: 6,
    Wording.D_FIRST: 3,
    Wording.D_LAST: 3,
    Wording.OR_IN_BRACKETS: 1,
    Wording.AND_IN_BRACKETS: 1,
    Wording.TITLE: 1,
}
_UNTAGGED = (Wording.OR_IN_BRACKETS, Wording.AND_IN_BRACKETS)


def description_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the descriptions of concepts, each with its fate; some are text definitions."""
    return _named(numbers, outline).filter(~pl.col("is_apart"))


def text_definition_components(numbers: Ints, outline: Outline) -> pl.DataFrame:
    """Return the text definitions that stand in a file of their own, each with its fate."""
    return _named(numbers, outline).filter("is_apart")


def description_rows(rows: pl.DataFrame, outline: Outline) -> pl.DataFrame:
    """Return dated descriptions or text definitions with RF2's columns."""
    item = rows["item"].to_numpy()
    is_spanish = pl.col("slot") == _SPANISH
    is_fsn = pl.col("slot").is_in([_FSN, _OLD_FSN]) | (
        is_spanish & pl.Series(outline.draws.chance("fsn in Spanish", item, _SPANISH_FSNS))
    )
    typed = rows.with_columns(
        typeId=pl.when(is_fsn)
        .then(sctid.FULLY_SPECIFIED_NAME)
        .when(pl.col("slot") == _DEFINITION)
        .then(sctid.TEXT_DEFINITION)
        .otherwise(sctid.SYNONYM)
    )
    case_rule = outline.draws.choose(
        "case", item * 2 + rows["changes_later"].to_numpy(), len(_CASE_RULES)
    )
    return typed.with_columns(
        id=ids(rows["item"], "description"),
        moduleId=pl.lit(outline.model_id(Model.MODULE)),
        conceptId=ids(rows["concept"], "concept"),
        languageCode=pl.when(is_spanish).then(pl.lit("es")).otherwise(pl.lit("en")),
        term=_terms(typed, outline),
        caseSignificanceId=pl.Series(_CASE_RULES).gather(case_rule),
    )


def _named(numbers: Ints, outline: Outline) -> pl.DataFrame:
    concepts = pl.DataFrame({"item": numbers, "concept": numbers})
    fsn_fates = fates("fsn", concepts, outline, active=_FSN_FATES, retired=_RETIRED_FSN_FATES)
    parts = components("name", numbers, _SHARES, outline.draws)
    slot, concept = parts["slot"].to_numpy(), parts["concept"].to_numpy()
    fsn_fate = fsn_fates[concept - numbers[0]]
    other = fates("name", parts, outline, active=USUAL_FATES, retired=USUAL_FATES)
    fate = np.select([slot == _FSN, slot == _OLD_FSN], [fsn_fate, Fate.RETIRED], other)
    among = outline.draws.chance("among", concept, _DEFINITIONS_AMONG_NAMES)
    exists = (slot != _OLD_FSN) | (fsn_fate == Fate.LATE)
    exists &= (concept < outline.n_clinical) | (slot <= _PREFERRED)
    return parts.with_columns(
        fate=pl.Series(fate), is_apart=pl.Series((slot == _DEFINITION) & ~among)
    ).filter(exists)


def _terms(rows: pl.DataFrame, outline: Outline) -> pl.Series:
    """Return the term of each description, an FSN's with its semantic tag."""
    wording = _wordings(rows, outline)
    concepts, place = np.unique(rows["concept"].to_numpy(), return_inverse=True)
    bases = outline.bases(concepts)
    texts = outline.names.wordings(bases).gather(wording * len(concepts) + place)
    branch = places_of(bases, outline.draws).branch[place]
    tag = np.where(rows["slot"] == _SPANISH, branch + len(BRANCHES), branch) + 1
    is_fsn = (rows["typeId"] == sctid.FULLY_SPECIFIED_NAME).to_numpy()
    is_tagged = is_fsn & ~np.isin(wording, _UNTAGGED)
    model = np.maximum(rows["concept"].to_numpy() - outline.n_clinical, 0)
    room = pl.when(pl.col("typeId") == sctid.TEXT_DEFINITION).then(_LONGEST_DEFINITION)
    cut = pl.col("text").str.slice(0, room.otherwise(_LONGEST_TERM) - pl.col("tag").str.len_chars())
    return (
        rows.with_columns(
            text=texts,
            tag=_tags().gather(np.where(is_tagged, tag, 0)),
            model=_model_texts().gather(2 * model + (rows["slot"] == _PREFERRED).to_numpy()),
        )
        .select(
            pl.when(pl.col("concept") >= outline.n_clinical)
            .then("model")
            .otherwise(cut.str.strip_chars_end() + pl.col("tag"))
        )
        .to_series()
    )


def _wordings(rows: pl.DataFrame, outline: Outline) -> Ints:
    draws, slot = outline.draws, rows["slot"].to_numpy()
    item, concept = rows["item"].to_numpy(), rows["concept"].to_numpy()
    retired = draws.weigh("retired wording", concept, _RETIRED_WORDINGS)
    fsn = np.where(concept < outline.n_active, Wording.PLAIN, retired)
    turn = draws.choose("wording", concept, len(_SYNONYM_WORDINGS)) + slot
    synonym = _SYNONYM_WORDINGS[turn % len(_SYNONYM_WORDINGS)]
    synonym = np.where(draws.chance("acronym", item, _ACRONYMS), Wording.ACRONYM, synonym)
    like_fsn = (slot == _PREFERRED) & draws.chance("plain", concept, _PLAIN_PREFERRED)
    wording = np.select(
        [(slot == _FSN) | like_fsn, slot == _SPANISH, slot == _DEFINITION],
        [fsn, Wording.SPANISH, Wording.DEFINITION],
        synonym,
    )
    is_old = rows["changes_later"].to_numpy() & draws.chance("reworded", item, _REWORDED)
    is_old = (is_old & (slot < _OLD_FSN)) | (slot == _OLD_FSN)
    return np.where(is_old, Wording.UNSPECIFIED, wording)


def _tags() -> pl.Series:
    """Return no tag, then the tag of each branch in English, then those in Spanish."""
    tags = [one.tag for one in BRANCHES] + [one.tag_es for one in BRANCHES]
    return pl.Series(["", *(f" ({tag})" for tag in tags)])


def _model_texts() -> pl.Series:
    """Return the FSN and the preferred term of each concept of the model."""
    fsns = [MODEL_FSNS[concept] for concept in Model]
    return pl.Series([text for fsn in fsns for text in (fsn, fsn.rpartition(" (")[0])])
