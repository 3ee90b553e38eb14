"""Vectors of targets in sentences, against numpy by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import VOCABULARY, hidden_of, write_encoder, write_tokenizer
from hypothesis import given
from hypothesis import strategies as st

from medsim.embeddings.formats.onnx import OnnxEncoder, Target
from medsim.embeddings.options import parse_options

pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="medsim[onnx] is not installed")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an encoder that reads 128 tokens."""
    return write_encoder(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> OnnxEncoder:
    """Return an encoder that reads 7 tokens, 5 of them of the text."""
    whole = write_encoder(tmp_path_factory.mktemp("short"))
    write_tokenizer(whole / "tokenizer.json", max_tokens=7)
    return OnnxEncoder(whole, parse_options({}), 1)


def opened(whole: Path, threads: int = 1, **options: str) -> OnnxEncoder:
    return OnnxEncoder(whole, parse_options(options), threads)


def target(sentence: str, text: str) -> Target:
    start = sentence.index(text)
    return Target(sentence=sentence, start=start, end=start + len(text))


def by_hand(tokens: Sequence[str], places: Sequence[int]) -> np.ndarray:
    """Return the mean of the vectors at some positions of a text between special tokens."""
    ids = [VOCABULARY[token] for token in ("[CLS]", *tokens, "[SEP]")]
    return hidden_of(ids)[[place + 1 for place in places]].mean(axis=0)


def test_a_target_is_the_mean_of_its_tokens_in_their_sentence(whole: Path) -> None:
    vectors, covered, cut = opened(whole).encode_targets(
        [
            target("the pain of the hands", "hands"),
            target("the pain of the hands", "pain of"),
            target("acute fever", "acute fever"),
            target("acute hands", "s"),  # a part of a word has the tokens that it overlaps
            target("acute hands", "nds"),
            Target(sentence="acute  pain", start=5, end=7),  # without a token
        ]
    )

    assert vectors.dtype == np.float32
    words = ["the", "pain", "of", "the", "hand", "##s"]
    expected = [
        by_hand(words, [4, 5]),
        by_hand(words, [1, 2]),
        by_hand(["acute", "fever"], [0, 1]),
        by_hand(["acute", "hand", "##s"], [2]),
        by_hand(["acute", "hand", "##s"], [1, 2]),
        np.zeros(6),
    ]
    assert np.allclose(vectors, expected, atol=1e-6)
    assert covered.tolist() == [True] * 5 + [False]
    assert not cut.any()


@pytest.mark.parametrize("before", ["凝視", "🧠🫀", "İ", "e\u0301\u0301", "ﬁ"])
def test_offsets_are_code_points(whole: Path, before: str) -> None:
    sentence = f"{before} pain of the schädel"

    targets = [target(sentence, "schädel"), target(sentence, "pain")]
    vectors, _, _ = opened(whole).encode_targets(targets)

    whole = tokenizers.Tokenizer.from_file(str(whole / "tokenizer.json"))
    whole.no_padding()
    ids = whole.encode(sentence).ids
    assert ids[-5:] == [VOCABULARY[t] for t in ("pain", "of", "the", "schädel", "[SEP]")]
    assert np.allclose(vectors, hidden_of(ids)[[-2, -5]], atol=1e-6)


@pytest.mark.parametrize(
    ("before", "text", "after", "words", "places"),
    [
        # around the target, up to the end, and from the beginning
        ("acute acute acute chronic of", "pain", "the hand", "chronic of pain the hand", [2]),
        ("acute the hand", "fever fever fever", "", "the hand fever fever fever", [2, 3, 4]),
        ("acute pain of the", "hand", "fever fever", "acute pain of the hand", [4]),
        ("", "acute pain", "of the hand fever fever", "acute pain of the hand", [0, 1]),
        # the beginning of a target that is too long
        ("fever", "pain of the hand of the", "fever", "pain of the hand of", range(5)),
    ],
)
def test_of_a_long_sentence_the_words_around_the_target_are_read(
    short: OnnxEncoder, before: str, text: str, after: str, words: str, places: Sequence[int]
) -> None:
    sentence = f"{before} {text} {after}".strip()

    vectors, _, cut = short.encode_targets([target(sentence, text), target("pain", "pain")])

    assert np.allclose(vectors[0], by_hand(words.split(), places), atol=1e-6)
    assert cut.tolist() == [len(text.split()) > 5, False]


def test_a_prefix_stays_before_a_sentence_that_is_cut(tmp_path: Path) -> None:
    whole = write_encoder(tmp_path)
    write_tokenizer(whole / "tokenizer.json", max_tokens=7)
    sentence = "acute acute acute chronic of pain the hand fever fever"

    encoder = opened(whole, prefix="fever ")
    vectors, _, _ = encoder.encode_targets([target(sentence, "pain")])

    assert np.allclose(
        vectors[0], by_hand(["fever", "chronic", "of", "pain", "the"], [3]), atol=1e-6
    )


@given(
    st.lists(st.sampled_from(["acute", "pain", "hands", "凝視", "of"]), min_size=1, max_size=25),
    st.data(),
)
def test_a_target_that_fits_is_always_read_whole(
    short: OnnxEncoder, words: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    n_words = data.draw(st.integers(1, min(3, len(words) - at)))
    start = len(" ".join([*words[:at], ""]))
    text = " ".join(words[at : at + n_words])

    _, covered, cut = short.encode_targets(
        [Target(sentence=" ".join(words), start=start, end=start + len(text))]
    )

    n_tokens = sum({"hands": 2, "凝視": 2}.get(word, 1) for word in words[at : at + n_words])
    assert covered.all()
    assert cut[0] == (n_tokens > 5)


def test_vectors_of_targets_depend_neither_on_threads_nor_but_for_rounding_on_others(
    whole: Path,
) -> None:
    sentence = "the pain of the hands"
    targets = [target(sentence, text) for text in ("the", "pain", "of the", "hands")]
    targets.append(target("acute fever", "fever"))

    together, _, _ = opened(whole).encode_targets(targets)

    alone = [opened(whole).encode_targets([item])[0][0] for item in targets]
    assert np.allclose(together, alone, atol=1e-6)
    assert np.array_equal(opened(whole, 3).encode_targets(targets)[0], together)
