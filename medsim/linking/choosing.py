"""Language models that choose the concept of a mention among candidates, or none of them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.progress import Progress
from medsim.embeddings.chats import LanguageModel
from medsim.embeddings.replies import chat_of, noted, unanswered
from medsim.questions.answers import parse_choice
from medsim.questions.question import LETTERS
from medsim.systems.ranked_lists import listing_of

_INSTRUCTION = (
    "A text mentions a medical concept. Choose the name that stands for the same concept as the "
    "mention. Answer with its letter only."
)
_NONE = "none of these"


class ChoosingModel(LanguageModel):
    """A language model that chooses among the candidates of a first search."""

    example: ClassVar[str] = "llama=api:http://localhost:8000/v1,model=llama"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the model that a text names; OptionError if it is to see examples."""
        model = super().parse(text)
        if model.options.shots:
            raise OptionError(f"`llms` {model.name}: shots= does not apply; leave it out")
        return model

    def chosen(
        self,
        candidates: pl.DataFrame,
        queries: pl.DataFrame,
        cache: Path | None,
        progress: Progress,
    ) -> tuple[pl.DataFrame, dict[str, object]]:
        """Return ``LISTING`` with the chosen candidate first, and facts for the manifest.

        The others follow in their order. A mention has no answer if none was chosen, or the reply
        is not clear.

        Args:
            candidates: ``LISTING``, at most 25 of each query.
            queries: query_id and text.
            cache: folder for replies; None for no cache.
            progress: receives the stage.
        """
        # A name of several concepts is shown once, for the first of them.
        asked = candidates.sort("query_id", "concept_rank").unique(
            ["query_id", "name"], keep="first", maintain_order=True
        )
        rows = asked.group_by("query_id", maintain_order=True).agg("name", "concept_id")
        rows = rows.join(queries, on="query_id", maintain_order="left")
        choices = [[*names, _NONE] for names in rows["name"]]
        texts = [
            "\n".join([f"Mention: {text}", *map("{}. {}".format, LETTERS, names)])
            for text, names in zip(rows["text"], choices, strict=True)
        ]
        chats = [chat_of(_INSTRUCTION, [], text) for text in texts]
        n_names = rows["text"].n_unique() + rows["name"].explode().n_unique()
        with progress.stage(f"ask {self.name} about {len(chats):,} mentions") as stage:
            stage.say(
                f"{n_names:,} distinct mentions and names are sent to {self.service.location}, "
                "except those with a cached reply"
            )
            replies = self.replies(chats, cache, stage)
            found = [
                reply.row(chat, parse_choice(reply.content, text, names))
                for chat, reply, text, names in zip(
                    chats, replies, rows["text"], choices, strict=True
                )
            ]
            stage.note(noted(found))
        progress.warn(*unanswered(found, self.name, self.options.tokens, advice=""))
        chosen = [
            dict(zip(LETTERS, ids, strict=False)).get(str(row["prediction"]))
            for row, ids in zip(found, rows["concept_id"], strict=True)
        ]
        of_query = rows.select("query_id", chosen=pl.Series(chosen, dtype=pl.String))
        answers = candidates.join(of_query.drop_nulls(), on="query_id")
        is_other = pl.col("concept_id") != pl.col("chosen")
        answers = answers.sort("query_id", is_other, "concept_rank").with_columns(score=1.0)
        facts = pl.DataFrame({"reported_model": [reply.model or None for reply in replies]})
        return listing_of(answers), self.recorded(facts)
