"""Maps local names to the concepts of a standard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from medsim.builds.build import paths_of
from medsim.core.config import checked_threads
from medsim.core.errors import counted, listed
from medsim.core.manifest import ENCODERS
from medsim.core.options import public
from medsim.core.output import OutputFolder, claimed_by
from medsim.core.progress import Progress, progress_of
from medsim.core.store import Store
from medsim.core.tables import bytes_of
from medsim.embeddings.embedded_terms import EmbeddedTerms, embedded_by, term_rows
from medsim.embeddings.encoders import cache_folder
from medsim.embeddings.options import embedding_spec
from medsim.kernels.types import Ids
from medsim.mapping.candidates import PairSearch, comparable
from medsim.mapping.decided import Decided, decided_of
from medsim.mapping.files import MAX_IN_WORKBOOK, write_files
from medsim.mapping.gold import read_gold
from medsim.mapping.names import read_codes, read_names
from medsim.mapping.options import MapOptions
from medsim.mapping.output import NAME_MAPPING, MappingManifest, NameMapping
from medsim.mapping.probability import drawn_lists, likely_concepts
from medsim.mapping.rows import tables_of
from medsim.terminologies.options import ReadingOptions

_MIN_DEPTH = 10  # names that each search returns for a name
_FEW_NAMES = 200


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
        with Store(threads=threads, spill=output.spill) as store:
            local_facts, codes = read_codes(options, store, progress)
        reading = ReadingOptions(
            language=options.language,
            extensions=options.extensions,
            vocabularies=options.vocabularies,
        )
        with Store(threads=threads, spill=output.spill) as store:
            facts, names = read_names(
                options.standard, reading, store, progress, options.categories
            )
            decided = decided_of(options.decisions, codes, store)
            gold = read_gold(options, codes, names, facts["vocabulary"], store, progress)
        progress.warn(*_doubts(codes, names, decided))
        embeddings: dict[str, dict[str, Any]] = {}
        every = _alternatives(options, codes, names, embeddings, progress, threads)
        tables = tables_of(codes, names, every, decided, options, threads)
        if gold is not None:
            is_decided = options.decisions or options.accept is not None
            taken = tables["mapping"] if is_decided else None
            tables |= gold.scores(tables["candidate"], taken, progress)
        _write_tables(output, tables, facts)
        with progress.stage("write files for other programs"):
            write_files(output, tables, facts, options.prefix_and_address)
        digests = ((path.name, bytes_of(path)[1]) for path in map(Path, options.decisions))
        MappingManifest(
            local=local_facts,
            standard=facts,
            embeddings=embeddings,
            gold=None if gold is None else gold.facts,
            systems={} if gold is None else gold.predicted.facts,
            decisions=[{"file": name, "sha256": sha256} for name, sha256 in digests],
            **output.run_facts(options.recorded(), progress, threads, *ENCODERS),
        ).write(output.folder)
    return NameMapping(options.out)


def _doubts(codes: pl.DataFrame, names: pl.DataFrame, decided: Decided) -> Iterator[str]:
    """Yield warnings about the codes, the names of the standard, and the decisions."""
    if len(names) < _FEW_NAMES:
        yield f"STANDARD has only {len(names):,} names, so probabilities are rough"
    if decided.unknown:
        which = listed(decided.unknown, most=3)
        yield f"{counted(len(decided.unknown), 'code')} of decisions not in LOCAL: {which}"
    if len(codes) > MAX_IN_WORKBOOK:
        yield f"candidates.xlsx has the {MAX_IN_WORKBOOK:,} most frequent codes at most"


def _write_tables(
    output: OutputFolder, tables: dict[str, pl.DataFrame], standard: dict[str, Any]
) -> None:
    """Write the tables, and leave in ``tables`` the columns that they have."""
    marked = {"redistributable": str(standard["redistributable"])}
    for name, table in NAME_MAPPING.views.items():
        if name not in tables:
            continue  # without a gold mapping
        columns = (pl.col(column).cast(kind) for column, kind in table.dtypes.items())
        tables[name] = tables[name].select(columns)
        output.write(table.files, tables[name], marked)


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
    rows = concepts.search_sorted(names["concept_id"]).cast(pl.Int32)
    standard = names.select("term", concept=rows).with_columns(comparable(names["term"]))
    local = codes.select(pl.int_range(pl.len(), dtype=pl.Int32).alias("list"), term="names")
    local = local.explode("term")
    local = local.with_columns(comparable(local["term"]))
    drawn = drawn_lists(standard, local, options.seed)
    asked = pl.concat([local.select("key", "term"), drawn.select("key", "term")])
    standard_side, local_side = (
        side.unique("key", keep="first", maintain_order=True).sort("key")
        for side in (standard, asked)
    )
    terms = standard_side["term"], local_side["term"]
    found = PairSearch(
        names=standard_side["key"],
        queries=local_side["key"],
        embedded=_embedded(options, terms, embeddings, progress, threads),
        depth=max(_MIN_DEPTH, 2 * options.k),
        threads=threads,
    )
    with progress.stage(f"search {len(local):,} names among {len(found.names):,}"):
        every = likely_concepts(standard, local, drawn, found)
    for key, of, owner in (("local", local, "list"), ("standard", standard, "concept")):
        first = of.unique([owner, "key"], keep="first", maintain_order=True)
        first = first.select(owner, pl.col("key", "term").name.prefix(f"{key}_"))
        every = every.join(first, on=[owner, f"{key}_key"], how="left", maintain_order="left")
    return every.select(
        "probability",
        code=codes["code"].gather(every["list"]),
        concept_id=concepts.gather(every["concept"]),
        local_name="local_term",
        matched_name="standard_term",
    )


def _embedded(
    options: MapOptions,
    sides: Sequence[pl.Series],
    embeddings: dict[str, dict[str, Any]],
    progress: Progress,
    threads: int,
) -> list[tuple[EmbeddedTerms, Ids, Ids]]:
    """Return embeddings with the rows of the terms of both sides; add the facts on each."""
    terms, embedded = pl.concat(sides).unique().sort().to_list(), []
    given, cache = options.embeddings or {}, cache_folder(options.cache)
    specs = (embedding_spec(source, name) for name, source in given.items())
    for named, vectors in embedded_by(specs, terms, progress, threads=threads, cache=cache):
        names, queries = (term_rows(vectors, side) for side in sides)
        embedded.append((vectors, names, queries))
        embeddings[named.spec.name] = named.provenance()
    return embedded
