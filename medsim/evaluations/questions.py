"""Asks language models and embeddings multiple-choice questions on names, beside baselines."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from medsim.core import manifest
from medsim.core.errors import OptionError, check_unique
from medsim.core.options import declared
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.tables import write_csv
from medsim.embeddings.embedded_terms import embed_terms, identify, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.evaluations.options import EvaluateOptions
from medsim.questions.answers import LEVENSHTEIN, AskedModel, nearest
from medsim.questions.output import AFFIRMED, CSV, REPLIES, RESULTS, Answers, AnswersManifest
from medsim.questions.reading import read_questions
from medsim.questions.scores import affirmed_of, results_of

_APPLICABLE = {"threads", "cache", "overwrite", "coverage"}


def answer_questions(options: EvaluateOptions) -> Answers:
    """Ask models multiple-choice questions on names, and return their answers in ``out``.

    Language models choose the name that means the same as a term, or judge each of the names with
    the term. An embedding chooses the name with the highest cosine; if the term or all names lack a
    vector, it has no answer. No answer counts as wrong. The baseline is the nearest name by edit
    distance. Of equally near names the first is chosen.
    """
    standard = EvaluateOptions(options.inputs, options.embeddings, options.out, llms=options.llms)
    for name in sorted(declared(EvaluateOptions).keys() - _APPLICABLE):
        if getattr(options, name) != getattr(standard, name):
            raise OptionError(f"`{name}` does not apply to questions; leave it out")
    progress, llms = progress_of(options.progress), list(map(AskedModel.parse, options.llms))
    check_unique("models", [*(llm.name for llm in llms), *options.embeddings, LEVENSHTEIN])
    folders, place = list(map(Path, options.input_paths)), Path(options.out)
    with claimed(place, Answers.kind, overwrite=options.overwrite, input_folders=folders) as output:
        inputs = list(map(read_questions, folders))
        check_unique("folders of questions", [each.name for each in inputs])
        n_examples = min(each.examples.height for each in inputs)
        if (n_shots := max((llm.options.shots for llm in llms), default=0)) > n_examples:
            raise OptionError(f"shots={n_shots} needs as many questions of train; export splits")
        cache, threads = cache_folder(options.cache), options.n_threads
        names = [each.asked[name].explode() for each in inputs for name in ("term", "choices")]
        terms = pl.concat([column.alias("term") for column in names]).unique().sort().to_list()
        frames = [llm.answers(each, cache, progress) for each in inputs for llm in llms]
        about = {}
        for spec in options.specs:
            source = with_fingerprint(identify(spec, progress), terms, progress, threads=threads)
            kept: dict[str, Any] = {"cache": cache, "coverage": options.coverage}
            embedded = embed_terms(source, terms, progress, threads=threads, **kept)
            frames += [nearest(each.asked, spec.name, embedded) for each in inputs]
            about[spec.name] = source.provenance()
        if any(frame["ask"][0] == "choice" for frame in frames):
            frames += [nearest(each.asked, LEVENSHTEIN, None) for each in inputs]
        answers = pl.concat([pl.DataFrame(schema=REPLIES.dtypes), *frames], how="diagonal")
        replies = answers.filter(pl.col("model").is_in([llm.name for llm in llms]))
        affirmed = affirmed_of(replies)
        tables = [(RESULTS, results_of(answers)), (REPLIES, replies), (AFFIRMED, affirmed)]
        for table, rows in tables:
            metadata = {"medsim": manifest.medsim_version()}
            output.write(table.files, rows.select(*table.dtypes), metadata)
        output.write_file(CSV, partial(write_csv, affirmed))
        AnswersManifest(
            questions={each.name: each.provenance for each in inputs},
            models=about | {llm.name: llm.recorded(replies.filter(model=llm.name)) for llm in llms},
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, options.n_threads, *manifest.ENCODERS),
        ).write(output.folder)
        output.publish()
    return Answers(place)
