"""Python objects as embeddings: which are accepted, how they are identified, which are refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import medsim
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import EmbeddedTerms, embed_terms, identify, with_fingerprint
from medsim.embeddings.metrics import TermPoints, WordBags
from medsim.embeddings.options import (
    EmbeddingOptions,
    ObjectOptions,
    ServiceOptions,
    embedding_spec,
)

WORDS = ["eye", "foot", "hand"]
VECTORS = np.array([[1.5, -2.0], [0.25, 3.0], [4.0, 0.5]])
TERMS = ["eye", "foot", "left hand"]


def lengths(texts: Sequence[str]) -> np.ndarray:
    """Return two numbers that depend on each text alone: float64[n, 2]."""
    return np.array([[len(text), sum(map(ord, text)) % 97] for text in texts], float)


class Model:
    """A model with a method encode, which counts the texts that it gets."""

    def __init__(self, function: Callable[[Sequence[str]], Any] = lengths) -> None:
        self.texts: list[str] = []
        self._of = function

    def encode(self, texts: list[str]) -> Any:
        """Return the vectors of texts."""
        self.texts += texts
        return self._of(texts)


def embedded(given: Any, terms: Sequence[str] = TERMS, cache: Path | None = None) -> EmbeddedTerms:
    named = identify(embedding_spec(given, "x"), Progress())
    named = with_fingerprint(named, terms, Progress(), threads=1)
    return embed_terms(named, terms, Progress(), threads=1, cache=cache)


def fingerprint(given: Any, terms: Sequence[str] = TERMS, name: str = "x") -> str:
    named = identify(embedding_spec(given, name), Progress())
    return with_fingerprint(named, terms, Progress(), threads=1).fingerprint


TABLES: Mapping[str, Callable[[], Any]] = {
    "mapping": lambda: dict(zip(WORDS, VECTORS, strict=True)),
    "mapping of lists": lambda: dict(zip(WORDS, VECTORS.tolist(), strict=True)),
    "keyed vectors": lambda: SimpleNamespace(index_to_key=WORDS, vectors=VECTORS),
    "half precision": lambda: medsim.Embedding(VECTORS.astype(np.float16), words=tuple(WORDS)),
    "lists": lambda: medsim.Embedding(VECTORS.tolist(), words=iter(WORDS)),
    "words in a column": lambda: medsim.Embedding(VECTORS, words=pl.Series(WORDS)),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_all_kinds_of_objects_give_the_same_words_and_vectors(make: Callable[[], Any]) -> None:
    result = embedded(make())

    assert isinstance(result.embedded, WordBags)
    assert result.words is not None
    rows = dict(zip(result.words, result.embedded.vectors.tolist(), strict=True))
    assert rows == dict(zip(WORDS, VECTORS.tolist(), strict=True))
    assert result.covered.tolist() == [True, True, True]
    assert result.terms["n_unknown_words"].to_list() == [0, 0, 1]
    assert result.n_vocabulary == 3
    assert fingerprint(make()) == fingerprint(medsim.Embedding(VECTORS, words=WORDS))


@pytest.mark.parametrize(
    "given",
    [
        medsim.Embedding(VECTORS, terms=["EYE", "foot", "left hand"]),
        medsim.Embedding({"eye": [1.5, -2.0], "left hand": [4.0, 0.5]}, keys="terms"),
        medsim.Embedding([[1.5, -2.0], [4.0, 0.5]], terms=pl.Series(["eye", "left hand"])),
    ],
)
def test_terms_have_their_own_vectors(given: Any) -> None:
    result = embedded(given, ["eye", "hand", "left hand"])

    assert isinstance(result.embedded, TermPoints)
    assert result.embedded.vectors.tolist() == [[1.5, -2.0], [0, 0], [4.0, 0.5]]
    assert result.covered.tolist() == [True, False, True]


@pytest.mark.parametrize("options", [{}, {"normalize": True}, {"prefix": "query: "}])
@pytest.mark.parametrize("version", [None, "1"])
def test_functions_and_models_embed_terms(
    options: dict[str, Any], version: str | None, tmp_path: Path
) -> None:
    expected = lengths([options.get("prefix", "") + term for term in TERMS])
    if "normalize" in options:
        expected /= np.sqrt((expected**2).sum(axis=1, keepdims=True))

    for source in (lengths, Model(), Model(lambda texts: lengths(texts).tolist())):
        given = medsim.Embedding(source, version=version, **options)
        for _ in range(2):  # the second time from the cache, if there is one
            result = embedded(given, cache=tmp_path)
            assert isinstance(result.embedded, TermPoints)
            assert np.allclose(result.embedded.vectors, expected, rtol=1e-6)
            assert result.covered.all()


class Tensor:
    """A stand-in for a tensor of PyTorch, which NumPy does not accept."""

    def __init__(self, values: np.ndarray, *, is_free: bool = False) -> None:
        self._values, self._is_free = values, is_free

    def detach(self) -> Tensor:
        """Return the tensor without its gradients."""
        return Tensor(self._values, is_free=True)

    def cpu(self) -> Tensor:
        """Return the tensor in the memory of the processor."""
        return self

    def float(self) -> Tensor:
        """Return the tensor in single precision."""
        return Tensor(self._values.astype(np.float32), is_free=self._is_free)

    def is_complex(self) -> bool:
        """Return whether numbers are complex."""
        return self._values.dtype.kind == "c"

    def numpy(self) -> np.ndarray:
        """Return the numbers, of a tensor without gradients."""
        assert self._is_free
        return self._values

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError


def test_tensors_sparse_matrices_and_a_reused_array_are_accepted() -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    kept = np.zeros((10, 2), np.float32)

    def reused(texts: Sequence[str]) -> np.ndarray:
        kept[: len(texts)] = lengths(texts)
        return kept[: len(texts)]

    for function in (
        reused,
        lambda texts: Tensor(lengths(texts)),
        lambda texts: [Tensor(row) for row in lengths(texts)],
        lambda texts: sparse.csr_matrix(lengths(texts)),
        lambda texts: pl.DataFrame(lengths(texts)),
    ):
        result = embedded(function)
        assert isinstance(result.embedded, TermPoints)
        assert np.array_equal(result.embedded.vectors, lengths(TERMS))


def test_an_object_without_a_version_is_identified_by_vectors_and_not_cached(
    tmp_path: Path,
) -> None:
    expected = hashlib.sha256(b'["terms", 2]')
    expected.update(json.dumps(TERMS).encode() + lengths(TERMS).astype("<f4").tobytes())

    assert fingerprint(lengths) == fingerprint(Model()) == expected.hexdigest()
    assert fingerprint(lengths, TERMS[:2]) != fingerprint(lengths)
    assert fingerprint(lambda texts: 2 * lengths(texts)) != fingerprint(lengths)
    embedded(lengths, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_version_identifies_a_model_in_the_cache(tmp_path: Path) -> None:
    model = Model()
    given = medsim.Embedding(model, name="mine", version="1")
    assert fingerprint(given) == fingerprint(given, TERMS[:1], "other name")
    assert fingerprint(given) != fingerprint(medsim.Embedding(model, name="mine", version="2"))
    assert fingerprint(given) != fingerprint(medsim.Embedding(model, name="its", version="1"))

    embedded(given, cache=tmp_path)
    assert set(model.texts) == set(TERMS)
    model.texts.clear()
    embedded(given, [*TERMS, "toe"], cache=tmp_path)
    n_asked = sum(text == "eye" for text in model.texts)
    assert model.texts.count("toe") <= 3
    assert n_asked <= 3  # to check whether it is the same, never to embed it again


def test_another_model_with_a_cached_version_is_refused_and_not_cached(
    tmp_path: Path,
) -> None:
    embedded(medsim.Embedding(lengths, version="1"), cache=tmp_path)
    before = sorted(tmp_path.rglob("*.vectors"))
    changed = medsim.Embedding(lambda texts: lengths(texts) + 1, version="1")

    with pytest.raises(InputError, match=r"those in the cache, .* a version other than '1'"):
        embedded(changed, ["knee", "toe"], cache=tmp_path)

    assert sorted(tmp_path.rglob("*.vectors")) == before


def varied(texts: Sequence[str], seed: list[int] = [0]) -> np.ndarray:  # noqa: B006 — it changes
    seed[0] += 1
    return lengths(texts) + seed[0]


def wider(texts: Sequence[str]) -> np.ndarray:
    return np.ones((len(texts), 3 if len(texts) > 2 else 4))


class Damaged(dict[str, Any]):
    """A mapping whose file was removed."""

    def values(self) -> Any:
        """Fail."""
        raise OSError(5, "disk gone")


FAULTS: Mapping[str, tuple[Any, str]] = {
    "texts": (lambda texts: [f"{text}!" for text in texts], "values of type text, not numbers"),
    "not finite": (lambda texts: np.full((len(texts), 2), np.nan), "vector of 'eye' is not finite"),
    "too large": (lambda texts: np.full((len(texts), 2), 1e300), "not finite as float32"),
    "too few rows": (
        lambda _: [[1, 2]],
        r"shape \(1, 2\) for 3 texts, 'eye' the first; expected \(3,",
    ),
    "ragged": (lambda texts: [[1]] + [[1, 2]] * (len(texts) - 1), "cannot be read as an array"),
    "random": (varied, "a different vector for 'eye' in another batch"),
    "of its company": (lambda texts: lengths(texts) - lengths(texts).mean(axis=0), "another batch"),
    "wider": (wider, r"shape \(2, 4\) for 2 texts, .*; expected \(2, 3\)"),
    "objects": (lambda texts: lengths(texts).astype(object), "values of type object"),
    "complex": (lambda texts: lengths(texts).astype(complex), "values of type complex128"),
    "failing": (
        lambda texts: [1 / 0] * len(texts),
        "failed on 3 texts, 'eye' the first: division",
    ),
    "nothing": (lambda _: None, "values of type object, not numbers"),
    "flat": (lambda texts: np.ones(len(texts)), r"array of shape \(3,\); expected a row"),
    "no numbers": (lambda texts: np.ones((len(texts), 0)), "vectors of 0 numbers"),
    "ragged mapping": ({"eye": [1, 2], "foot": [1]}, "cannot be read as an array of numbers"),
    "empty mapping": ({}, "has no words"),
    "mapping of texts": ({"eye": ["a"]}, "values of type text"),
    "column of lists": (
        medsim.Embedding(pl.Series([[1.5], [0.5]]), words=["eye", "foot"]),
        "values of type object, not numbers",
    ),
    "mapping of numbers": ({1: [1.0]}, "has 1 among its words, which is not a text"),
    "mapping of terms": ({"left hand": [1.0]}, r"the key 'left hand'; are .* keys='terms'"),
    "failing mapping": (Damaged(eye=[1.0]), r"words or terms and their vectors \(disk gone\)"),
    "word twice": (
        medsim.Embedding([[1.0], [2.0]], words=["eye", "eye"]),
        "'eye' is in row 1 and again in row 2",
    ),
    "fewer words": (medsim.Embedding(VECTORS, words=["eye"]), "has 1 words for 3 rows"),
}


@pytest.mark.parametrize(("given", "says"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_object_is_refused_in_one_line_and_not_cached(
    given: Any, says: str, tmp_path: Path
) -> None:
    for each in (given, medsim.Embedding(given, version="1") if callable(given) else given):
        with pytest.raises(InputError, match=says) as caught:
            embedded(each, cache=tmp_path)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith("embedding 'x' (Python ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_the_columns_of_a_frame_are_words_and_vectors(library: str) -> None:
    frame = pytest.importorskip(library, reason=f"{library} is not installed").DataFrame
    given = frame({"word": WORDS, "vector": VECTORS.tolist()})

    columns = medsim.Embedding(given["vector"].to_list(), words=given["word"])
    assert fingerprint(columns) == fingerprint(medsim.Embedding(VECTORS, words=WORDS))


@pytest.mark.parametrize("given", [VECTORS, 3, None, ["a"], Model, b"path", np.float64(1)])
def test_an_error_for_another_object_lists_the_accepted_kinds(given: Any) -> None:
    for call in (
        lambda: medsim.evaluate("rated.csv", {"x": given}, "out"),
        lambda: medsim.evaluate_wic("data", "out", models={"x": given}),
        lambda: medsim.Embedding(given),
    ):
        with pytest.raises(OptionError) as caught:
            call()
        text = str(caught.value)
        assert "\n" not in text
        for accepted in ("encode", "mappings", "KeyedVectors", "words=[...]"):
            assert accepted in text


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: medsim.Embedding(VECTORS, words=WORDS, terms=WORDS), "terms=, not both"),
        (lambda: medsim.Embedding(VECTORS, words="eye"), "words= must be a list .* 'eye'"),
        (lambda: medsim.Embedding(VECTORS, terms=3), "terms= must be a list .* not 3"),
        (lambda: medsim.Embedding(Model(), words=["a"]), "rows of an array, not of a .*Model"),
        (lambda: medsim.Embedding(Model(), poling="cls"), "unknown option of medsim.Embedding"),
        (lambda: medsim.Embedding(Model(), name="a/b"), "embedding 'a/b': a name has at most"),
        (lambda: medsim.Embedding(Model(), version=1), "must be a text such as '1.0', not 1"),
        (lambda: embedding_spec(Model(), "a,b"), "embedding 'a,b': a name has at most"),
        (lambda: embedded(medsim.Embedding(Model(), normalize="si")), "unknown normalize 'si'"),
        (lambda: embedded(medsim.Embedding(Model(), case="keep")), "case=keep does not fit"),
        (
            lambda: embedded(medsim.Embedding(VECTORS, words=WORDS, prefix="a")),
            "prefix=a does not fit",
        ),
        (
            lambda: embedded(medsim.Embedding(Model(), input="quoted")),
            "unknown option of an embedding 'input'",
        ),
    ],
)
def test_options_that_do_not_fit_an_object_are_named(make: Callable[[], object], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        make()


def test_options_of_objects_are_those_of_files_as_far_as_they_fit() -> None:
    of_files = {"format", "vocabulary", "pooling", "device"}
    of_services = {*ServiceOptions.__dataclass_fields__, "dimensions", "batch"}
    known = set(EmbeddingOptions.__dataclass_fields__) - of_files - of_services

    assert set(ObjectOptions.__annotations__) == {*known, "input"}


def test_the_repr_of_an_object_has_no_vectors() -> None:
    given = medsim.Embedding(VECTORS, words=WORDS, name="mine", case="keep")

    assert repr(given) == "medsim.Embedding(Python object numpy.ndarray, name='mine', case='keep')"
