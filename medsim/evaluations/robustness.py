"""Robustness: how well embeddings find concepts by names with typing errors and other noise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice, permutations
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
import polars as pl

from medsim.builds.positives import reload_names
from medsim.core.data import toml_of
from medsim.core.store import Store
from medsim.core.terms import content_hashes, lowered, lowered_column
from medsim.embeddings.embedded_terms import EmbeddedTerms, term_rows
from medsim.embeddings.metrics.averages import COSINES
from medsim.evaluations.options import EvaluateOptions, Noise
from medsim.evaluations.output import NOISY, ROBUSTNESS, TableRow
from medsim.evaluations.sets import FEW
from medsim.evaluations.statistic import BASELINE, STATISTICS
from medsim.kernels.packing import tie_hashes
from medsim.neighbours.difference import PLURALS, DifferenceClassifier, without_accents
from medsim.neighbours.pool import Pool
from medsim.neighbours.rankers import names_by_cosine, names_by_distance, names_by_tfidf
from medsim.neighbours.spelling import american
from medsim.statistics.estimates import interval_of
from medsim.statistics.ranks import NOT_FOUND, RankSample

if TYPE_CHECKING:
    from medsim.builds.output import Build
    from medsim.core.progress import Progress
    from medsim.evaluations.run import EvaluationRun

MAX_ITEMS = 1_000
"""The most altered names of a kind and a number of errors."""

_TRIED = 4 * MAX_ITEMS
_MAX_RANK = 5
_TYPING_ERRORS = get_args(Noise)[:4]
_BASELINES = {(BASELINE, "levenshtein"): names_by_distance, (BASELINE, "tfidf"): names_by_tfidf}

_LISTED = toml_of(__package__, "noise.toml")
_KEYS = _LISTED["keys"] | {key.upper(): keys.upper() for key, keys in _LISTED["keys"].items()}
_SMALL, _ORDERING = (frozenset(_LISTED["words"][name].split()) for name in ("small", "ordering"))
_ENDINGS = [ends for pair in PLURALS if pair[1].endswith("s") for ends in permutations(pair)]
"""Endings of the singular and plural in either order, without media, which may be either."""

_WORD = re.compile(r"(?<!\w)[^\W\d_]{5,}(?!\w)")  # an error makes a shorter one another word
_ROMAN = re.compile(r"[ivxlcdm]+")
_PHRASE = re.compile(r"(?=.*\w)[\w\s'-]+")
_SHORT = re.compile(r"[A-Z]{2,8}")  # an abbreviation
_SHORTEST_STEM = 3


class NoisyItems(NamedTuple):
    """Altered names, and the names that they are looked up among.

    Attributes:
        items: rows of ``sql/evaluations/noise_item.sql``.
        names: rows of ``sql/evaluations/noise_name.sql``.
    """

    items: pl.DataFrame
    names: pl.DataFrame


def noisy_items(
    build: Build, linked: pl.DataFrame, options: EvaluateOptions, progress: Progress
) -> NoisyItems:
    """Return altered names that still stand for their concept alone, for the chosen kinds of noise.

    Names of a single concept, which has others in the pool of retrieval, are altered. An altered
    name is kept if the exact search finds that all names nearest to it by Levenshtein distance, of
    all names of the build, are names of its concept alone. The items depend only on the build, the
    kinds and the seed. Kinds with fewer than ``FEW`` items are left out, and reported.
    """
    with progress.stage(f"alter names of {build.folder.name}") as stage, Store(threads=1) as store:
        terms = reload_names(build, store)["lower_term"].unique().sort()
        store.put("linked", linked.select("term", lowered_column(linked["term"])))
        store.run("evaluations/noise_name")
        names = store.table("noise_name").sort("name_id", "concept_id")
        named = names.drop_nulls()
        of_concepts = named.group_by("concept_id", maintain_order=True).agg("term")
        noise = NoisyNames(terms.to_list(), of_concepts["term"].to_list(), options.seed)
        sources = named.filter(pl.col("n_concepts") == 1, pl.col("n_names") > 1)["term"]
        order = tie_hashes(np.uint64(options.seed), np.uint64(0), content_hashes(sources))
        rows = _altered(noise, sources.gather(np.argsort(order)), options.noise)
        schema = dict.fromkeys(("kind", "n_errors", "term", "noisy_term"), pl.String)
        altered = pl.DataFrame([*rows], schema | {"n_errors": pl.Int32}, orient="row")
        altered = altered.with_columns(lower_noisy=lowered_column(altered["noisy_term"]))
        pool = Pool(terms, match_case=True, threads=options.n_threads)
        store.put("altered", altered.with_row_index("place"))
        store.put("nearest", pool.nearest(altered["lower_noisy"].unique(), ties="all"))
        items = store.frame("evaluations/noise_item", max_items=MAX_ITEMS)
        enough = items.filter(pl.len().over("kind", "n_errors") >= FEW)
        stage.note(f"{enough.height:,} altered names")
    if rare := sorted({*options.noise} - {*enough["kind"]}):
        progress.warn(f"fewer than {FEW} altered names: {', '.join(rare)}; left out")
    return NoisyItems(enough, names)


def _altered(
    noise: NoisyNames, names: pl.Series, kinds: Sequence[str]
) -> Iterator[tuple[str, int | None, str, str]]:
    """Yield kind, number of typing errors, name and altered name."""
    for kind in dict.fromkeys(kinds):
        for n_errors in (1, 2) if kind in _TYPING_ERRORS else (None,):
            pairs = ((name, noise.altered(name, kind, n_errors)) for name in names)
            rows = ((kind, n_errors, name, other) for name, other in pairs if other is not None)
            yield from islice(rows, _TRIED)


def noise_paths(name: str, embedding: str, metric: str, noisy: NoisyItems) -> dict[str, str]:
    """Return the path of the ranks of each kind of noise."""
    kinds = noisy.items["kind"].unique(maintain_order=True)
    return {kind: NOISY.path(name, embedding, metric, kind) for kind in kinds}


def write_ranks(
    run: EvaluationRun, input_name: str, noisy: NoisyItems, name: str, embedded: EmbeddedTerms
) -> None:
    """Write the ranks at which an embedding finds the concepts of altered names, if missing.

    The same is done for the baselines, which ignore case.
    """
    names = noisy.names.unique("name_id", keep="first", maintain_order=True)
    n_names = noisy.names.drop_nulls("concept_id")["n_names"].to_numpy()
    depth = _MAX_RANK + 2 + int(n_names.max(initial=0))  # ranks are exact, whatever names tie
    for model, metric in (*_BASELINES, (name, COSINES[type(embedded.embedded)])):
        paths = noise_paths(input_name, model, metric, noisy)
        if run.is_complete(*paths.values()):
            continue
        texts = ("lower_noisy", "lower_term") if model == BASELINE else ("noisy_term", "term")
        queries = pl.concat([noisy.items[text].alias("query") for text in texts]).unique().sort()
        with run.progress.stage(f"look up altered names in {model} {metric}"):
            if model == BASELINE:
                find = _BASELINES[model, metric]
                found = find(names["lower_term"], queries, depth, run.options.n_threads)
            else:
                rows = term_rows(embedded, names["term"]), term_rows(embedded, queries)
                found = names_by_cosine(embedded, *rows, depth, run.options.n_threads)
            items = noisy.items.with_columns(noisy_query=texts[0], plain_query=texts[1])
            with Store(threads=1) as store:
                store.put("item", items.with_row_index("item_id"))
                store.put("noise_name", noisy.names)
                store.put("asked", queries.to_frame().with_row_index("query_id"))
                store.put("found", found)
                ranks = store.frame("evaluations/noise_rank", max_rank=_MAX_RANK)
            for kind, path in paths.items():
                run.write(path, ranks.filter(kind=kind).drop("kind"))


def robustness_tables(run: EvaluationRun, name: str) -> dict[str, pl.DataFrame]:
    """Return the accuracy on an input's altered names, by table."""
    rows: list[TableRow] = []
    for path in sorted(run.output.outputs):
        if not path.startswith(f"noise/input={name}/"):
            continue
        where = dict(part.split("=", 1) for part in path.split("/")[1:-1])
        signature = run.signature(name, where["embedding"], where["metric"])
        items = run.output.load(path)
        for (n_errors,), group in items.group_by("n_errors", maintain_order=True):
            clusters = group["concept_id"].rank("dense").cast(pl.Int64).to_numpy()
            ranks = group.select("rank", "rank_unaltered").fill_null(NOT_FOUND).cast(pl.Int64)
            altered, unaltered = (RankSample(ranks=r.to_numpy(), clusters=clusters) for r in ranks)
            rows += (
                where
                | {"n_errors": n_errors, "statistic": statistic}
                | interval_of(STATISTICS[statistic].compute(altered))
                | {"unaltered": STATISTICS[statistic].compute(unaltered).value}
                | {"n_items": group.height, "signature": f"{signature}, noise {where['kind']}"}
                for statistic in ("accuracy_at_1", "accuracy_at_5")
            )
    return {ROBUSTNESS.files: pl.DataFrame(rows, ROBUSTNESS.dtypes, orient="row")}


class NoisyNames:
    """Alters names of a terminology, whose words decide what is an error and what is a word.

    Numbers, Roman numerals, abbreviations and words of fewer than five letters stay as they are.

    Args:
        names: all names of the terminology in lower case.
        concepts: the names of each concept, which have the abbreviations.
        seed: random seed of typing errors.
    """

    def __init__(self, names: Sequence[str], concepts: Iterable[Sequence[str]], seed: int) -> None:
        self._seed, self._classifier = seed, DifferenceClassifier(names)
        self._counts = Counter(chain.from_iterable(map(_WORD.findall, names)))
        spelled = ((word, american(word, self._counts)) for word in self._counts)
        pairs = (pair for pair in spelled if len({*pair}) > 1)
        respelled = dict(chain.from_iterable(map(permutations, pairs)))
        self._makers: dict[str, Callable[[str], str | None]] = {
            "word_order": _reordered,
            "spelling": lambda name: _replaced(name, _words_of(name), _cased(respelled.get)),
            "plural": lambda name: _replaced(
                name, reversed([*_words_of(name)]), _cased(self._other_number), 1
            ),
            "abbreviation": dict(chain.from_iterable(map(_abbreviated, concepts))).get,
            "accent": _unaccented,
        }

    def altered(self, name: str, kind: str, n_errors: int | None = None) -> str | None:
        """Return a name with noise of a kind; None if the kind does not apply to it.

        ``n_errors`` is the number of typing errors, at most one in a word; None for other kinds.
        """
        make = self._makers.get(kind)
        changed = make(name) if make else self._mistyped(name, kind, n_errors or 1)
        return None if changed == name else changed

    def _mistyped(self, name: str, kind: str, n_errors: int) -> str | None:
        words = [*_words_of(name)]
        digest = blake2b(f"{self._seed} {kind} {n_errors} {name}".encode(), digest_size=16).digest()
        draw = np.random.default_rng(int.from_bytes(digest, "big"))

        def error_in(word: str) -> str | None:
            errors = draw.permutation([*_errors(word, kind)]).tolist()
            return next(
                (error for error in errors if self._is_error(*lowered([word, error]))), None
            )

        order = (words[at] for at in draw.permutation(len(words)))
        return _replaced(name, order, error_in, n_errors) if len(words) >= n_errors else None

    def _is_error(self, word: str, changed: str) -> bool:
        """Return whether a word is changed, but is neither another word nor another spelling."""
        is_word = changed == word or changed in self._counts
        return not is_word and self._classifier.between(word, changed).kind == "letter"

    def _other_number(self, word: str) -> str | None:
        """Return the plural of a singular, or the singular of a plural, that names have."""
        stems = ((word.removesuffix(one), other) for one, other in _ENDINGS if word.endswith(one))
        forms = (stem + other for stem, other in stems if len(stem) >= _SHORTEST_STEM)
        known = (form for form in forms if form in self._counts)
        return max(known, key=self._counts.__getitem__, default=None)


def _words_of(name: str) -> Iterator[re.Match[str]]:
    """Yield the words that can be altered."""
    for match in _WORD.finditer(name):
        is_symbol = match.group().isupper() and not name.isupper()
        if not is_symbol and not _ROMAN.fullmatch(lowered([match.group()])[0]):
            yield match


def _replaced(
    name: str,
    words: Iterable[re.Match[str]],
    other: Callable[[str], str | None],
    n_words: int | None = None,
) -> str | None:
    """Return a name with other forms for those words that have one, or the first ``n_words``."""
    forms = ((word.start(), form) for word in words if (form := other(word.group())))
    chosen = dict(islice(forms, n_words))
    if len(chosen) < (n_words or 1):
        return None
    return _WORD.sub(lambda word: chosen.get(word.start(), word.group()), name)


def _cased(other: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Return a function of words in any case: another form in that case."""
    return lambda word: (form := other(*lowered([word]))) and _in_case_of(word, form)


def _in_case_of(word: str, form: str) -> str:
    """Return a form in the case of a word: all in upper case, only the first letter, or none."""
    if word.isupper():
        return form.upper()
    return form[0].upper() + form[1:] if word[:1].isupper() else form


def _errors(word: str, kind: str) -> Iterator[str]:
    """Yield a word with one typing error, at each place after the first letter."""
    for at in range(1, len(word)):
        before, letter, after = word[:at], word[at], word[at + 1 :]
        if letter not in _KEYS:
            continue
        if kind == "wrong_key":
            yield from (f"{before}{key}{after}" for key in _KEYS[letter])
        elif kind == "swap" and after[:1] in _KEYS:
            yield f"{before}{after[0]}{letter}{after[1:]}"
        elif kind == "drop":
            yield before + after
        elif kind == "double" and letter not in (before[-1], after[:1]):
            yield f"{before}{letter}{letter}{after}"


def _reordered(name: str) -> str | None:
    """Return a name with the part after its comma, or else its last word, at the front."""
    first, comma, last = name.partition(", ")
    if not comma:
        first, _, last = name.rpartition(" ")
        if not _WORD.fullmatch(last) or re.search(r"\d", name):
            return None
    has_order = {*re.findall(r"\w+", lowered([name])[0])} & _ORDERING
    are_phrases = _PHRASE.fullmatch(first) and _PHRASE.fullmatch(last)
    return f"{last} {first}" if are_phrases and not has_order else None


def _unaccented(name: str) -> str:
    """Return a name without accents, in its case."""
    plain = ((letter, without_accents(*lowered([letter]))) for letter in name)
    return "".join(
        _in_case_of(letter, form) if letter.isalpha() and form.isascii() else letter
        for letter, form in plain
    )


def _abbreviated(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names of a concept with an abbreviation, which is one of its names or follows one.

    An abbreviation is the initials of all words, or of those that are not small words such as "of".
    """
    shorts = [name for name in names if _SHORT.fullmatch(name)]
    for name in names:
        whole, _, bracket = name.partition(" (")
        words = re.findall(r"[^\W\d_]+", whole)
        large = [word for word in words if word not in _SMALL]
        initials = {"".join(word[0] for word in part).upper() for part in (words, large)}
        known = (short for short in (*shorts, bracket.removesuffix(")")) if short in initials)
        if len(words) > 1 and (short := next(known, None)):
            yield name, short
