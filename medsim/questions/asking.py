"""Asks language models, embeddings and rules of spelling multiple-choice questions on names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from medsim.core import manifest
from medsim.core.errors import OptionError, check_unique, listed
from medsim.core.manifest import output_kind
from medsim.core.output import claimed
from medsim.core.progress import Progress
from medsim.core.tables import write_csv
from medsim.embeddings.embedded_terms import embedded_by
from medsim.questions.answers import (
    AskedModel,
    answers_again,
    answers_by_rules,
    answers_by_similarity,
    answers_of,
)
from medsim.questions.output import (
    AFFIRMED,
    AFFIRMED_CSV,
    CHOSEN_KINDS,
    REPLIES,
    RESULTS,
    Answers,
    AnswersManifest,
)
from medsim.questions.question import Questions, read_questions
from medsim.questions.rules import RULES
from medsim.questions.scores import affirmed_of, chosen_of, results_of

if TYPE_CHECKING:
    from medsim.embeddings.options import Coverage, EmbeddingSpec
    from medsim.systems.options import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Contenders:
    """The models that answer questions, and how names are embedded.

    Attributes:
        llms: language models, as texts for ``AskedModel.parse``.
        embeddings: embeddings with their options.
        systems: systems without vectors.
        coverage: whether a name needs vectors for all its words.
        cache: folder for cached vectors and replies; None for no cache.
        threads: number of threads.
        sample: number of questions to ask of each folder; None for all.
        prompt: instruction for language models; None for the usual one.
        max_tokens: maximum estimated tokens of chats and replies; None for no limit.
    """

    llms: Sequence[str]
    embeddings: Sequence[EmbeddingSpec]
    systems: Sequence[System]
    coverage: Coverage
    cache: Path | None
    threads: int
    sample: int | None
    prompt: str | None
    max_tokens: int | None


def ask_questions(
    folders: Sequence[Path],
    out: Path,
    contenders: Contenders,
    *,
    recorded: dict[str, object],
    overwrite: bool,
    progress: Progress,
) -> Answers:
    """Ask models multiple-choice questions on names, and return their answers in ``out``.

    Language models choose the name that means the same as a term, or judge each of the names with
    the term. Embeddings do both: they choose the name with the highest cosine, and affirm pairs
    with a cosine above a threshold. Systems use their similarities, or choose names. No answer is
    a wrong answer. The baselines are rules of spelling. The first of equal scores counts.

    Args:
        folders: folders of questions.
        out: folder to write.
        contenders: the models.
        recorded: the options for the manifest.
        overwrite: whether ``out`` is replaced.
        progress: receives the stages.

    Raises:
        InputError: a folder has no questions, or an embedding or a table cannot be read.
        OptionError: two models have the same name, or there are too few examples or tokens.
    """
    llms = list(map(AskedModel.parse, contenders.llms))
    names = [*(llm.name for llm in llms), *(spec.name for spec in contenders.embeddings)]
    names += [system.name for system in contenders.systems]
    check_unique("models", [*names, *RULES])
    earlier = None if overwrite or output_kind(out) != Answers.kind.name else Answers(out)
    overwrite |= earlier is not None
    with claimed(out, Answers.kind, overwrite=overwrite, input_folders=folders) as output:
        inputs = [read_questions(folder, contenders.sample) for folder in folders]
        check_unique("folders of questions", [each.name for each in inputs])
        frames, kept = _of_earlier(earlier, inputs, names, recorded) if earlier else ([], {})
        frames += _of_llms(contenders, llms, inputs, earlier, progress)
        of_others, about = _of_others(contenders, inputs, progress)
        _check_same(earlier, about)
        frames, about = [*frames, *of_others], kept | about
        if any(frame["ask"][0] == "choice" for frame in frames):
            frames += [frame for each in inputs for frame in answers_by_rules(each.asked)]
        answers = pl.concat([pl.DataFrame(schema=REPLIES.dtypes), *frames], how="diagonal")
        replies = answers.filter(pl.col("model").is_in([*kept, *(llm.name for llm in llms)]))
        about |= {llm.name: llm.recorded(replies.filter(model=llm.name)) for llm in llms}
        affirmed = affirmed_of(replies)
        tables = [(RESULTS, results_of(answers)), (CHOSEN_KINDS, chosen_of(answers))]
        for table, rows in (*tables, (REPLIES, replies), (AFFIRMED, affirmed)):
            output.write(table.files, rows.select(*table.dtypes))
        output.write_file(AFFIRMED_CSV, partial(write_csv, affirmed))
        AnswersManifest(
            questions={each.name: each.provenance for each in inputs},
            models=about,
            options=recorded,
            **manifest.run_facts(progress, output.outputs, contenders.threads, *manifest.ENCODERS),
        ).write(output.folder)
        output.publish()
    return Answers(out)


def _of_earlier(
    earlier: Answers,
    inputs: Sequence[Questions],
    names: Sequence[str],
    recorded: Mapping[str, object],
) -> tuple[list[pl.DataFrame], dict[str, dict[str, object]]]:
    """Return the answers of the other language models of an earlier run, and facts about these.

    Raises:
        OptionError: the questions or options differ, or other models of that run are not given.
    """
    about, replies = earlier.manifest, earlier.read(REPLIES.files)
    asked = {name: one["sha256"] for name, one in about.questions.items()}
    given = {each.name: each.provenance["sha256"] for each in inputs}
    if asked != given or about.options != recorded:
        raise OptionError(
            f"{earlier.folder} has answers to other questions or with other options; use the same "
            "to add models, or `overwrite`"
        )
    kept = {name: about.models[name] for name in replies["model"].unique() if name not in names}
    if lacking := [name for name in about.models if name not in {*names, *kept}]:
        raise OptionError(f"give {listed(lacking)} too; only replies of language models are kept")
    replies = replies.filter(pl.col("model").is_in([*kept]))
    return [frame for each in inputs for frame in answers_again(each, replies)], kept


def _check_same(earlier: Answers | None, models: Mapping[str, Mapping[str, object]]) -> None:
    """Raise OptionError if an earlier run has another model of the same name."""
    before = earlier.manifest.models if earlier else {}
    for name in models.keys() & before.keys():
        for fact in ("model", "options", "fingerprint"):
            if json.dumps(models[name].get(fact)) != json.dumps(before[name].get(fact)):
                raise OptionError(
                    f"the output has answers of another model named {name}; choose another name, "
                    "or add `overwrite` to replace all answers"
                )


def _of_llms(
    contenders: Contenders,
    llms: Sequence[AskedModel],
    inputs: Sequence[Questions],
    earlier: Answers | None,
    progress: Progress,
) -> list[pl.DataFrame]:
    """Return the answers of language models.

    Raises:
        OptionError: there are too few examples, or chats and replies are estimated to need too many
            tokens, or an earlier run has another model of the same name.
    """
    nothing = pl.DataFrame(schema=REPLIES.dtypes)
    _check_same(earlier, {llm.name: llm.recorded(nothing) for llm in llms})
    n_examples = min(each.examples.height for each in inputs)
    if (n_shots := max((llm.options.shots for llm in llms), default=0)) > n_examples:
        raise OptionError(f"shots={n_shots} needs as many questions of train; export splits")
    prompt, cache = contenders.prompt, contenders.cache
    asked = [(llm, each) for each in inputs for llm in llms]
    n_tokens = sum(llm.n_tokens(llm.chats(each, prompt)[1], cache) for llm, each in asked)
    if contenders.max_tokens is not None and n_tokens > contenders.max_tokens:
        raise OptionError(
            f"the chats and replies need an estimated {n_tokens:,} tokens, more than "
            f"`max_tokens_total` {contenders.max_tokens:,}; add `yes` to send them, or "
            "`sample` for fewer questions"
        )
    return [llm.answers(each, prompt, cache, progress) for llm, each in asked]


def _of_others(
    contenders: Contenders, inputs: Sequence[Questions], progress: Progress
) -> tuple[list[pl.DataFrame], dict[str, dict[str, object]]]:
    """Return the answers of embeddings and systems, and facts about these by name."""
    texts = [each.asked[name].explode() for each in inputs for name in ("term", "choices")]
    terms = pl.concat([column.alias("term") for column in texts]).unique().sort().to_list()
    frames: list[pl.DataFrame] = []
    about = {}
    for named, embedded in embedded_by(
        contenders.embeddings,
        terms,
        progress,
        threads=contenders.threads,
        cache=contenders.cache,
        coverage=contenders.coverage,
    ):
        name = named.spec.name
        for each in inputs:
            frames += answers_by_similarity(each.asked, name, embedded)
        about[name] = named.provenance()
    for system in contenders.systems:
        digest, answers = answers_of(system, inputs, progress)
        frames += answers
        about[system.name] = system.provenance(digest)
    return frames, about
