"""Asks language models, embeddings and rules of spelling multiple-choice questions on names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from medsim.core import manifest
from medsim.core.errors import OptionError, check_unique, listed
from medsim.core.manifest import output_kind
from medsim.core.options import declared
from medsim.core.output import check_not_input, claimed
from medsim.core.progress import Progress, progress_of
from medsim.core.tables import read_text, write_csv
from medsim.embeddings.embedded_terms import embedded_by
from medsim.embeddings.encoders import cache_folder
from medsim.evaluations.options import EvaluateOptions
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
from medsim.systems.options import systems_of


def ask_questions(options: EvaluateOptions) -> Answers:
    """Ask models multiple-choice questions on names, and return their answers in ``out``.

    Language models choose the name that means the same as a term, or judge each of the names with
    the term. Embeddings do both: they choose the name with the highest cosine, and affirm pairs
    with a cosine above a threshold. Systems use their similarities, or choose names. No answer is
    a wrong answer. The baselines are rules of spelling. The first of equal scores counts.

    Raises:
        InputError: a folder has no questions, or an embedding or a table cannot be read.
        OptionError: an option is given that does not apply to questions, two models have the same
            name, or there are too few examples or tokens.
    """
    _check_applicable(options)
    out, folders = Path(options.out), [*map(Path, options.input_paths)]
    progress, recorded = progress_of(options.progress), options.recorded()
    llms = list(map(AskedModel.parse, options.llms))
    names = [*(llm.name for llm in llms), *options.embeddings, *(options.predictions or ())]
    check_unique("models", [*names, *RULES])
    earlier = None
    if not options.overwrite and output_kind(out) == Answers.kind.name:
        earlier = Answers(out)
    overwrite = options.overwrite or earlier is not None
    check_not_input(out, [], folders)
    with claimed(out, Answers.kind, overwrite=overwrite) as output:
        inputs = [read_questions(folder, options.sample) for folder in folders]
        check_unique("folders of questions", [each.name for each in inputs])
        frames, kept = _of_earlier(earlier, inputs, names, recorded) if earlier else ([], {})
        frames += _of_llms(options, llms, inputs, earlier, progress)
        of_others, about = _of_others(options, inputs, progress)
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
            **output.run_facts(recorded, progress, options.n_threads, *manifest.ENCODERS),
        ).write(output.folder)
    return Answers(out)


def _check_applicable(options: EvaluateOptions) -> None:
    """Raise OptionError for an option that does not apply to questions."""
    given = ("inputs", "embeddings", "out", "llms", "predictions")
    standard = EvaluateOptions(**{name: getattr(options, name) for name in given})
    applicable = {"threads", "cache", "overwrite", "coverage", "sample"}
    applicable |= {"prompt", "max_tokens_total", "yes"}
    for name in sorted(declared(EvaluateOptions).keys() - applicable):
        if getattr(options, name) != getattr(standard, name):
            raise OptionError(f"`{name}` does not apply to questions; leave it out")
    if options.sample is not None and options.predictions:
        raise OptionError("`sample` does not apply to `predictions` on questions; leave it out")


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
    options: EvaluateOptions,
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
    cache = cache_folder(options.cache)
    prompt = None if options.prompt is None else read_text(Path(options.prompt)).content.strip()
    asked = [(llm, each) for each in inputs for llm in llms]
    n_tokens = sum(llm.n_tokens(llm.chats(each, prompt)[1], cache) for llm, each in asked)
    if n_tokens > options.max_tokens_total and not options.yes:
        raise OptionError(
            f"the chats and replies need an estimated {n_tokens:,} tokens, more than "
            f"`max_tokens_total` {options.max_tokens_total:,}; add `yes` to send them, or "
            "`sample` for fewer questions"
        )
    return [llm.answers(each, prompt, cache, progress) for llm, each in asked]


def _of_others(
    options: EvaluateOptions, inputs: Sequence[Questions], progress: Progress
) -> tuple[list[pl.DataFrame], dict[str, dict[str, object]]]:
    """Return the answers of embeddings and systems, and facts about these by name."""
    texts = [each.asked[name].explode() for each in inputs for name in ("term", "choices")]
    terms = pl.concat([column.alias("term") for column in texts]).unique().sort().to_list()
    frames: list[pl.DataFrame] = []
    about = {}
    for named, embedded in embedded_by(
        options.specs,
        terms,
        progress,
        threads=options.n_threads,
        cache=cache_folder(options.cache),
        coverage=options.coverage,
    ):
        name = named.spec.name
        for each in inputs:
            frames += answers_by_similarity(each.asked, name, embedded)
        about[name] = named.provenance()
    for system in systems_of(options.predictions):
        digest, answers = answers_of(system, inputs, progress)
        frames += answers
        about[system.name] = system.provenance(digest)
    return frames, about
