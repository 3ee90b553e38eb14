"""Training with sentence-transformers, which needs PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


def minilm(model: Path) -> SentenceTransformer:
    """Return all-MiniLM-L6-v2 from a folder, for texts of up to 32 tokens."""
    encoder = SentenceTransformer(str(model), device="cpu")
    encoder.max_seq_length = 32
    return encoder


def static_encoder(tokenizer: Path, n_dimensions: int, seed: int) -> SentenceTransformer:
    """Return an encoder whose vector of a text is the mean of its tokens' vectors: random ones."""
    torch.manual_seed(seed)
    tokens = Tokenizer.from_file(str(tokenizer))
    module = StaticEmbedding(tokens, embedding_dim=n_dimensions)
    return SentenceTransformer(modules=[module], device="cpu")


def fine_tune(
    encoder: SentenceTransformer,
    data: pl.DataFrame,
    out: Path,
    *,
    seed: int,
    size: int,
    n_batches: int,
    rate: float,
) -> None:
    """Train an encoder with ``MultipleNegativesRankingLoss``, and save it.

    Args:
        encoder: it is changed in place.
        data: columns of anchors, of their positives, and of negatives.
        out: the folder to write.
        seed: random seed.
        size: number of rows in a batch.
        n_batches: number of batches.
        rate: the learning rate after the first tenth of the batches.
    """
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(out),
        per_device_train_batch_size=size,
        max_steps=n_batches,
        learning_rate=rate,
        warmup_steps=n_batches // 10,
        batch_sampler="no_duplicates",
        seed=seed,
        use_cpu=True,
        bf16=True,  # about 2.5 times as fast on a CPU with AVX512-BF16
        save_strategy="no",
        report_to=[],
    )
    SentenceTransformerTrainer(
        model=encoder,
        args=arguments,
        train_dataset=Dataset.from_dict(data.to_dict(as_series=False)),
        loss=MultipleNegativesRankingLoss(encoder),
    ).train()
    encoder.save(str(out))
