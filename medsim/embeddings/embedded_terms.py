"""Opens the embedding that a user names, and embeds terms with it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
import polars as pl
from safetensors import safe_open

from medsim.core.errors import InputError, OptionError, counted, needing
from medsim.core.kinds import TERM_COLUMNS
from medsim.core.progress import Progress, Stage
from medsim.core.reading import reading
from medsim.core.terms import numbers_of
from medsim.embeddings import formats
from medsim.embeddings.formats.model_folder import CONFIG, MODULES, read_object
from medsim.embeddings.metrics import METRICS, Embedded, TermPoints, Workers
from medsim.embeddings.options import HUB, SERVICE, EmbeddingOptions, EmbeddingSpec
from medsim.embeddings.tokens import find_words, fitted, forms, phrases_of
from medsim.kernels.types import Flags, Ids, Singles

T = TypeVar("T", bound=np.ndarray[Any, Any])

_PLACE = re.compile(
    r"hf:(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>(?!.*\.\.)[^@\s]+))?",  # as in git
    re.ASCII,
)
_SETTINGS = ("*.json", "*.jsonl", "*.txt", "*.model")
_WEIGHTS = ("model.safetensors", "model-*-of-*.safetensors")  # names used by transformers
_OF_STEPS = "[0-9]_*/*.safetensors"  # names used by sentence-transformers
_ONNX = ("model.onnx", "onnx/model.onnx")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEmbedding:
    """An embedding to evaluate, with the fingerprint of its source.

    The fingerprint is empty if it needs vectors that do not exist yet; see ``with_fingerprint``.
    """

    spec: EmbeddingSpec
    source: formats.VectorSource
    fingerprint: str

    def provenance(self) -> dict[str, Any]:
        """Return the place, format, fingerprint and options of the embedding, for manifests.

        A file also has a size in bytes, and one in safetensors its number of weights. A source that
        is neither a file nor an address also has an identity. A vocabulary is part of the content.
        """
        options = self.spec.options
        optional = {
            "identity": self.source.identity,
            "vocabulary": None if options.vocabulary is None else str(options.vocabulary),
            "trained_on": options.trained_on,
        }
        return {
            "path": self.source.location,
            "format": self.source.format_name,
            "fingerprint": self.fingerprint,
            "options": options.deciding(),
            **self.source.sizes(),
            **{name: fact for name, fact in optional.items() if fact is not None},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTerms:
    """Terms embedded by an embedding.

    Attributes:
        embedded: the vectors that metrics compare.
        covered: whether each term has a vector.
        terms: ``TERM_COLUMNS``; words are not counted if the embedding takes whole terms.
        words: the word of each row of word vectors; None if the embedding takes whole terms.
        n_vocabulary: the number of its words or terms; None if it can embed any text.
        vocabulary: all its distinct words, in order of code points; None if it takes whole terms.
    """

    embedded: Embedded
    covered: Flags
    terms: pl.DataFrame
    words: pl.Series | None
    n_vocabulary: int | None
    vocabulary: pl.Series | None = None


def identify(spec: EmbeddingSpec, progress: Progress) -> NamedEmbedding:
    """Return an embedding with its source and the source's fingerprint."""
    with progress.stage(f"identify {spec.name}") as stage:
        source = open_source(spec)
        if str(spec.place).startswith(HUB) and "@" not in spec.place:
            progress.warn(
                f"{spec.name}: {spec.place} names no revision; to use the same model in every "
                f"run, name it as {source.location}"
            )
        digest = source.fingerprint()
        stage.note(f"{source.describes}, {digest[:12] or 'identified by the vectors it makes'}")
    return NamedEmbedding(spec=spec, source=source, fingerprint=digest)


def with_fingerprint(
    named: NamedEmbedding, terms: Sequence[str], progress: Progress, *, threads: int
) -> NamedEmbedding:
    """Return an embedding with its fingerprint.

    A function or a model without a version is identified by the vectors of the used terms; they are
    computed here, once, and kept in memory.

    Args:
        named: an embedding.
        terms: all terms that are used, distinct, in order of code points.
        progress: reports the stage.
        threads: the number of threads.
    """
    if named.fingerprint:
        return named
    from medsim.embeddings.objects import KnownVectors  # noqa: PLC0415 — Python's only

    model: Any = named.source
    with progress.stage(f"embed {len(terms):,} terms with {named.spec.name}") as stage:
        request = request_of(named, terms, stage, threads=threads, cache=None)
        source = KnownVectors(terms=terms, made=model.read(request), **vars(model))
        digest = source.fingerprint()
        stage.note(f"{digest[:12]}; its vectors are not kept, as it has no version")
    return replace(named, source=source, fingerprint=digest)


def request_of(
    named: NamedEmbedding, terms: Sequence[str], stage: Stage, *, threads: int, cache: Path | None
) -> formats.Request:
    """Return the request for the vectors of terms and, unless it embeds whole terms, of words."""
    options, has_words = named.spec.options, named.source.gives != formats.TERMS
    return formats.Request(
        terms=terms,
        words=forms(terms, options) if has_words else (),
        options=options,
        threads=threads,
        cache=cache,
        stage=stage,
        phrases=phrases_of(terms, options) if has_words else (),
    )


def embed_terms(
    named: NamedEmbedding,
    terms: Sequence[str],
    progress: Progress,
    *,
    threads: int,
    cache: Path | None,
    coverage: str = "any",
) -> EmbeddedTerms:
    """Return terms embedded by an embedding.

    ``coverage`` decides which terms count as covered if its options do not.
    """
    with progress.stage(f"embed {len(terms):,} terms with {named.spec.name}") as stage:
        request = request_of(named, terms, stage, threads=threads, cache=cache)
        vectors = read_vectors(named, request, progress)
        embedded: Embedded = TermPoints(vectors=vectors.vectors)
        words = n_words = n_unknown = vocabulary = None
        if isinstance(vectors, formats.WordVectors):
            embedded, covered, n_words = find_words(terms, vectors, named.spec.options, coverage)
            n_unknown = (n_words - np.diff(embedded.starts)).astype(np.int32)
            words = pl.Series("word", vectors.words, pl.String)
            # bytes that are not UTF-8 are written as escapes
            text = pl.Series("word", [vectors.vocabulary.decode("utf-8", "backslashreplace")])
            vocabulary = text.str.split("\n").explode().unique().sort()
            vocabulary = vocabulary.filter(vocabulary != "")
        else:
            covered = vectors.covered
        n_covered = int(np.count_nonzero(covered))
        stage.note(f"{n_covered:,} covered, {vectors.vectors.shape[1]} dimensions")
    columns = {"term": terms, "covered": covered, "n_words": n_words, "n_unknown_words": n_unknown}
    return EmbeddedTerms(
        embedded=embedded,
        covered=covered,
        terms=pl.DataFrame(columns, schema=TERM_COLUMNS),
        words=words,
        n_vocabulary=vectors.n_vocabulary,
        vocabulary=vocabulary,
    )


def embedded_by(
    specs: Iterable[EmbeddingSpec],
    terms: Sequence[str],
    progress: Progress,
    *,
    threads: int,
    cache: Path | None,
    coverage: str = "any",
) -> Iterator[tuple[NamedEmbedding, EmbeddedTerms]]:
    """Yield embeddings with their fingerprints, each with terms embedded by it.

    See ``with_fingerprint`` and ``embed_terms`` for the arguments.
    """
    for spec in specs:
        named = with_fingerprint(identify(spec, progress), terms, progress, threads=threads)
        embedded = embed_terms(
            named, terms, progress, threads=threads, cache=cache, coverage=coverage
        )
        yield named, embedded


def similarities_of(
    embedded: EmbeddedTerms, metric: str, first: Ids, second: Ids, workers: Workers
) -> Singles:
    """Return the similarity of each pair, float32[n_pairs]; NaN if a term is not covered.

    ``first`` and ``second`` are rows of the embedded terms: int32[n_pairs].
    """
    covered = embedded.covered[first] & embedded.covered[second]
    values = np.full(len(first), np.nan, np.float32)
    similarities = METRICS.get(metric).similarities(
        embedded.embedded, first[covered], second[covered], workers
    )
    values[covered] = check_finite(similarities, metric)
    return values


def term_rows(embedded: EmbeddedTerms, terms: pl.Series) -> Ids:
    """Return the positions of terms among those of an embedding: int32[n_terms]."""
    return numbers_of(terms, embedded.terms["term"]).to_numpy(writable=True)


def check_finite(similarities: T, metric: str) -> T:
    """Return similarities; raise InputError if one is not a finite number."""
    if not np.isfinite(similarities).all():
        raise InputError(
            f"under {metric} a similarity is not a finite number: the vectors' values are too large"
        )
    return similarities


def read_vectors(
    named: NamedEmbedding, request: formats.Request, progress: Progress
) -> formats.WordVectors | formats.TermVectors:
    """Return the vectors for a request; zero vectors count as missing, with a warning.

    A zero vector has no direction, so its cosine is undefined. Jaccard indices would be defined,
    but all metrics must compare the same pairs.
    """
    vectors = named.source.read(request)
    if isinstance(vectors, formats.WordVectors):
        options = fitted(request.options, vectors.vocabulary)
        if options is not request.options:  # the vocabulary is in upper case
            words = forms(request.terms, options).union(request.words)
            vectors = named.source.read(replace(request, words=words, options=options))
    kind = "word" if isinstance(vectors, formats.WordVectors) else "term"
    is_zero = ~np.asarray(vectors.vectors.any(axis=1))
    if isinstance(vectors, formats.TermVectors):
        is_zero &= vectors.covered
    if not is_zero.any():
        return vectors
    progress.warn(
        f"{named.spec.name} has {counted(int(np.count_nonzero(is_zero)), kind)} with a zero "
        f"vector; such {kind}s count as out of vocabulary"
    )
    if isinstance(vectors, formats.TermVectors):
        return replace(vectors, covered=vectors.covered & ~is_zero)
    return replace(
        vectors,
        words=[word for word, zero in zip(vectors.words, is_zero, strict=True) if not zero],
        vectors=vectors.vectors[~is_zero],
        in_vocabulary=vectors.in_vocabulary[~is_zero],
    )


@dataclass(frozen=True, kw_only=True)
class FileSource(formats.VectorSource):
    """A file or folder."""

    path: Path
    options: EmbeddingOptions
    format: formats.EmbeddingFormat

    def fingerprint(self) -> str:
        """Return a SHA-256 of the files that decide the vectors."""
        return formats.files_fingerprint(self.path, self.format, self.options)

    def sizes(self) -> dict[str, int]:
        """Return the size of these files in bytes, and the number of weights in safetensors."""
        files, shapes = self.format.checked_files(self.path, self.options), []
        for file in (file for file in files if file.suffix == ".safetensors"):
            with reading(file, "safetensors"), safe_open(file, "numpy") as weights:
                names = weights.offset_keys()
                shapes += [weights.get_slice(name).get_shape() for name in names]
        sizes = {"size": sum(file.stat().st_size for file in files)}
        return sizes | ({"n_parameters": sum(map(math.prod, shapes))} if shapes else {})

    def read(self, request: formats.Request) -> formats.WordVectors | formats.TermVectors:
        """Return the vectors for a request; see ``formats.LoadVectors``."""
        return self.format.read(self.path, request)


def open_source(spec: EmbeddingSpec) -> formats.VectorSource:
    """Return the source of an embedding's vectors; it is cheap, as no vector is read.

    A model of a hub is fetched, unless it is in the cache.

    Raises:
        InputError: the path does not exist, or is in no known format.
        OptionError: the options name an unknown format, or the text does not name a service.
    """
    if isinstance(spec.place, Path):
        return _file_source(spec.place, spec.options, str(spec.place))
    if not isinstance(spec.place, str):
        from medsim.embeddings.objects import object_source  # noqa: PLC0415 — of callers in Python

        return object_source(spec)
    if spec.place.startswith(SERVICE):
        from medsim.embeddings.services import service_source  # noqa: PLC0415 — brings asyncio

        return service_source(spec.place, spec.options)
    return _model_of_hub(spec.place, spec.options)


def _file_source(path: Path, options: EmbeddingOptions, location: str) -> FileSource:
    name, file_format = formats.find_format(path, options)
    return FileSource(
        location=location,
        format_name=name,
        describes=file_format.describes,
        gives=file_format.gives,
        path=path,
        options=options,
        format=file_format,
    )


def path_of(source: formats.VectorSource) -> Path:
    """Return the file or folder of a source; raise OptionError if it is not a file."""
    if not isinstance(source, FileSource):
        raise OptionError(f"{source.location} is {source.describes}, not a file or folder")
    return source.path


def _model_of_hub(place: str, options: EmbeddingOptions) -> FileSource:
    """Return a model of a hub after fetching the files that are not in the cache.

    Its location names the hash of its commit, such as "hf:NAME@HASH". Its format depends on the
    files on the hub, not on other files of the model in the cache. Without a network the model in
    the cache is used, if it is complete.

    Args:
        place: such as "hf:NAME@REVISION"; by default the newest revision of the branch main.
        options: may name the format to fetch if a model has several.

    Raises:
        InputError: the model does not exist or cannot be fetched.
        OptionError: the text is malformed, or huggingface_hub is not installed.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise OptionError(f"{place!r} is not hf:NAME@REVISION, such as hf:organisation/model@main")
    name, revision = match["name"], match["revision"]
    with needing("models on a hub need huggingface_hub", "hub"):
        import huggingface_hub  # noqa: F401, PLC0415 — an extra
    weights = () if options.format == "onnx" else (*_WEIGHTS, _OF_STEPS)
    folder = _fetch(place, name, revision, (*_SETTINGS, *weights))
    location = f"{HUB}{name}@{folder.name}"
    path, format_name = folder, options.format or _format_of(folder)
    if format_name == "onnx":
        _fetch(place, name, folder.name, [CONFIG, *(f"{file}*" for file in _ONNX)])
        models = [folder / file for file in _ONNX if (folder / file).is_file()]
        if not models:
            raise InputError(
                f"{location} has neither model.safetensors nor model.onnx nor onnx/model.onnx; "
                "fetch an ONNX file of another name yourself and give its path; if you trust a "
                f"pickle, convert it in Python: SentenceTransformer({name!r}).save(FOLDER)"
            )
        path = models[0]
    return _file_source(path, replace(options, format=format_name), location)


def _format_of(folder: Path) -> str:
    """Return the format of a model of a hub, from the fetched files."""
    if read_object(folder / CONFIG).get("model_type") == "model2vec":
        return "model2vec"
    weights = [file for pattern in _WEIGHTS for file in folder.glob(pattern)]
    if (folder / MODULES).exists() and (weights or any(folder.glob(_OF_STEPS))):
        return "sentence-transformers"
    return "transformers" if weights else "onnx"


def _fetch(place: str, name: str, revision: str | None, patterns: Sequence[str]) -> Path:
    """Return the folder of a model's commit, with the files that match a pattern."""
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 — slow to import

    from huggingface_hub import constants, snapshot_download  # noqa: PLC0415 — an extra

    from medsim.embeddings.services import is_loopback  # noqa: PLC0415 — brings asyncio

    hub = urlsplit(constants.ENDPOINT)
    is_proxied = not {hub.scheme, "all"}.isdisjoint(getproxies()) and not proxy_bypass(hub.netloc)
    if is_proxied and is_loopback(constants.ENDPOINT):
        raise OptionError(
            "the hub in HF_ENDPOINT is on this machine, but a proxy would get the requests and "
            f"your token; add {hub.hostname} to NO_PROXY"
        )
    hint = "check its name and terms of use, log in with `hf auth login`, or run it again"
    with reading(place, "a model on a hub", hint):
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(patterns)))
