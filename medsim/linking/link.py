"""Scores embeddings and baselines by entity linking."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.build import check_no_extensions, is_output, paths_of
from medsim.builds.output import Build
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import InputError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.options import folder_of, public
from medsim.core.output import claimed
from medsim.core.progress import progress_of
from medsim.core.store import Store
from medsim.core.terms import MAX_NAME, TOO_LONG, lowered_column
from medsim.corpora import corpus_names
from medsim.corpora.documents import Problems, corpus_digest, documents_of, open_corpus
from medsim.embeddings.embedded_terms import embed_terms, identify, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.linking import searches
from medsim.linking.options import LinkOptions
from medsim.linking.output import LINK, LINK_SCORES, LINKING, MENTION, Linking, LinkingManifest
from medsim.linking.scores import link_scores
from medsim.splits.split import build_digest
from medsim.terminologies.mappings import cite_codes
from medsim.terminologies.options import ReadingOptions
from medsim.terminologies.sources import read_terminology

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from medsim.core.progress import Progress

_READ = ("mention_id", "corpus", "document_id", "start", "end", "term", "type")
_CODES = {"mention_id": pl.Int32, "vocabulary": pl.String, "code": pl.String}


@public(LinkOptions)
def link(options: LinkOptions) -> Linking:
    """Look up each mention of corpora among all names of a terminology, and return the scores.

    Each model ranks the concepts by their nearest name. Exact match, Levenshtein distance and
    TF-IDF of character trigrams are the baselines. Scores are accuracy@1, accuracy@5 and the mean
    reciprocal rank, with 95% confidence intervals by document.

    Raises:
        InputError: a corpus, the terminology or an embedding is missing, damaged or in an unknown
            format, or no mention has a concept of the terminology.
        OptionError: an option is out of range or does not fit.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    problems = Problems()
    embeddings: dict[str, dict[str, object]] = {}
    with (
        claimed(
            Path(options.out),
            LINKING,
            overwrite=options.overwrite,
            inputs=options.paths_read(),
            input_folders=paths_of(options.terminology),
        ) as output,
        Store(threads=threads, spill=output.spill) as store,
    ):
        with progress.stage("read corpora"):
            corpora = _read_corpora([Path(path) for path in options.corpora], store, problems)
        progress.warn(*problems.warnings())
        terminology, dictionary = _read_names(options, store, progress)
        for query in ("name", "bearer", "gold", "mention"):
            store.run(f"linking/{query}")
        if not store.n_rows("gold"):
            cited, own = store.frame("linking/code_example").row(0)
            raise InputError(
                f"no mention has a concept of {terminology['name']}: codes of the corpora are such "
                f"as {cited}, and concepts such as {own}; except in UMLS and MeSH, ids of concepts "
                "need the prefix of their vocabulary"
            )
        links, mentions = [], store.table("mention").select(*MENTION.dtypes)
        for model, found in _searched(options, store, embeddings, progress, threads):
            with store.frame_as("found", found):
                ranks = store.frame("linking/link")
                links.append(ranks.select(pl.lit(model).alias("model"), pl.all()))
        ranked, metadata = pl.concat(links), {"medsim": manifest.medsim_version()}
        output.write(LINK_SCORES.files, link_scores(mentions, ranked), metadata)
        output.write(MENTION.files, mentions, metadata)
        output.write(LINK.files, ranked, metadata)
        LinkingManifest(
            corpora=corpora,
            terminology=terminology,
            dictionary=dictionary,
            embeddings=embeddings,
            options=options.recorded(),
            skipped=[asdict(item) for item in problems.skipped()],
            **manifest.run_facts(progress, output.outputs, threads, *manifest.ENCODERS),
        ).write(output.folder)
        output.publish()
    return Linking(options.out)


def _searched(
    options: LinkOptions,
    store: Store,
    embeddings: dict[str, dict[str, object]],
    progress: Progress,
    threads: int,
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the names that each model finds; the facts about embeddings go to ``embeddings``."""
    names, queries = store.table("name"), store.frame("linking/query")
    numbers = queries.select("query_id", at=pl.col("lower_term").rank("dense").cast(pl.Int32) - 1)
    lower = names["lower_term"], queries["lower_term"].unique(maintain_order=True)

    def spelled(found: pl.DataFrame) -> pl.DataFrame:
        return found.rename({"query_id": "at"}).join(numbers, on="at")

    yield "exact", spelled(searches.exact(*lower))
    with progress.stage(f"search {len(lower[1]):,} mentions by Levenshtein distance"):
        yield "levenshtein", spelled(searches.levenshtein(*lower, threads))
    with progress.stage(f"search {len(lower[1]):,} mentions by TF-IDF"):
        yield "tfidf", spelled(searches.tfidf(*lower, threads))
    names = store.frame("linking/spelling")
    texts = pl.concat([names["term"], queries["term"]])
    terms = texts.unique().sort()
    for name, source in options.embeddings.items():
        named = identify(embedding_spec(source, name), progress)
        named = with_fingerprint(named, terms.to_list(), progress, threads=threads)
        embedded = embed_terms(
            named, terms.to_list(), progress, threads=threads, cache=cache_folder(options.cache)
        )
        at = terms.search_sorted(texts).to_numpy()
        with progress.stage(f"search {queries.height:,} mentions with {name}"):
            found = searches.by_embedding(embedded, at[: names.height], at[names.height :], threads)
            found = found.with_columns(name_id=names["name_id"].gather(found["name_id"]))
        embeddings[name] = named.provenance()
        yield name, found


def _read_corpora(
    paths: Sequence[Path], store: Store, problems: Problems
) -> dict[str, dict[str, object]]:
    """Put all mentions and their codes into the store; return the facts on each corpus by name."""
    facts = {}
    rows: list[tuple[Any, ...]] = []
    codes: list[tuple[int, str, str]] = []
    for path, corpus in zip(paths, corpus_names(paths), strict=True):
        with open_corpus(path) as file:
            n_before, documents = len(rows), list(documents_of(file, path, problems))
            about: dict[str, object] = {"file": path.name, "sha256": corpus_digest(file, path)}
        for document in documents:
            for each in document.annotations:
                if len(each.text) > MAX_NAME:
                    where = f"{path}: document {document.document_id}"
                    problems.add(f"mention {TOO_LONG}", where, each.text)
                    continue
                codes += [(len(rows), *code) for code in each.codes]
                place = (len(rows), corpus, document.document_id, each.start, each.end)
                rows.append((*place, each.text, each.kind))
        n_mentions = len(rows) - n_before
        facts[corpus] = about | {"n_documents": len(documents), "n_mentions": n_mentions}
    mentions = pl.DataFrame(rows, {name: MENTION.dtypes[name] for name in _READ}, orient="row")
    lower = lowered_column(mentions["term"].str.strip_chars())
    store.put("annotation", mentions.with_columns(lower))
    store.put("annotation_code", pl.DataFrame(codes, _CODES, orient="row"))
    return facts


def _read_names(
    options: LinkOptions, store: Store, progress: Progress
) -> tuple[dict[str, Any], dict[str, object]]:
    """Put the names of a build or source into the store, and its ``cited_code``.

    Returns:
        The facts about the terminology and about the names, for the manifest.
    """
    place, language, build = options.terminology, options.language, None
    if is_output(place):
        check_no_extensions(place, options.extensions)
        build = Build(folder_of(place))
        files = {name: table.files for name, table in CANONICAL_TABLES.items()}
        store.view_files(build.folder, files)
        terminology: dict[str, Any] = dict(build.manifest.source)
    else:
        reading = ReadingOptions(language=language, extensions=options.extensions)
        terminology = read_terminology(str(place), store, reading, progress).to_json()
    cite_codes(store, terminology["vocabulary"])
    names = store.frame("terminologies/concept_name", language=language)
    if names.is_empty():
        raise InputError(f"{place} has no names in `language` {language}")
    store.put("entry", names.with_columns(lowered_column(names["term"])))
    return terminology, {
        "n_names": names["term"].n_unique(),
        "n_concepts": names["concept_id"].n_unique(),
        "fingerprint": manifest.fingerprint(names),
        "build": build and build_digest(build),
    }
