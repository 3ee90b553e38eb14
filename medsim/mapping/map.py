"""Maps local names to the concepts of a standard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from medsim.builds.build import is_output, paths_of
from medsim.builds.positives import pair_distances
from medsim.core import manifest
from medsim.core.config import checked_threads
from medsim.core.errors import counted
from medsim.core.options import public
from medsim.core.output import claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.tables import bytes_of
from medsim.core.terms import lowered_column
from medsim.embeddings.embedded_terms import embed_terms, identify, term_rows, with_fingerprint
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.mapping.candidates import Candidates, compared
from medsim.mapping.decided import NO_MATCH, Decided, decided_of
from medsim.mapping.files import write_files
from medsim.mapping.names import LocalReading, codes_of, main_names, read_names
from medsim.mapping.options import MapOptions
from medsim.mapping.output import (
    NAME_MAPPING,
    MappingManifest,
    NameMapping,
)
from medsim.mapping.probability import drawn_lists, ranked
from medsim.neighbours.difference import DifferenceClassifier
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from medsim.embeddings.embedded_terms import EmbeddedTerms
    from medsim.kernels.types import Ids

_MIN_DEPTH = 10  # names that each search returns for a name


@public(MapOptions)
def map_names(options: MapOptions) -> NameMapping:
    """Find the concepts of a standard that local names probably mean, and return the mapping.

    Candidates come from equal names, edit distance, TF-IDF of character trigrams and embeddings.
    The probability that one is right is learned from names of the standard: they are searched as
    they are and altered, with and without their names and concepts in the standard. Probabilities
    are calibrated for local names whose concepts the standard lacks as often as it seems.

    Raises:
        InputError: a source, file of decisions or embedding is missing, damaged or in an unknown
            format, or has no names in the language.
        OptionError: an option is out of range or does not fit.
        OutputError: ``out`` is taken or cannot be written.
    """
    progress, threads = progress_of(options.progress), checked_threads(options.threads)
    inputs = [*paths_of(options.local), *paths_of(options.standard), *map(Path, options.decisions)]
    with claimed_by(options, NAME_MAPPING, inputs) as output:
        is_table = not is_output(options.local)
        reading = LocalReading(language=options.language, columns=options.columns)
        with Store(threads=threads, spill=output.spill) as store:
            local_facts, local_names = read_names(options.local, reading, store, progress)
            is_table &= local_facts["source"] == "table"
            codes = codes_of(local_names, store, with_columns=is_table)
        reading = ReadingOptions(
            language=options.language,
            extensions=options.extensions,
            vocabularies=options.vocabularies,
        )
        with Store(threads=threads, spill=output.spill) as store:
            facts, names = read_names(options.standard, reading, store, progress, options.categories)
            decided = decided_of(options.decisions, codes["code"], store)
        if decided.unknown:
            progress.warn(f"{counted(decided.unknown, 'decision')} on codes that LOCAL lacks")
        embeddings: dict[str, dict[str, Any]] = {}
        every = _alternatives(options, codes, names, embeddings, progress, threads)
        candidates = every.drop_nulls("concept_id").join(
            decided.rejected, on=["code", "concept_id"], how="anti", maintain_order="left"
        )
        rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("code")
        candidates = candidates.with_columns(rank=rank).filter(pl.col("rank") <= options.k)
        candidates = _described(candidates, names, codes, threads)
        none = every.filter(pl.col("concept_id").is_null())
        codes = _with_status(codes, candidates, none, decided)
        mappings = _mappings(codes, candidates, decided, options.accept, main_names(names))
        tables = {
            "local": codes,
            "candidate": candidates,
            "mapping": mappings,
            "open_decision": decided.open.join(
                main_names(names).rename({"concept_id": "replacement_id", "main_name": "replacement_name"}),
                on="replacement_id",
                how="left",
            ),
        }
        marked = {"redistributable": str(facts["redistributable"])}
        for name, table in NAME_MAPPING.views.items():
            columns = (pl.col(column).cast(kind) for column, kind in table.dtypes.items())
            tables[name] = tables[name].select(columns)
            output.write(table.files, tables[name], marked)
        write_files(output, tables, facts, options.prefix_and_address)
        MappingManifest(
            local=local_facts,
            standard=facts,
            embeddings=embeddings,
            decisions=[{"file": Path(file).name, "sha256": bytes_of(Path(file))[1]} for file in options.decisions],
            options=options.recorded(),
            **manifest.run_facts(progress, output.outputs, threads, *manifest.ENCODERS),
        ).write(output.folder)
        output.publish()
    return NameMapping(options.out)


def _alternatives(
    options: MapOptions,
    codes: pl.DataFrame,
    names: pl.DataFrame,
    embeddings: dict[str, dict[str, Any]],
    progress: Progress,
    threads: int,
) -> pl.DataFrame:
    """Return the candidates of each code with their probability, and none of them as the last.

    Returns:
        Rows in order of codes: code, concept_id, local_name, matched_name and probability.
    """
    concepts = names["concept_id"].unique(maintain_order=True)
    standard = names.select("term", concept=concepts.search_sorted(names["concept_id"]).cast(pl.Int32))
    local = codes.select(pl.int_range(pl.len(), dtype=pl.Int32).alias("list"), term="names")
    local = local.explode("term")
    standard, local = (rows.with_columns(compared(rows["term"])) for rows in (standard, local))
    drawn = drawn_lists(standard, codes["names"].list.len().to_numpy(), options.seed)
    asked = pl.concat([local.select("key", "term"), drawn.select("key", "term")])
    sides = [side.unique("key", keep="first", maintain_order=True).sort("key") for side in (standard, asked)]
    found = Candidates(
        names=sides[0]["key"],
        queries=sides[1]["key"],
        embedded=_embedded(options, [side["term"] for side in sides], embeddings, progress, threads),
        depth=max(_MIN_DEPTH, 2 * options.k),
        threads=threads,
    )
    with progress.stage(f"search {len(local):,} names among {len(found.names):,}"):
        rows = ranked(standard, local, drawn, found)
    for key, of, owner in (("local_key", local, "list"), ("standard_key", standard, "concept")):
        first = of.unique([owner, "key"], keep="first", maintain_order=True)
        first = first.select(owner, pl.col("key").alias(key), pl.col("term").alias(f"{key}_term"))
        rows = rows.join(first, on=[owner, key], how="left", maintain_order="left")
    return rows.select(
        "probability",
        code=codes["code"].gather(rows["list"]),
        concept_id=concepts.gather(rows["concept"]),
        local_name="local_key_term",
        matched_name="standard_key_term",
    )


def _embedded(
    options: MapOptions,
    sides: Sequence[pl.Series],
    embeddings: dict[str, dict[str, Any]],
    progress: Progress,
    threads: int,
) -> list[tuple[EmbeddedTerms, Ids, Ids]]:
    """Return embeddings with the rows of the terms of both sides; add the facts on each."""
    terms, embedded = pl.concat(sides).unique().sort(), []
    for name, source in (options.embeddings or {}).items():
        named = identify(embedding_spec(source, name), progress)
        named = with_fingerprint(named, terms.to_list(), progress, threads=threads)
        vectors = embed_terms(
            named, terms.to_list(), progress, threads=threads, cache=cache_folder(options.cache)
        )
        names, queries = (term_rows(vectors, side) for side in sides)
        embedded.append((vectors, names, queries))
        embeddings[name] = named.provenance()
    return embedded


def _described(
    rows: pl.DataFrame, names: pl.DataFrame, codes: pl.DataFrame, threads: int
) -> pl.DataFrame:
    """Return candidates with their main names, and how the matching names differ."""
    texts = [lowered_column(rows[side]) for side in ("local_name", "matched_name")]
    terms = pl.concat(texts).unique().sort()
    ids = [terms.search_sorted(side) for side in texts]
    every = (*names["term"].unique(), *codes["names"].explode())
    between = DifferenceClassifier(lowered_column(pl.Series(every, dtype=pl.String))).between
    kinds = [
        "same" if exact else "case" if one == other else between(one, other).kind
        for exact, one, other in zip(rows["local_name"] == rows["matched_name"], *texts, strict=True)
    ]
    return rows.with_columns(
        pair_distances(terms, *ids, threads), difference=pl.Series(kinds, dtype=pl.String)
    ).join(main_names(names), on="concept_id", maintain_order="left")


def _with_status(
    codes: pl.DataFrame, candidates: pl.DataFrame, none: pl.DataFrame, decided: Decided
) -> pl.DataFrame:
    """Return the local codes with the status and the probabilities of each."""
    held = decided.held.select("code", held=pl.col("decision") == NO_MATCH).unique("code")
    still = decided.open.select("code", "status").unique("code")
    status = pl.coalesce(
        "status",
        pl.when("held").then(pl.lit(NO_MATCH)).when(~pl.col("held")).then(pl.lit("decided")),
        pl.lit("undecided"),
    )
    first = candidates.filter(rank=1).select("code", "probability")
    every = codes.join(first, on="code", how="left", maintain_order="left")
    every = every.join(none.select("code", none_probability="probability"), on="code", how="left", maintain_order="left")
    every = every.join(still, on="code", how="left", maintain_order="left").join(held, on="code", how="left", maintain_order="left")
    return every.with_columns(status=status, names=pl.col("names").list.join(" | "))


def _mappings(
    codes: pl.DataFrame,
    candidates: pl.DataFrame,
    decided: Decided,
    accept: float | None,
    main: pl.DataFrame,
) -> pl.DataFrame:
    """Return the decided mappings, and those of candidates that are probable enough."""
    taken = candidates.filter(pl.col("rank") == 1, pl.col("probability") >= (2 if accept is None else accept))
    undecided = codes.filter(status="undecided").select("code")
    taken = taken.join(undecided, on="code", how="semi").with_columns(
        decision=pl.lit("exact"), **dict.fromkeys(("comment", "reviewer", "date"), pl.lit(""))
    )
    every = pl.concat([decided.held, taken], how="diagonal_relaxed")
    every = every.drop("concept_name").join(main.rename({"main_name": "concept_name"}), on="concept_id", how="left")
    order = codes.select("code", "name", at=pl.int_range(pl.len()))
    return every.join(order, on="code").sort("at", "concept_id")
