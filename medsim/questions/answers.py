"""Answers to questions: of language models, of embeddings, and of baselines without a model.

Answers have the columns of ``questions_of`` or ``pairs_of``, and: ask, model and prediction (see
``medsim.questions.output.REPLIES``); is_correct, and credit, the same as a number; and affirmed, a
wrong name that is taken for a synonym.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import polars as pl

from medsim.builds.positives import numbers_of, pair_distances
from medsim.core.options import Option
from medsim.core.terms import lowered_column
from medsim.embeddings.chats import LanguageModel, LlmOptions
from medsim.embeddings.embedded_terms import rows_of, similarities_of
from medsim.embeddings.metrics import Workers
from medsim.embeddings.metrics.averages import COSINES
from medsim.embeddings.replies import noted
from medsim.questions.options import ALWAYS_NO, CHANCE, LEVENSHTEIN
from medsim.questions.output import REPLIES
from medsim.questions.prompts import chats_of, parse_choice, parse_pair
from medsim.questions.reading import LETTERS

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from medsim.core.progress import Progress
    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.questions.reading import Questions

_LETTERS = pl.Series([*LETTERS])
_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOptions(LlmOptions):
    """The options of a language model that is asked questions."""

    ask: Annotated[Literal["choice", "pairs"], Option("Way of asking.")] = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModel(LanguageModel):
    """A language model that is asked questions."""

    option_type: ClassVar[type[LlmOptions]] = AskedOptions
    example: ClassVar[str] = "llama=api:http://localhost:8000/v1,model=llama,ask=pairs"

    options: AskedOptions

    def answers(
        self, questions: Questions, cache_folder: Path | None, progress: Progress
    ) -> pl.DataFrame:
        """Return its answers, with its replies.

        Examples are the first questions of train; as pairs, one with the right name and one with a
        wrong name take turns.
        """
        ask, asked, examples = self.options.ask, *map(questions_of, questions.tables)
        if ask == "pairs":
            asked, examples = map(pairs_of, questions.tables)
            examples = examples.filter((pl.col("id").rle_id() % 2 == 0) == pl.col("is_right"))
            examples = examples.unique("id", keep="first", maintain_order=True)
        shots = examples.select("text", pl.col("right").str.to_uppercase()).head(self.options.shots)
        chats = chats_of(ask, shots.rows(), asked["text"].to_list())
        what = f"{len(chats):,} {'questions' if ask == 'choice' else 'pairs'} of {questions.name}"
        with progress.stage(f"ask {self.name} about {what}") as stage:
            replies = self.replies(chats, cache_folder, stage)
            rows = []
            for chat, reply, row in zip(chats, replies, asked.iter_rows(named=True), strict=True):
                text = reply.content
                choice = ask == "choice" and parse_choice(text, row["term"], row["choices"])
                rows.append(reply.row(chat, choice if ask == "choice" else parse_pair(text)))
            stage.note(noted(str(row["verdict"]) for row in rows))
        columns = pl.DataFrame(rows, {name: REPLIES.dtypes[name] for name in rows[0]})
        answers = answers_of(asked, ask, self.name, columns["prediction"])
        return answers.hstack(columns.drop("prediction"))


def questions_of(questions: pl.DataFrame) -> pl.DataFrame:
    """Return questions with their text, the letter of the right name, and kinds of wrong names."""
    of_names = pairs_of(questions).group_by("id", maintain_order=True)
    lettered = pl.format("\n{}. {}", "position", "name").str.join()
    found = of_names.agg(lettered=lettered, kinds=pl.col("kinds").explode().drop_nulls().unique())
    right, texts = _LETTERS.gather(questions["answer"]), questions["question"] + found["lettered"]
    return questions.with_columns(found["kinds"], right=right, text=texts)


def pairs_of(questions: pl.DataFrame) -> pl.DataFrame:
    """Return a row per choice, with the columns of its question.

    Further columns are: text, which is asked; name; position, its letter; is_right; right, which is
    yes or no; and kinds, a list of its kind of difference, without any for the right name.
    """
    places = pl.int_ranges(pl.col("choices").list.len())
    pairs = questions.with_columns(at=places, name="choices").explode("at", "name")
    is_right = pl.col("at") == pl.col("answer")
    kind = pl.when(~is_right).then(pl.col("differences").list.get(pl.col("at"), null_on_oob=True))
    return pairs.with_columns(
        text=pl.format("term1: {}\nterm2: {}", "term", "name"),
        position=_LETTERS.gather(pairs["at"]),
        is_right=is_right,
        right=pl.when(is_right).then(pl.lit("yes")).otherwise(pl.lit("no")),
        kinds=pl.concat_list(kind),
    )


def answers_of(
    asked: pl.DataFrame, ask: str, model: str, predictions: pl.Series | pl.Expr
) -> pl.DataFrame:
    """Return answers, given a letter, or yes or no, for each question or pair; null for none."""
    answers = asked.with_columns(ask=pl.lit(ask), model=pl.lit(model), prediction=predictions)
    chosen = pl.col("prediction").replace_strict(_NUMBERS, default=None, return_dtype=pl.Int64)
    name = pl.col("choices").list.get(chosen) if ask == "choice" else pl.col("name")
    is_correct = (pl.col("prediction") == pl.col("right")).fill_null(value=False)
    return answers.with_columns(
        is_correct=is_correct,
        credit=is_correct.cast(pl.Float64),
        affirmed=pl.when(~is_correct & (pl.col("prediction") != "no")).then(name),
    )


def answers_by_cosine(questions: pl.DataFrame, model: str, embedded: EmbeddedTerms) -> pl.DataFrame:
    """Return the answers of an embedding, which chooses the name with the highest cosine."""
    pairs = pairs_of(questions)
    first, second = (rows_of(embedded, pairs[side]) for side in ("term", "name"))
    metric = COSINES[type(embedded.embedded)]
    cosines = similarities_of(embedded, metric, first, second, Workers(threads=1))
    return _highest(questions, pairs.with_columns(score=pl.Series(cosines)), model)


def baselines_of(questions: pl.DataFrame, asks: Container[str]) -> list[pl.DataFrame]:
    """Return the answers of the baselines for each way of asking."""
    pairs, frames = pairs_of(questions), []
    if "choice" in asks:
        names = pl.concat([pairs["term"], pairs["name"].alias("term")]).unique().sort()
        first, second = (numbers_of(pairs[side], names) for side in ("term", "name"))
        lower = lowered_column(names)
        pairs = pairs.with_columns(edits=pair_distances(lower, first, second, threads=1))
        longer = pl.max_horizontal(pl.col("term", "name").str.len_chars())
        near = pairs.with_columns(score=-pl.col("edits") / longer)
        frames.append(_highest(questions, near, LEVENSHTEIN))
        guessed = answers_of(questions_of(questions), "choice", CHANCE, pl.lit(None, pl.String))
        frames.append(guessed.with_columns(credit=1 / pl.col("choices").list.len()))
    if "pairs" in asks:
        frames.append(answers_of(pairs, "pairs", ALWAYS_NO, pl.lit("no")))
    return frames


def _highest(questions: pl.DataFrame, pairs: pl.DataFrame, model: str) -> pl.DataFrame:
    """Return the answers of a model that chooses the first name with the highest score."""
    best = pl.col("score").fill_nan(None).arg_max()
    chosen = pairs.group_by("id", maintain_order=True).agg(best)["score"]
    return answers_of(questions_of(questions), "choice", model, _LETTERS.gather(chosen))
