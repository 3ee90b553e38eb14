"""Models that PyTorch trains, compared with the libraries."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import numpy as np
import pytest
from fixtures.wic import write_benchmark, write_kinds

from medsim import evaluate_wic
from medsim.embeddings.formats.sentence_transformers import SentenceEncoder
from medsim.embeddings.metrics import WordBags
from medsim.embeddings.options import EmbeddingOptions
from medsim.wic.dataset import Round
from medsim.wic.models.encoders import TextPairs, contrastive_loss, tune
from medsim.wic.models.training import Training, precision_of
from medsim.wic.models.word_vectors import N_UNITS, SidesInWords, bilstm_scores

torch = pytest.importorskip("torch", reason="medsim[baselines] is not installed")
library = pytest.importorskip("sentence_transformers", reason="medsim[baselines] is not installed")

KINDS = ("ache", "bone", "cyst", "drug")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a small encoder with random weights, as a plain folder and as the library saves it."""
    import tokenizers
    import transformers

    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, '"': 4, "of": 5}
    words |= {word: len(words) + n for n, word in enumerate([*KINDS, "note", "ward"])}
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep")}
    unknown = {"unk_token": special["unk_token"]}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, **unknown))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    places = {name: tmp_path_factory.mktemp(name) for name in ("plain", "saved")}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(
        places["plain"]
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        config = transformers.BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=32,
        )
        transformers.BertModel(config).save_pretrained(places["plain"])
    library.SentenceTransformer(str(places["plain"]), device="cpu").save(str(places["saved"]))
    return places


def pairs_of(n: int, seed: int) -> TextPairs:
    """Return sentences with a quoted word; equal words have the same meaning."""
    draw = np.random.default_rng(seed)
    first, second = draw.integers(len(KINDS), size=(2, n))
    second = np.where(draw.random(n) < 0.5, first, second)
    left, right = (
        [f'note of "{KINDS[kind]}"{" ward" * int(draw.integers(6))}' for kind in side]
        for side in (first, second)
    )
    return TextPairs(left=left, right=right, labels=first == second)


def cosines(encoder: SentenceEncoder, pairs: TextPairs) -> np.ndarray:
    left, right = (encoder.encode(side) for side in (pairs.left, pairs.right))
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return (left * right).sum(axis=1) / norms


@pytest.mark.parametrize(
    "labels", [[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]
)
def test_the_loss_matches_the_library(labels: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it has moved within version 6
        losses = importlib.import_module("sentence_transformers.losses")
    truth = torch.tensor(labels, dtype=torch.float32)
    with torch.random.fork_rng():
        torch.manual_seed(len(labels) + sum(labels))
        left, right = torch.randn(2, 6, 4)

    class Model(torch.nn.Module):
        def forward(self, features: dict[str, object]) -> dict[str, object]:
            return features

    sides = [{"sentence_embedding": side} for side in (left, right)]
    values = torch.nn.functional.cosine_similarity(left, right)
    online = losses.OnlineContrastiveLoss(Model(), margin=0.5)(sides, truth)
    assert contrastive_loss(values, truth == 1).item() == pytest.approx(online.item(), rel=1e-5)


def test_a_fine_tuned_encoder_separates_its_training_pairs(folders) -> None:
    train, held_back, test = pairs_of(64, 1), pairs_of(30, 2), pairs_of(60, 3)
    training = Training(epochs=6, rate=3e-3, batch=16)
    scores, epochs, n_seen = [], [], []
    before = torch.random.get_rng_state()
    for _ in range(2):
        encoder = SentenceEncoder(folders["saved"], EmbeddingOptions(), 1)
        start = cosines(encoder, test)
        epochs.append(tune(encoder, train, held_back, training, seed=5, advance=n_seen.append))
        scores.append(cosines(encoder, test))

    assert torch.equal(torch.random.get_rng_state(), before)
    assert np.allclose(scores[0], scores[1], atol=1e-4)
    assert epochs[0] == epochs[1]
    assert sum(n_seen) == 2 * 6 * 64
    gaps = [part[test.labels].mean() - part[~test.labels].mean() for part in (start, scores[0])]
    assert gaps[1] > gaps[0] + 0.01
    precisions = [precision_of(part.astype(np.float64), test.labels) for part in (start, scores[0])]
    assert precisions[1] > precisions[0]


def test_the_weights_of_the_best_epoch_are_kept(folders) -> None:
    train, held_back = pairs_of(32, 1), pairs_of(30, 2)
    wrong = TextPairs(left=train.left, right=train.right, labels=~train.labels)
    training = Training(epochs=3, rate=5e-3, batch=8)
    encoder = SentenceEncoder(folders["saved"], EmbeddingOptions(), 1)

    epoch = tune(encoder, wrong, held_back, training, seed=0, advance=lambda _n: None)

    assert epoch == 1  # it gets worse with every epoch on wrong labels


def test_texts_have_the_same_vectors_in_a_batch_and_alone(folders) -> None:
    from medsim.wic.models.encoders import _embed

    encoder = SentenceEncoder(folders["saved"], EmbeddingOptions(prefix="note "), 1)
    texts = pairs_of(20, 4).left

    with torch.no_grad():
        vectors = _embed(encoder, texts).cpu().numpy()

    assert np.allclose(vectors, encoder.encode(texts), atol=1e-5)


def pairs_of_words(n: int, seed: int) -> tuple[SidesInWords, np.ndarray]:
    """Return sides of one of two words each; equal words have the same meaning."""
    words = np.random.default_rng(seed).integers(2, size=2 * n).astype(np.int32)
    bags = WordBags(
        vectors=3 * np.eye(2, dtype=np.float32), words=words, starts=np.arange(2 * n + 1)
    )
    rows = np.arange(n)
    return SidesInWords(bags=bags, left=rows, right=n + rows), words[:n] == words[n:]


def round_of(train: np.ndarray, held_back: np.ndarray, test: np.ndarray) -> Round:
    return Round(fold=None, train=train, dev=held_back, held_back=held_back, test=test)


def test_a_bilstm_compares_both_sides() -> None:
    pairs, labels = pairs_of_words(200, 1)
    round_ = round_of(np.arange(100), np.arange(100, 150), np.arange(150, 200))
    training = Training(epochs=10, rate=2e-2, batch=10)
    n_seen: list[int] = []

    log_odds, epoch = bilstm_scores(pairs, labels, round_, training, 0, n_seen.append)

    assert precision_of(log_odds[50:], labels[round_.test]) > 0.95  # about 0.5 by chance
    assert 1 <= epoch <= 10
    assert sum(n_seen) == 10 * 100


def test_a_bilstm_matches_pytorch_text_by_text(monkeypatch) -> None:
    pairs, labels = pairs_of_words(12, 2)
    starts = np.array([0, 1, 3, *range(4, 12), 20, 21])  # of sides of up to eight words
    bags = WordBags(vectors=pairs.bags.vectors, words=pairs.bags.words, starts=starts)
    pairs = SidesInWords(bags=bags, left=np.arange(6), right=np.arange(6, 12))
    modules = []

    def untrained(module, *_arguments: object, **_options: object) -> int:
        modules.append(module)
        return 1

    monkeypatch.setattr("medsim.wic.models.word_vectors.train", untrained)
    round_ = round_of(np.arange(0), np.arange(0), np.arange(6))
    training = Training(epochs=1, rate=1e-3, batch=2)

    log_odds, _ = bilstm_scores(pairs, labels, round_, training, 7, lambda _n: None)

    lstm, output = modules[0]["lstm"], modules[0]["output"]
    for row in range(6):
        left, right = (
            bags.vectors[bags.words[starts[text] : starts[text + 1]]]
            for text in (pairs.left[row], pairs.right[row])
        )
        both = torch.from_numpy(np.concatenate([left, np.zeros((1, 2), np.float32), right]))
        steps, _ = lstm(both[:, None])
        last = torch.cat([steps[-1, 0, :N_UNITS], steps[0, 0, N_UNITS:]])
        assert log_odds[row] == pytest.approx(output(last).item(), abs=1e-5)


def test_both_are_scored_end_to_end(folders, tmp_path: Path) -> None:
    write_benchmark(tmp_path / "data")
    write_kinds(tmp_path / "kinds.txt")
    options = "network=bilstm,input=target,epochs=2"

    scores = evaluate_wic(
        tmp_path / "data",
        tmp_path / "out",
        models=[
            f"lstm={tmp_path / 'kinds.txt'},{options}",
            f"tuned={folders['saved']},tune=yes,epochs=1",
        ],
        seeds=2,
        threads=1,
    )

    assert set(scores.predictions()["seed"]) == {0, 1}
    whole = scores.results().filter(subset="all")
    assert whole["model"].to_list() == ["lstm", "tuned"]
    assert whole["deviation"].null_count() == 0
    thresholds = scores.predictions().filter(model="lstm").group_by("seed").agg("threshold")
    assert thresholds["threshold"].list.n_unique().to_list() == [1, 1]
