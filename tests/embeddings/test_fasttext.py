"""fastText's binary models, compared with fastText itself."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures.embeddings import words_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from medsim.core.errors import InputError
from medsim.embeddings.formats import FORMATS

fasttext = pytest.importorskip("fasttext", reason="fastText has no wheel for this Python")

TEXT = "heart attack is an infarction of the naïve 心臓 non-small 12 Asthma é hearts\n" * 20
MODELS: dict[str, dict[str, Any]] = {
    "skipgram": {"model": "skipgram", "minn": 2, "maxn": 4},
    "cbow": {"model": "cbow", "minn": 3, "maxn": 6},
    "single characters": {"model": "skipgram", "minn": 1, "maxn": 1},
    "long ones only": {"model": "skipgram", "minn": 6, "maxn": 8},
    "no subwords": {"model": "skipgram", "minn": 0, "maxn": 0},
}
UNSEEN = ["heartattack", "x", "xy", "naïvité", "心臓病", "z" * 40, "\U0001d4b3é", "heart!s"]


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, Any]]:
    """Return a function that trains a tiny model once; it returns the file and fastText's model."""
    folder = tmp_path_factory.mktemp("fasttext")
    trained: dict[str, tuple[Path, Any]] = {}
    corpus = folder / "corpus.txt"
    corpus.write_text(TEXT, encoding="utf-8")

    def get(name: str) -> tuple[Path, Any]:
        if name not in trained:
            options = {"dim": 5, "bucket": 97, "minCount": 1, "epoch": 1, "thread": 1, "verbose": 0}
            model = fasttext.train_unsupervised(str(corpus), **options, **MODELS[name])
            path = folder / f"{name}.bin"
            model.save_model(str(path))
            trained[name] = path, model
        return trained[name]

    return get


@pytest.mark.parametrize("name", MODELS)
def test_words_of_the_dictionary_have_the_vectors_that_fasttext_gives(train, name: str) -> None:
    path, model = train(name)

    result = words_in("fasttext", path, [" ".join(model.get_words())])

    assert set(result.words) >= set(model.get_words()) - {"</s>"}
    assert result.n_vocabulary == len(model.get_words())
    for word, vector, seen in zip(result.words, result.vectors, result.in_vocabulary, strict=True):
        assert seen == (word in model.get_words())
        assert vector.tolist() == model.get_word_vector(word).tolist()


@pytest.mark.parametrize("name", MODELS)
def test_unseen_words_have_the_vectors_that_fasttext_gives(train, name: str) -> None:
    path, model = train(name)

    result = words_in("fasttext", path, UNSEEN, parts="never", case="keep")

    assert not result.in_vocabulary.any()
    for word, vector in zip(result.words, result.vectors, strict=True):
        assert vector.tolist() == model.get_word_vector(word).tolist()
    for word in set(UNSEEN) - set(result.words):
        assert not len(model.get_subwords(word)[0])
        assert not model.get_word_vector(word).any()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=5))
def test_any_text_has_the_vectors_that_fasttext_gives(train, terms: list[str]) -> None:
    path, model = train("skipgram")

    result = words_in("fasttext", path, set(terms))

    for word, vector in zip(result.words, result.vectors, strict=True):
        assert vector.tolist() == model.get_word_vector(word).tolist()


def test_an_unseen_word_that_is_too_short_for_n_grams_has_no_vector(train) -> None:
    path, _ = train("long ones only")

    assert words_in("fasttext", path, ["x hearthear heart"]).words == ["heart", "hearthear"]


def test_the_mark_of_a_sentence_end_has_no_n_grams(train) -> None:
    path, model = train("cbow")

    result = words_in("fasttext", path, ["</s>"])

    assert result.words[0] == "</s>"
    assert result.vectors[0].tolist() == model.get_word_vector("</s>").tolist()


def test_vectors_of_unseen_words_are_made_only_if_no_form_is_known(train) -> None:
    path, _ = train("skipgram")

    result = words_in("fasttext", path, ["Heart (non-Large) ASTHMA Unseen-Word"])

    assert dict(zip(result.words, result.in_vocabulary.tolist(), strict=True)) == {
        "heart": True,
        "asthma": False,
        "unseen-word": False,
        "non-large": False,
    }


def test_labels_of_a_supervised_model_are_not_words(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("__label__a heart attack\n__label__b lung\n" * 20, encoding="utf-8")
    model = fasttext.train_supervised(
        str(corpus), dim=4, minn=2, maxn=3, bucket=50, epoch=1, thread=1, verbose=0
    )
    path = tmp_path / "supervised.bin"
    model.save_model(str(path))

    result = words_in("fasttext", path, ["heart lung liver __label__a"], parts="never")

    rows = dict(zip(result.words, result.in_vocabulary.tolist(), strict=True))
    assert rows["heart"]
    assert rows["lung"]
    assert not rows["liver"]
    assert not rows.get("__label__a", False)
    for word in ("heart", "lung", "liver"):
        vector = result.vectors[result.words.index(word)]
        assert vector.tolist() == model.get_word_vector(word).tolist()


def test_a_quantised_model_is_refused(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    lines = [f"__label__{n % 2} word{n} word{n + 1}\n" for n in range(300)]
    corpus.write_text("".join(lines), encoding="utf-8")
    model = fasttext.train_supervised(str(corpus), dim=4, epoch=1, thread=1, verbose=0)
    model.quantize(qnorm=False)
    path = tmp_path / "model.ftz"
    model.save_model(str(path))

    assert FORMATS.get("fasttext").recognises(path)
    with pytest.raises(InputError, match=r"is quantised, as \.ftz files are"):
        words_in("fasttext", path, ["word1"])


@pytest.mark.parametrize(
    ("at", "layout", "value", "message"),
    [
        (4, "<i", 11, "pruned or of another version than 12; use a full"),
        (8, "<i", 0, "vectors of 0 numbers"),
        (8, "<i", 6, r"a matrix of shape \(112, 5\), expected \(112, 6\)"),
        (40, "<i", 98, "claims a matrix of shape"),
        (40, "<i", 0, "n-grams of 2 to 4 characters in 0 rows"),
        (44, "<i", -1, "n-grams of -1 to 4"),
        (48, "<i", 1000, "n-grams of 2 to 1000"),
        (64, "<i", 2**31 - 1, "claims 2,147,483,647 entries, 15 of them words"),
        (68, "<i", 0, "0 of them words"),
        (84, "<q", 4, "is pruned"),
    ],
)
def test_a_false_header_is_refused(
    train, tmp_path: Path, at: int, layout: str, value: int, message: str
) -> None:
    content = bytearray(train("skipgram")[0].read_bytes())
    struct.pack_into(layout, content, at, value)
    path = tmp_path / "model.bin"
    path.write_bytes(content)

    with pytest.raises(InputError, match=message):
        words_in("fasttext", path, ["heart"])


def test_a_truncated_model_is_refused(train, tmp_path: Path) -> None:
    content = train("skipgram")[0].read_bytes()
    path = tmp_path / "model.bin"
    for size in (*range(0, 420, 7), len(content) // 2, len(content) - 330, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"model\.bin"):
            words_in("fasttext", path, ["heart"])
