"""Describes benchmarks of words in context by the tables and figures of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from medsim.core.config import checked_threads
from medsim.core.data import toml_of
from medsim.core.errors import OptionError
from medsim.core.options import public
from medsim.core.store import Store
from medsim.core.terms import lowered, lowered_column
from medsim.wic import GROUPS, SIMILARITY
from medsim.wic.options import WicStatsOptions
from medsim.wic.output import NAME, RELATED, Benchmark, BenchmarkFiles, read_benchmark
from medsim.wic.rules import QUOTAS, term_pair

REPEATS = (1, 2, 5, *range(10, 201, 10))
"""The numbers of repeats that figure 3 shows."""

_ALL = "all"
_SIDES = (1, 2)
_MAX_TOKENS = 4
_MAX_TYPES = 10  # in a figure
_MAX_NAMED = 3  # kinds of mentions

_TYPES_OF = toml_of(__package__, "semantic_types.toml")
GROUP_OF = {
    f"T{number}": group for group, numbers in _TYPES_OF.items() for number in numbers.split()
}
"""The semantic group of each type of UMLS by its identifier, such as T047.

McCray, Burgun and Bodenreider, MEDINFO 2001; types of earlier versions of the network are included.
"""


@public(WicStatsOptions)
def describe_wic(options: WicStatsOptions) -> pl.DataFrame:
    """Return a table or the numbers of a figure of Rouhizadeh et al. (2024) for a benchmark.

    A folder of ``medsim wic build`` has all of them. Published files have only instances, so
    columns on concepts are left out.

    Raises:
        InputError: a file cannot be read or has another layout.
        OptionError: the table needs data that the benchmark lacks.
    """
    benchmark = read_benchmark(options)
    build = benchmark.build
    with benchmark.reading():
        if build is not None:  # instances with their concepts
            instances = build.instances()
            splits = {split: instances.filter(split=split) for split in benchmark.splits}
            benchmark = replace(benchmark, splits=splits)
        if options.table in _TABLES:
            return _TABLES[options.table](benchmark)
        if build is None:
            raise OptionError(f"table {options.table} needs a folder of medsim wic build")
        if options.table == "figure-3":
            return curve(build, checked_threads(options.threads))
        return corpora(build) if options.table == "1" else types(build)


def _with_all(files: BenchmarkFiles) -> dict[str, pl.DataFrame]:
    """Return the instances of each split, and of all if there are several."""
    whole = {_ALL: pl.concat(files.splits.values())} if len(files.splits) > 1 else {}
    return {**files.splits, **whole}


def corpora(benchmark: Benchmark) -> pl.DataFrame:
    """Return table 1: a row per corpus.

    Ontologies and semantic types are those of its mentions, as the corpus names them. More than
    three are shown as a number. The paper counts sentences with a mention, whose concept may be
    unknown; mentions that name several concepts do not count.
    """
    n_used = dict(benchmark.mentions().group_by("corpus").len().iter_rows())
    corpora: list[dict[str, Any]] = benchmark.manifest.corpora
    rows = [
        {
            "corpus": corpus["name"],
            "ontologies": _names_or_count(corpus["vocabularies"]),
            "semantic types": _names_or_count(corpus["kinds"]),
            "documents": corpus["n_documents"],
            "sentences": corpus["n_sentences"],
            "sentences with a mention": corpus.get("n_annotated"),
            "sentences with a concept": n_used.get(corpus["name"], 0),
            "mentions": corpus["n_mentions"],
        }
        for corpus in corpora
    ]
    return pl.DataFrame(rows).sort("corpus")


def splits(files: BenchmarkFiles) -> pl.DataFrame:
    """Return table 3: a row per split, and one for all.

    Means are over both sentences of all instances; words are counted as by BERT's tokenizer, see
    ``n_words``. Pairs of terms count once in either order, ignoring case.
    """
    types = files.build.semantic_types() if files.build else None
    return pl.DataFrame([_split(name, frame, types) for name, frame in _with_all(files).items()])


def _split(name: str, instances: pl.DataFrame, types: pl.DataFrame | None) -> dict[str, object]:
    counts = Counter(instances["cat"])
    sentences, pairs = _sides(instances, "sentence"), instances[["term1", "term2"]].rows()
    row: dict[str, object] = {
        "split": name,
        **{group.replace("_", " "): counts[group] for group in GROUPS},
        _ALL: instances.height,
        "words per sentence": n_words(sentences).mean(),
        "characters per sentence": sentences.str.len_chars().mean(),
        "unique sentences": sentences.n_unique(),
        "unique term pairs": len({term_pair(*pair) for pair in pairs}),
    }
    if "concept1" in instances.columns:
        concepts = _sides(instances, "concept").unique()
        row["unique concepts"] = len(concepts)
        if types is not None:
            type_ids = types.filter(pl.col("concept_id").is_in(concepts.implode()))["type_id"]
            row["unique semantic types"] = type_ids.n_unique()
            row["unique semantic groups"] = _groups(type_ids).n_unique()
    return row


def tokens(files: BenchmarkFiles) -> pl.DataFrame:
    """Return table 4: target terms by their number of tokens, split at white space."""
    table: dict[str, object] = {"tokens per term": ["1", "2", "3", "4+", _ALL]}
    for name, instances in _with_all(files).items():
        n_tokens = Counter(
            min(len(term.split()), _MAX_TOKENS) for term in _sides(instances, "term").to_list()
        )
        numbers = [n_tokens[number] for number in range(1, _MAX_TOKENS + 1)]
        table |= _with_shares(name, [*numbers, 2 * instances.height], [2 * instances.height] * 5)
    return pl.DataFrame(table)


def seen_terms(files: BenchmarkFiles) -> pl.DataFrame:
    """Return table 5: instances of test by group, seen if train has one of both terms.

    Case does not count. Instances with both terms in train also count as seen.
    """
    if lacking := [name for name in ("train", "test") if name not in files.splits]:
        raise OptionError(f"table 5 needs {lacking[0]}.json, which {files.name} lacks")
    in_train = set(lowered(_sides(files.splits["train"], "term").to_list()))
    test = files.splits["test"]
    pairs = zip(*(lowered(test[f"term{side}"].to_list()) for side in _SIDES), strict=True)
    n_seen = pl.Series([sum(term in in_train for term in pair) for pair in pairs], dtype=pl.Int8)
    groups = [test["cat"] == group for group in GROUPS]
    groups.append(pl.repeat(True, test.height, dtype=pl.Boolean, eager=True))
    totals = [int(group.sum()) for group in groups]
    table: dict[str, object] = {"group": [*(group.replace("_", " ") for group in GROUPS), _ALL]}
    kinds = {"seen": n_seen > 0, "unseen": n_seen == 0, "both seen": n_seen == len(_SIDES)}
    for name, flags in kinds.items():
        table |= _with_shares(name, [int((group & flags).sum()) for group in groups], totals)
    return pl.DataFrame({**table, **_with_shares(_ALL, totals, totals)})


def types(benchmark: Benchmark) -> pl.DataFrame:
    """Return figure 4: the ten most frequent semantic types and groups of target terms.

    Concepts may have several types, so shares of target terms and of distinct concepts may sum to
    more than 100%.
    """
    if (known_types := benchmark.semantic_types()) is None:
        raise OptionError(
            f"{benchmark.folder.name} has no semantic types; build it with UMLS and its MRSTY.RRF"
        )
    terms = _sides(benchmark.instances(), "concept")
    of_terms = terms.value_counts().rename({"concept": "concept_id", "count": "n_terms"})
    groups = _groups(pl.col("type_id"))
    typed = of_terms.join(known_types, on="concept_id").with_columns(group=groups)
    frames = []
    for level, column in (("semantic type", "semantic_type"), ("semantic group", "group")):
        counted = (
            typed.unique(["concept_id", column])
            .group_by(pl.col(column).alias("name"))
            .agg(pl.col("n_terms").sum().alias("target terms"), pl.len().alias("concepts"))
            .sort("target terms", "name", descending=[True, False])
            .head(_MAX_TYPES)
        )
        frames.append(counted.select(pl.lit(level).alias("of"), pl.all()))
    return pl.concat(frames).select(
        *("of", "name", "target terms"),
        (pl.col("target terms") * 100 / terms.len()).alias("target terms %"),
        "concepts",
        (pl.col("concepts") * 100 / of_terms.height).alias("concepts %"),
    )


def _sides(instances: pl.DataFrame, column: str) -> pl.Series:
    """Return a column of the first sides, then of the second ones."""
    first, second = (instances[f"{column}{side}"].alias(column) for side in _SIDES)
    return pl.concat([first, second])


def _groups(types: pl.Expr | pl.Series) -> pl.Expr | pl.Series:
    return types.replace_strict(GROUP_OF, default="unknown", return_dtype=pl.String)


def _names_or_count(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= _MAX_NAMED else str(len(names))


def _with_shares(name: str, numbers: list[int], totals: list[int]) -> dict[str, list[object]]:
    """Return a column of numbers, and of their shares of totals in per cent."""
    pairs = zip(numbers, totals, strict=True)
    shares = [100 * number / total if total else None for number, total in pairs]
    return {name: list(numbers), f"{name} %": list(shares)}


def curve(benchmark: Benchmark, threads: int) -> pl.DataFrame:
    """Return figure 3: the size of train, its concepts and their semantic types.

    There is a row for each number of times that a sentence may occur in train and dev together.
    Each is the result of ``medsim wic build`` with that limit, from the mentions and relations in
    the folder; test is the same in all.
    """
    from medsim.wic.mentions import mention_hashes, term_forms  # noqa: PLC0415 — compiles kernels
    from medsim.wic.splits import Splitter, blocks_of  # noqa: PLC0415 — compiles kernels

    types, chosen = benchmark.semantic_types(), benchmark.mentions()
    options: Mapping[str, Any] = benchmark.manifest.options
    mentions = chosen.rename({"start": "start_at", "end": "end_at"}).with_columns(
        lowered_column(chosen["term"])
    )
    forms = term_forms(mentions["lower_term"].unique(), options["language"])
    names = benchmark.read(NAME.files).rename({"term": "lower_term"})
    with Store(threads=threads) as store:
        store.put("form_name", names.join(forms, on="lower_term").select("form_id", "concept_id"))
        store.put("related_concept", benchmark.read(RELATED.files))
        similarity = options.get("label_similarity", SIMILARITY)
        blocks = blocks_of(store, mentions, forms, similarity, threads=threads)
    splitter = Splitter(
        blocks=blocks,
        hashes=mention_hashes(mentions),
        seed=options["seed"],
        quotas=QUOTAS["test"],
        max_train=options.get("max_train"),
    )
    rows = []
    for repeats, train in zip(REPEATS, splitter.trains(REPEATS), strict=True):
        drawn = pl.concat([train["mention1"], train["mention2"]])
        concepts = mentions["concept_id"].gather(drawn).unique()
        row = {"repeats": repeats, "instances": len(train), "concepts": len(concepts)}
        if types is not None:
            is_there = pl.col("concept_id").is_in(concepts.implode())
            row["semantic types"] = types.filter(is_there)["type_id"].n_unique()
        rows.append(row)
    return pl.DataFrame(rows)


_TABLES = {"3": splits, "4": tokens, "5": seen_terms}
"""The tables that only need instances."""

_BETWEEN = r"\t\n\r\p{Z}\p{P}$+<=>^`|~"  # where BERT's tokenizer splits text
_HAN = r"\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{20000}-\x{2a6df}\x{2a700}-\x{2b73f}"
_HAN += r"\x{2b740}-\x{2b81f}\x{2b920}-\x{2ceaf}\x{f900}-\x{faff}\x{2f800}-\x{2fa1f}"
_OTHERS = rf"[^{_BETWEEN}{_HAN}]*"
_WORD = rf"[{_HAN}&&[\p{{L}}\p{{N}}]]|{_OTHERS}[[\p{{L}}\p{{N}}]&&[^{_HAN}]]{_OTHERS}"


def n_words(texts: pl.Series) -> pl.Series:
    """Return the number of words of each text in BERT's tokenizer, before word pieces.

    It splits at white space and punctuation, and each Chinese character is a word (Devlin et al.
    2018, the basic tokenizer). Tokens without letters and digits do not count.
    """
    return texts.str.count_matches(_WORD)
