"""sentence-transformers trains on the export, which ``datasets`` loads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import medsim

datasets = pytest.importorskip("datasets", reason="medsim[tools] is not installed")
models = pytest.importorskip("sentence_transformers", reason="medsim[tools] is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # of other libraries

N_DIMENSIONS = 16


@pytest.fixture(scope="module")
def exported(shared_build: medsim.Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    return medsim.export(
        shared_build, folder / "out", "sentence-transformers", n_negatives=2
    ).folder


@pytest.fixture
def encoder(exported: Path) -> Any:
    """An encoder of words that begins with vectors of no meaning."""
    import torch
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    pairs = medsim.Exported(exported).read("pair-class/train-00000-of-00001.parquet")
    words = sorted(
        {word for side in pairs.columns[:2] for text in pairs[side] for word in text.split()}
    )
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=words[0]))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    torch.manual_seed(0)
    static = StaticEmbedding(tokenizer, embedding_dim=N_DIMENSIONS)
    return models.SentenceTransformer(modules=[static], device="cpu")


@pytest.mark.parametrize(
    ("config", "loss"),
    [
        ("n-tuple", "MultipleNegativesRankingLoss"),
        ("pair", "MultipleNegativesRankingLoss"),
        ("pair-class", "ContrastiveLoss"),
        ("pair-class", "OnlineContrastiveLoss"),
    ],
)
def test_an_epoch_on_each_configuration_lowers_the_loss(
    exported: Path, encoder: Any, tmp_path: Path, config: str, loss: str
) -> None:
    from sentence_transformers import SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer import losses

    rows = datasets.load_dataset(
        str(exported), config, split="train", cache_dir=str(tmp_path / "cache")
    )
    trainer = models.SentenceTransformerTrainer(
        model=encoder,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path / "runs"),
            num_train_epochs=1,
            per_device_train_batch_size=16,
            learning_rate=0.05,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
            batch_sampler="no_duplicates",
            seed=0,
        ),
        train_dataset=rows,
        eval_dataset=rows,
        loss=getattr(losses, loss)(encoder),
    )

    before = trainer.evaluate()["eval_loss"]
    trainer.train()

    assert trainer.evaluate()["eval_loss"] < 0.9 * before
