"""Derives the positives of every dataset from the canonical tables and from corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from medsim.builds.negatives import TermIndex
from medsim.builds.options import MAX_NAMES, Correction, SearchOptions
from medsim.builds.output import LANGUAGES, TERM, Build
from medsim.core import queries
from medsim.core.config import DIFFICULTIES, EASY_DISTANCE, PARENT_CHILD
from medsim.core.errors import InputError, OptionError
from medsim.core.kinds import CANONICAL_TABLES
from medsim.core.manifest import Skipped
from medsim.core.tables import read_table, unguarded
from medsim.core.terms import content_hashes, lowered, numbered, numbers_of
from medsim.kernels.components import components
from medsim.kernels.types import Ids

if TYPE_CHECKING:
    from medsim.core.store import Store


_JUDGED = {"same": True, "not_same": False}


def read_corrections(corrections: str | Path | Sequence[Correction]) -> tuple[Correction, ...]:
    """Return corrections, or those in a table, with each pair once, in order of text.

    A table has the columns term1, term2 and judged, which is "same" or "not_same"; others are
    ignored. ``medsim study score`` writes such a file, as CSV that is safe in spreadsheets.

    Raises:
        InputError: the file cannot be read, or lacks a column; or a correction is not a pair of
            different terms, or two contradict each other. The message gives the line or number.
    """
    if isinstance(corrections, (str, Path)):
        where, table = str(corrections), read_table(Path(corrections), ("term1", "term2", "judged"))
        judged = table.frame["judged"]
        table.refuse(~judged.is_in(list(_JUDGED)), "judged", "is neither same nor not_same")
        rows = [
            (location, Correction(term1=unguarded(a), term2=unguarded(b), same=_JUDGED[answer]))
            for location, (a, b, answer) in table.rows()
        ]
    else:
        where = "`corrections`"
        rows = [(f"number {number}", pair) for number, pair in enumerate(corrections, start=1)]
    by_terms: dict[tuple[str, ...], tuple[str, Correction]] = {}
    for location, pair in rows:
        key = tuple(sorted(lowered((pair.term1.strip(), pair.term2.strip()))))
        if not key[0] or key[0] == key[1]:
            raise InputError(
                f"{where}: {location}: {pair.term1!r} and {pair.term2!r} are not two terms"
            )
        first_location, first = by_terms.setdefault(key, (location, pair))
        if first.same != pair.same:
            raise InputError(
                f"{where}: {first_location} and {location} contradict each other on "
                f"{pair.term1!r} and {pair.term2!r}"
            )
    return tuple(by_terms[key][1] for key in sorted(by_terms))


def corrected_nodes(corrections: Sequence[Correction], terms: pl.DataFrame) -> pl.DataFrame:
    """Return the corrections of known terms: node1_id, node2_id (the smaller first) and same."""
    nodes = terms.select("lower_term", "node_id").unique()
    rows = [(*lowered((it.term1.strip(), it.term2.strip())), it.same) for it in corrections]
    schema = {"left": pl.String, "right": pl.String, "same": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    for side in ("left", "right"):
        side_nodes = nodes.rename({"lower_term": side, "node_id": f"{side}_node"})
        frame = frame.join(side_nodes, on=side, maintain_order="left")
    both = ("left_node", "right_node")
    return frame.select(
        pl.min_horizontal(both).alias("node1_id"), pl.max_horizontal(both).alias("node2_id"), "same"
    )


def without_rejected(
    pairs: pl.DataFrame, corrected: pl.DataFrame, terms: pl.DataFrame, *, of_synonyms: bool
) -> pl.DataFrame:
    """Return positives without those that people judged not to mean the same.

    Of a child and its parent these are right, and those that mean the same are left out.
    """
    rejected = corrected.filter(same=not of_synonyms)
    if rejected.is_empty():
        return pairs
    node = terms["node_id"]
    ends = {side: node.gather(pairs[f"{side}_id"]) for side in ("term1", "term2")}
    return (
        pairs.with_columns(
            pl.min_horizontal(*ends.values()).alias("node1_id"),
            pl.max_horizontal(*ends.values()).alias("node2_id"),
        )
        .join(rejected, on=["node1_id", "node2_id"], how="anti", maintain_order="left")
        .drop("node1_id", "node2_id")
    )


_COMPARED_PAIRS = 1 << 16  # per batch of texts
_ENDS = ("term1_id", "term2_id", "concept1", "concept2")
_COLUMNS = ("dataset", "difficulty", *_ENDS, "distance", *LANGUAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Positives:
    """The terms of a terminology and their positives.

    Attributes:
        terms: all terms that can be in a pair: term_id, term, lower_term, node_id; row ``i`` has
            the id ``i``, and ids are in order of text.
        pairs: a row per dataset and pair: dataset and difficulty (enumerations of one byte),
            term1_id and term2_id (the sort order), concept1 and concept2 (rows of ``concepts``),
            distance, and language1 and language2 (rows of ``languages``; null for datasets of one
            language). All mean the same, so they link terms.
        parent_child: the pairs of the dataset parent_child, with the same columns.
        languages: languages of the build.
        concepts: ids of the concepts that have descriptions.
        bearers: int32[n_terms], concept of each term in a negative, a row of ``concepts``.
        corrected: pairs of terms that people judged: node1_id, node2_id, same; pairs that do not
            mean the same are not among ``pairs``.
        skipped: rows that made no pair, with the reason.
    """

    terms: pl.DataFrame
    pairs: pl.DataFrame
    parent_child: pl.DataFrame
    languages: pl.Series
    concepts: pl.Series
    bearers: Ids
    corrected: pl.DataFrame
    skipped: tuple[Skipped, ...]


def derive_positives(
    store: Store, options: SearchOptions, *, rf2_rules: bool, threads: int
) -> Positives:
    """Derive the positives from the canonical tables of ``store``.

    The tables dataset, term, name, bearer, substitution, described_concept and, with a hierarchy,
    ancestor remain in the store.

    Args:
        store: store with the canonical tables.
        options: options of the build, with the corrections read.
        rf2_rules: whether RF2's rules on "[D]" and namespaces apply.
        threads: threads to use.
    """
    registered = queries.datasets(len(options.languages), hierarchy=options.hierarchy)
    datasets = sorted(registered, key=lambda each: each.name)
    contained = pl.Series([sorted(d.contains) for d in datasets], dtype=pl.List(pl.String))
    names = [dataset.name for dataset in datasets]
    store.put("dataset", pl.DataFrame({"name": names, "contains": contained}))
    terms = derive_names(store, options, rf2_rules=rf2_rules)
    store.run("builds/terms/bearer")
    store.drop("named")
    store.run_each("builds/terms", "substitution", "substitutions")
    store.run("builds/pairs/described_concept")
    concepts = store.table("described_concept").sort("concept_number")["concept_id"]
    bearers = numbers_of(store.table("bearer").sort("term_id")["concept_id"], concepts)
    corrected = corrected_nodes(options.loaded_corrections, terms)
    if options.hierarchy:
        store.run("builds/terms/ancestor")
    n_rejected, parts, related = 0, list[pl.DataFrame](), list[pl.DataFrame]()
    for dataset in datasets:
        store.run(dataset.query)
        candidates = store.frame("builds/pairs/positive", candidates=dataset.name)
        store.drop(dataset.name)
        is_synonym = dataset.name != PARENT_CHILD
        pairs = without_rejected(candidates, corrected, terms, of_synonyms=is_synonym)
        n_rejected += (candidates.height - pairs.height) * is_synonym
        left, right = pairs["term1_id"], pairs["term2_id"]
        distance = pair_distances(terms["lower_term"], left, right, threads)
        name = pl.lit(dataset.name, pl.Enum(names))  # a byte per row
        measured, is_easy = pairs.with_columns(distance, dataset=name), distance <= EASY_DISTANCE
        for difficulty, belongs in (("easy", is_easy), ("hard", ~is_easy)):
            of_set = measured.with_columns(difficulty=pl.lit(difficulty, pl.Enum(DIFFICULTIES)))
            (parts if is_synonym else related).append(of_set.filter(belongs).select(*_COLUMNS))
    counts = {
        **dict(store.frame("builds/terms/skipped").iter_rows()),
        "a positive judged not to mean the same": n_rejected or None,
        "a correction of an unknown term": len(options.loaded_corrections) - len(corrected) or None,
    }
    return Positives(
        terms=terms,
        pairs=pl.concat(parts, rechunk=False),
        parent_child=pl.concat([*related, parts[0].clear()]),
        languages=pl.Series(options.languages),
        concepts=concepts,
        bearers=bearers.to_numpy(),
        corrected=corrected,
        skipped=tuple(Skipped(reason=r, n_rows=n) for r, n in counts.items() if n is not None),
    )


def derive_names(store: Store, options: SearchOptions, *, rf2_rules: bool) -> pl.DataFrame:
    """Derive all terms from the canonical tables of ``store``, as ``Positives.terms``.

    The tables term, name and named remain in the store, with their intermediate tables, and the
    options as parameters of queries.

    Raises:
        InputError: a concept has more than ``max_names`` names; pairs grow with the square.
    """
    store.parameters |= options.parameters()
    languages = pl.DataFrame({"language": options.languages})
    store.put("build_language", languages.with_row_index("language_number"))
    store.run("builds/terms/naming")
    store.run("builds/terms/substitution_name", rf2_rules=rf2_rules)
    terms = numbered(store.frame("builds/terms/spelling")["term"])
    store.put("term", terms)
    store.run_each("builds/terms", "named", "name", "translation")
    max_names = options.max_names or MAX_NAMES
    crowded = store.frame("builds/terms/over_max_names", max_names=max_names)
    for concept, n_names in crowded.iter_rows():
        raise InputError(
            f"the concept {concept!r} has {n_names:,} names, but the limit is {max_names:,}; raise "
            "`max_names` if this is intended"
        )
    return terms


def named_concepts(store: Store, named: Sequence[str], advice: str = "") -> list[tuple[str, str]]:
    """Return the name and concept_id of each category, given as [NAME=]CONCEPT_ID.

    Args:
        store: store with the tables of ``derive_names``.
        named: the concepts, with names or without.
        advice: end of the message about an unknown concept.
    """
    # A split has the relationships of the whole terminology, but not every concept.
    known_ids = {*store.table("concept")["concept_id"], *store.table("is_a")["parent_id"]}
    fsns = store.table("name").filter("is_fsn").join(store.table("term"), on="term_id")
    term_of = dict(fsns.select("concept_id", "term").iter_rows())
    concepts: list[tuple[str, str]] = []
    for text in named:
        name, equals, concept_id = (part.strip() for part in text.rpartition("="))
        if not concept_id or (equals and not name) or not text.isprintable():
            raise OptionError(f"a category is CONCEPT_ID or NAME=CONCEPT_ID, not {text!r}")
        if concept_id not in known_ids:
            raise OptionError(f"the build has no concept {concept_id!r}{advice}")
        name = name or term_of.get(concept_id, concept_id)
        if any(name == other or concept_id == known_id for other, known_id in concepts):
            raise OptionError(
                f"category {name!r} ({concept_id}) has the name or the concept of another; give "
                "different ones as NAME=CONCEPT_ID"
            )
        concepts.append((name, concept_id))
    return concepts


def pair_distances(
    lower_terms: pl.Series, left_ids: pl.Series, right_ids: pl.Series, threads: int
) -> pl.Series:
    """Return the Levenshtein distance of each pair of terms, in code points; ids are rows."""
    distances = np.empty(len(left_ids), np.int32)
    for first in range(0, len(left_ids), _COMPARED_PAIRS):
        left, right = (
            lower_terms.gather(ids.slice(first, _COMPARED_PAIRS)).to_list()
            for ids in (left_ids, right_ids)
        )
        distances[first : first + len(left)] = cpdist(
            left, right, scorer=Levenshtein.distance, dtype=np.int32, workers=threads
        )
    return pl.Series("distance", distances)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """The positives of a terminology and the terms that they link."""

    positives: Positives
    index: TermIndex

    def pair_term_ids(self) -> Ids:
        """Return the terms that can be in a pair, in order of text: int32[n_terms]."""
        if self.index.pool is not None:
            return np.unique(np.concatenate([self.index.pool, *self.index.translations.values()]))
        is_paired = np.zeros(self.positives.terms.height, np.bool_)
        for side in ("term1_id", "term2_id"):
            is_paired[self.positives.pairs[side].to_numpy()] = True
        return np.flatnonzero(is_paired).astype(np.int32)

    def pair_terms(self) -> list[str]:
        """Return the terms that can be in a pair, in order of text."""
        return self.positives.terms["term"].gather(self.pair_term_ids()).to_list()

    def without_vectors(self) -> tuple[Skipped, ...]:
        """Return the numbers of terms and of first terms without a vector."""
        if self.index.embedding is None:
            return ()
        every, firsts = self.pair_term_ids(), self.positives.pairs["term1_id"].unique().to_numpy()
        ids_of = {
            "term has no vector, so it is not a candidate for embedding negatives": every,
            "first term has no vector, so it gets no embedding negatives": firsts,
        }
        rows = self.index.embedding.rows
        counts = {reason: int(np.count_nonzero(rows[ids] < 0)) for reason, ids in ids_of.items()}
        return tuple(Skipped(reason=reason, n_rows=n) for reason, n in counts.items())

    def terms(self) -> pl.DataFrame:
        """Return the rows of ``TERM``."""
        terms = self.positives.terms.with_columns(pl.Series("component", self.index.components))
        pairs, node = self.positives.pairs, terms["node_id"].to_numpy()
        is_easy = (pairs["distance"] <= EASY_DISTANCE).to_numpy()
        ends = [node[pairs[side].to_numpy()] for side in ("term1_id", "term2_id")]
        of_node = np.zeros(int(node.max(initial=-1)) + 1, np.int8)
        for rank, chosen in enumerate((slice(None), is_easy), start=1):
            for end in ends:
                of_node[end[chosen]] = rank
        paired = self.pair_term_ids()
        names = pl.Series("difficulty", [None, "hard", "easy"])
        difficulty = names.gather(of_node[node[paired]])
        return terms[paired].with_columns(difficulty).select(*TERM.dtypes)


def index_terms(positives: Positives, store: Store, options: SearchOptions) -> TermIndex:
    """Return all terms as arrays, with the connected components of the positives.

    Terms that people judged to mean the same are linked too. The tables term_component (term_id,
    component_id) and pool (term_id) remain in the store.
    """
    terms, pairs = positives.terms, positives.pairs
    node = terms["node_id"].to_numpy()
    same = positives.corrected.filter("same")
    ends = [
        np.concatenate([node[pairs[of_pairs].to_numpy()], same[of_same].to_numpy()])
        for of_pairs, of_same in (("term1_id", "node1_id"), ("term2_id", "node2_id"))
    ]
    judged = [same[of_same].to_numpy() for of_same in ("node1_id", "node2_id")]
    n_nodes, short = int(node.max(initial=-1)) + 1, "two_steps" in options.published_rules
    component = components(n_nodes, *ends)[node]
    component_ids = pl.Series("component_id", component, dtype=pl.Int32)
    store.put("term_component", terms.select("term_id", component_ids))
    usable = pairs if options.pool == "terminology" else pairs.clear()
    store.put("positive", usable.select("term1_id", "term2_id", "language2"))
    store.run("builds/terms/pool")
    store.drop("positive")
    rows = store.table("pool").sort("term_id").partition_by("language_number", as_dict=True)
    pools = {number: part["term_id"].to_numpy() for (number,), part in rows.items()}
    shared = pools.pop(None, np.empty(0, np.int32))
    return TermIndex(
        lower=terms["lower_term"],
        hashes=content_hashes(terms["term"]),
        components=component,
        groups=components(n_nodes, *judged)[node] if short else component,
        names=store.table("name")["term_id"].unique().sort().to_numpy(),
        pool=shared if options.pool == "terminology" else None,
        translations=pools,
    )


def reload(build: Build, store: Store, threads: int, *, in_first_language: bool = False) -> Derived:
    """Derive the positives and terms of a build again, or only those in its first language."""
    options, rf2_rules = _view_terminology(build, store)
    if in_first_language:
        options = replace(options, language=options.languages[0])
    positives = derive_positives(store, options, rf2_rules=rf2_rules, threads=threads)
    return Derived(positives=positives, index=index_terms(positives, store, options))


def reload_names(build: Build, store: Store) -> pl.DataFrame:
    """Derive all terms of a build again, as ``Positives.terms``, with the tables in the store."""
    options, rf2_rules = _view_terminology(build, store)
    return derive_names(store, options, rf2_rules=rf2_rules)


def linked_terms(build: Build) -> pl.DataFrame:
    """Return the terms that a build draws negatives from, and which of them are linked.

    These are the terms of all positives, or of the whole terminology with ``pool=terminology``. Of
    terms that differ only in case, the first in order of text is used.

    Returns:
        A row per term in order of text: term, component (equal for terms that positives link),
        difficulty (of the nearest positive, null if there is none), n_words,
        is_linked (whether another term has the same component).
    """
    return (
        build.terms()
        .unique("lower_term", keep="first", maintain_order=True)
        .select(
            "term",
            "component",
            "difficulty",
            pl.col("term").map_elements(lambda term: len(term.split()), pl.Int32).alias("n_words"),
            (pl.len().over("component") > 1).alias("is_linked"),
        )
    )


def node_components(build: Build, store: Store, threads: int) -> pl.DataFrame:
    """Return the terms that positives link: node_id and component.

    The tables of ``reload_names`` remain in the store. Corrections can link terms that are in no
    pair, so a build with corrections is derived again.
    """
    if build.options.loaded_corrections:
        derived = reload(build, store, threads)
        component = pl.Series("component", derived.index.components)
        terms = derived.positives.terms.with_columns(component)
    else:
        terms = reload_names(build, store).join(build.terms(), on="term")
    return terms.select("node_id", "component").unique("node_id")


def relations_in(store: Store, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the closest relation of the concepts of two names, see ``relation.sql``.

    Args:
        store: store with the tables of ``derive_names``.
        pairs: pair_id, lower1 and lower2, names in lower case.

    Returns:
        pair_id and relation, of pairs whose names are known; no rows without a hierarchy.
    """
    if not store.table("is_a").height:
        return pl.DataFrame(schema={"pair_id": pairs.schema["pair_id"], "relation": pl.String})
    with store.frame_as("unlike", pairs):
        return store.frame("builds/pairs/relation")


def _view_terminology(build: Build, store: Store) -> tuple[SearchOptions, bool]:
    """Add the canonical tables of a build to the store; return its options and ``rf2_rules``."""
    store.view_files(build.folder, {name: table.files for name, table in CANONICAL_TABLES.items()})
    return build.options, bool(build.manifest.source["rf2_rules"])
