"""Answers to questions: of models from their replies or tables, and by similarity of names.

Answers have the columns of ``asked_of``, and: ask, model and prediction (see
``medsim.questions.output.REPLIES``), name, which is asked about or chosen, and is_correct.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from medsim.core.options import option_field
from medsim.core.progress import Progress
from medsim.core.terms import lowered
from medsim.embeddings.chats import LanguageModel, LlmOptions
from medsim.embeddings.embedded_terms import EmbeddedTerms, similarities_of, term_rows
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.replies import Messages, chat_of, noted, parse_answer, unanswered
from medsim.kernels.types import Singles, Values
from medsim.questions.output import REPLIES
from medsim.questions.question import LETTERS, Questions
from medsim.questions.rules import scores_by_rule
from medsim.statistics.scores import best_threshold
from medsim.systems.options import System
from medsim.systems.predictions import predicted_table
from medsim.systems.scorers import PAIR_TERMS, score_pairs

INSTRUCTIONS = {
    "choice": "Answer the question about medical names. Exactly one of the lettered names is "
    "right. Answer with its letter only.",
    "pairs": "You are given two medical terms. Decide whether they mean the same, that is, whether "
    "both stand for the same concept. Answer with one word: YES if they mean the same, NO if they "
    "do not.",
}
"""The instructions by way of asking."""

_ANSWERS = ("id", "answer")
_SIDES = dict(zip(("term", "name"), PAIR_TERMS, strict=True))
_LETTERS = pl.Series([*LETTERS])
_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOptions(LlmOptions):
    """The options of a language model that is asked questions."""

    ask: Literal["choice", "pairs"] = option_field("choice", "Way of asking.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel(LanguageModel):
    """A language model that is asked questions."""

    option_type: ClassVar[type[LlmOptions]] = AskedOptions
    example: ClassVar[str] = "llama=api:http://localhost:8000/v1,model=llama,ask=pairs"

    options: AskedOptions

    def chats(
        self, questions: Questions, prompt: str | None
    ) -> tuple[pl.DataFrame, list[Messages]]:
        """Return what it is asked, and the chats, with another instruction if a prompt is given.

        Examples are the first questions of train; as pairs, one with the right name and one with a
        wrong name take turns.
        """
        ask = self.options.ask
        asked, examples = (asked_of(table, ask) for table in (questions.asked, questions.examples))
        if ask == "pairs":
            is_yes = pl.col("right") == "yes"
            examples = examples.filter((pl.col("id").rle_id() % 2 == 0) == is_yes)
            examples = examples.unique("id", keep="first", maintain_order=True)
        examples = examples.select("text", pl.col("right").str.to_uppercase())
        shots = examples.head(self.options.shots).rows()
        return asked, [chat_of(prompt or INSTRUCTIONS[ask], shots, text) for text in asked["text"]]

    def answers(
        self,
        questions: Questions,
        prompt: str | None,
        cache_folder: Path | None,
        progress: Progress,
    ) -> pl.DataFrame:
        """Return its answers, with its replies."""
        ask, (asked, chats) = self.options.ask, self.chats(questions, prompt)
        with progress.stage(f"ask {self.name} {len(chats):,} times ({questions.name})") as stage:
            replies = self.replies(chats, cache_folder, stage)
            rows = []
            for chat, reply, row in zip(chats, replies, asked.iter_rows(named=True), strict=True):
                text = reply.content
                choice = ask == "choice" and parse_choice(text, row["term"], row["choices"])
                rows.append(reply.row(chat, choice if ask == "choice" else _parse_pair(text)))
            stage.note(noted(rows))
        progress.warn(*unanswered(rows, self.name, self.options.tokens))
        columns = pl.DataFrame(rows, {name: REPLIES.dtypes[name] for name in rows[0]})
        return _answers(asked.hstack(columns), ask, self.name)


def answers_again(questions: Questions, replies: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the answers of each language model with replies to questions: ``REPLIES``."""
    of_input = replies.filter(input=questions.name)
    for (model, ask), rows in of_input.group_by("model", "ask", maintain_order=True):
        asked = asked_of(questions.asked, str(ask))
        columns = rows.select(pl.exclude({*asked.columns, "ask", "model", "is_correct", "name"}))
        yield _answers(asked.hstack(columns), str(ask), str(model))


def asked_of(questions: pl.DataFrame, ask: str) -> pl.DataFrame:
    """Return a row per question, or with pairs per choice, with the columns of the question.

    Further columns are: text, which is asked; right, the right answer; kinds, a list of the kinds
    of difference of wrong names; chance, the accuracy of guessing; and with pairs name.
    """
    position = pl.int_ranges(pl.col("choices").list.len())
    pairs = questions.with_columns(position=position, name="choices", kinds="differences")
    pairs = pairs.explode("position", "name", "kinds")
    is_wrong = pl.col("position") != pl.col("answer")
    pairs = pairs.with_columns(
        text=pl.format("term1: {}\nterm2: {}", "term", "name"),
        right=pl.when(is_wrong).then(pl.lit("no")).otherwise(pl.lit("yes")),
        kinds=pl.concat_list(pl.when(is_wrong).then("kinds")),
        chance=is_wrong.cast(pl.Float64),
    )
    if ask == "pairs":
        return pairs
    kinds = pairs.group_by("id", maintain_order=True).agg(pl.col("kinds").explode().unique())
    texts = [
        "\n".join([question, *map("{}. {}".format, LETTERS, names)])
        for question, names in questions.select("question", "choices").iter_rows()
    ]
    return questions.with_columns(
        kinds["kinds"],
        text=pl.Series(texts, dtype=pl.String),
        right=_LETTERS.gather(questions["answer"]),
        chance=1 / pl.col("choices").list.len(),
    )


def _answers(asked: pl.DataFrame, ask: str, model: str) -> pl.DataFrame:
    """Return answers, given a column with predictions, null for none."""
    number = pl.col("prediction").replace_strict(_NUMBERS, default=None, return_dtype=pl.Int64)
    return asked.with_columns(
        ask=pl.lit(ask),
        model=pl.lit(model),
        name=pl.col("name") if ask == "pairs" else pl.col("choices").list.get(number),
        is_correct=(pl.col("prediction") == pl.col("right")).fill_null(value=False),
    )


def answers_by_rules(questions: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the answers of each rule of spelling; see ``medsim.questions.rules``."""
    asked, pairs = asked_of(questions, "choice"), asked_of(questions, "pairs")
    scores = scores_by_rule(pairs)
    return [_highest(asked, pairs, of_rule, name) for name, of_rule in scores.items()]


def answers_by_similarity(
    questions: pl.DataFrame, model: str, embedded: EmbeddedTerms
) -> Sequence[pl.DataFrame]:
    """Return the answers of an embedding: the name with the highest cosine, and pairs."""
    pairs = asked_of(questions, "pairs")
    first, second = (term_rows(embedded, pairs[side]) for side in ("term", "name"))
    metric, workers = COSINES[type(embedded.embedded)], Workers(threads=1)
    similarities = similarities_of(embedded, metric, first, second, workers)
    return _by_similarity(questions, model, similarities)


def _by_similarity(questions: pl.DataFrame, model: str, values: Singles) -> list[pl.DataFrame]:
    """Return the answers by similarities of pairs, float32[n_pairs], NaN for none."""
    pairs = asked_of(questions, "pairs")
    highest = _highest(asked_of(questions, "choice"), pairs, values, model)
    return [highest, _affirmed(pairs, values.astype(np.float64), model)]


def answers_of(
    system: System, inputs: Sequence[Questions], progress: Progress
) -> tuple[str, list[pl.DataFrame]]:
    """Return the fingerprint of a system's predictions, and its answers to questions.

    A table has the answer to each question, a letter or a name, or else similarities of terms and
    names. By similarities a system answers like an embedding.

    Raises:
        InputError: a table has an unknown or a repeated question, or an answer that is not a
            choice; or see ``score_pairs``.
    """
    # A table of pairs may have ids of these.
    columns = predicted_table(system, (), PAIR_TERMS).frame.columns if system.has_table else None
    if columns is not None and PAIR_TERMS[0] not in columns:
        return _answers_in_table(system, inputs, progress)
    pairs = [asked_of(each.asked, "pairs").select(*_SIDES).rename(_SIDES) for each in inputs]
    known = pl.concat(pairs).unique(maintain_order=True)
    scored = score_pairs(system, known, progress, known=known)
    frames = list[pl.DataFrame]()
    for each, of_each in zip(inputs, pairs, strict=True):
        similarity = scored.of(of_each, f"pairs of {each.name}", progress).fill_null(np.nan)
        frames += _by_similarity(each.asked, system.name, similarity.to_numpy())
    return scored.fingerprint, frames


def _answers_in_table(
    system: System, inputs: Sequence[Questions], progress: Progress
) -> tuple[str, list[pl.DataFrame]]:
    """Return the fingerprint of a table of answers, and the answers to each folder's questions."""
    table, frames = predicted_table(system, _ANSWERS), list[pl.DataFrame]()
    progress.warn(*table.warnings)
    ids = table.frame["id"]
    every = pl.concat([each.asked["id"] for each in inputs])
    table.refuse(~ids.is_in(every.implode()), "id", "is not a question of any input")
    table.refuse(~ids.is_first_distinct(), "id", "is given again")
    said_to = dict(zip(ids, table.frame["answer"], strict=True))
    for each in inputs:
        asked = asked_of(each.asked, "choice")
        said = asked.select("id", text=asked["id"].replace_strict(said_to, default=""))
        rows = zip(said["text"], asked["term"], asked["choices"].to_list(), strict=True)
        letters = pl.Series([parse_choice(*row) for row in rows], dtype=pl.String)
        wrong = said.filter(letters.is_null(), pl.col("text") != "")["id"]
        table.refuse(ids.is_in(wrong.implode()), "answer", "is not a letter or name of the choices")
        if n_missing := letters.null_count():
            of_all = f"{n_missing:,} of {asked.height:,} questions of {each.name}"
            progress.warn(f"{system.name} has no answer to {of_all}")
        frames.append(_answers(asked.with_columns(prediction=letters), "choice", system.name))
    return table.sha256, frames


def _affirmed(pairs: pl.DataFrame, similarities: Values, model: str) -> pl.DataFrame:
    """Return answers that affirm pairs above a threshold; none where the similarity is NaN.

    The threshold is the one that is best for the other half of the concepts, with right and wrong
    names of equal weight: otherwise it would rarely affirm, since most names are wrong.
    """
    is_same = pairs["right"].to_numpy() == "yes"
    is_second = pairs["concept1"].rank("dense").to_numpy() % 2 == 0
    thresholds = np.empty(pairs.height)
    for half in (is_second, ~is_second):
        known = ~half & ~np.isnan(similarities)
        distinct, ranks = np.unique(similarities[known], return_inverse=True)
        labels = (is_same[known], ~is_same[known])
        counts = (
            np.bincount(ranks[label], minlength=len(distinct)) * np.count_nonzero(~label)
            for label in labels
        )
        thresholds[half] = best_threshold(distinct, *counts)
    answers = pl.Series(np.where(similarities >= thresholds, "yes", "no"))
    known = pl.Series(~np.isnan(similarities))
    return _answers(pairs.with_columns(prediction=answers.set(~known, None)), "pairs", model)


def _highest(
    asked: pl.DataFrame, pairs: pl.DataFrame, scores: Values | Singles, model: str
) -> pl.DataFrame:
    """Return answers that choose the first name with the highest score, NaN for none."""
    scored = pairs.select("id", score=pl.Series(scores).fill_nan(None))
    best = scored.group_by("id", maintain_order=True).agg(pl.col("score").arg_max())["score"]
    return _answers(asked.with_columns(prediction=_LETTERS.gather(best)), "choice", model)


_LETTER = re.compile(r"[\W_]*([A-Za-z])(?:[\W_]*\Z|[).:,*\]_]|\s*\n)")
_CUED = re.compile(
    r"(?i:\b(?:answer|choice|option|letter|boxed)\b(?: is)?)[\W_]{0,9}([A-Z])\b"
    r"(?!['\u2019]| (?:or|and)\b| ?/)"
)
_NEGATED = re.compile(r"\b(?:not|none|neither|nor|except)\b|n['\u2019]t\b", re.IGNORECASE)


def parse_choice(text: str, term: str, names: Sequence[str]) -> str | None:
    """Return the letter of the chosen name in a reply; None if it is not clear.

    A reply may be the name, begin with its letter, have its letter after a word such as "answer",
    or have the name of only one choice and no negation. Case of names does not count.

    Args:
        text: ``Reply.content``.
        term: the term of the question, which the reply may repeat.
        names: the choices.
    """
    lower, asked, *choices = lowered([text, term, *names])
    letters = dict(zip(choices, LETTERS, strict=False))
    if (whole := lower.strip(" \n*\"'.")) in letters and len(whole) > 1:
        return letters[whole]
    if (match := _LETTER.match(text)) is not None:
        found = {match[1].upper()}
    elif not (found := {*_CUED.findall(text)}) and not _NEGATED.search(text):
        for name in sorted({asked, *letters}, key=len, reverse=True):
            lower, n_times = re.subn(rf"(?<!\w){re.escape(name)}(?!\w)", "\n", lower)
            if n_times and len(name) > 1:
                found.add(letters.get(name, ""))
    found.discard("")
    return found.pop() if len(found) == 1 and found <= {*letters.values()} else None


def _parse_pair(text: str) -> str | None:
    """Return yes or no from a reply; None if it is not clear."""
    answer = parse_answer(text)
    return None if answer is None else ("no", "yes")[answer]
