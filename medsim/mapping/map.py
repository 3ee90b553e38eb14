"""Maps local names to the concepts of a standard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from medsim.builds.build import fill_tables, is_output, paths_of
from medsim.core.config import checked_threads
from medsim.core.errors import InputError, OptionError, counted, listed
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
from medsim.mapping.options import MapOptions
from medsim.mapping.output import NAME_MAPPING, MappingManifest, NameMapping
from medsim.mapping.probability import drawn_lists, likely_concepts
from medsim.mapping.rows import main_names, tables_of
from medsim.terminologies.options import ReadingOptions

if TYPE_CHECKING:
    from medsim.core.options import PathOrOutput

_MIN_DEPTH = 10  # names that each search returns for a name
_FEW_NAMES = 200
_CHOSEN = {"category": pl.String}
_LOCAL_ROW = pl.Schema({"concept_id": pl.String, "frequency": pl.Int64, "kept": pl.String})


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


class _LocalReading(ReadingOptions):
    """How local names are read: with the columns that have no role."""

    keeps_columns: ClassVar[bool] = True


def read_names(
    source: PathOrOutput,
    reading: ReadingOptions,
    store: Store,
    progress: Progress,
    categories: Sequence[str] = (),
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Fill the canonical tables of a source or build, and return its facts and names.

    Returns:
        The facts, and the names of active concepts: concept_id, term, is_main and category.

    Raises:
        InputError: the source cannot be read, or has no names in the language.
        OptionError: a category is unknown, or an option does not fit the source.
    """
    facts = fill_tables(source, reading, store, progress)
    store.put("chosen", pl.DataFrame({"category": categories}, _CHOSEN))
    names = store.frame("mapping/name", language=reading.language)
    if names.is_empty() and categories:
        raise OptionError(
            f"`categories`: {facts['name']} has no concept of {', '.join(categories)}"
        )
    if names.is_empty():
        raise InputError(f"{facts['name']} has no names in `language` {reading.language}")
    return facts, names


def read_codes(
    options: MapOptions, store: Store, progress: Progress
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the facts about LOCAL, and a row per code with its names; see ``read_names``."""
    language = options.local_language or options.language
    reading = _LocalReading(language=language, columns=options.columns)
    facts, names = read_names(options.local, reading, store, progress)
    rows = pl.DataFrame(schema=_LOCAL_ROW)
    if not is_output(options.local) and facts["source"] == "table":
        rows = store.table("local_row").select(*_LOCAL_ROW).cast(_LOCAL_ROW)
    codes = main_names(names).join(
        names.group_by("concept_id").agg(pl.col("term").alias("names"), pl.first("category")),
        on="concept_id",
    )
    if n_unnamed := int(store.table("concept")["active"].sum()) - len(codes):
        lost = f"{counted(n_unnamed, 'code')} of LOCAL without a name in {language!r}"
        progress.warn(f"left out {lost}; `local_language` chooses another language")
    codes = codes.join(rows, on="concept_id", how="left").rename({"concept_id": "code"})
    codes = codes.rename({"main_name": "name"}).sort(
        pl.col("frequency"), "code", descending=[True, False], nulls_last=True
    )
    return facts, codes


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
