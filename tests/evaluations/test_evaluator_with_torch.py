"""The evaluator in the trainer of sentence-transformers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import medsim

torch = pytest.importorskip("torch", reason="medsim[sentence-transformers] is not installed")
library = pytest.importorskip(
    "sentence_transformers", reason="medsim[sentence-transformers] is not installed"
)
datasets = pytest.importorskip("datasets", reason="medsim[sentence-transformers] is not installed")


@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_the_log_of_a_training_has_the_scores_of_the_saved_model(
    shared_evaluation: medsim.Evaluation, tmp_path: Path
) -> None:
    import tokenizers
    from sentence_transformers.sentence_transformer import losses, modules

    build = shared_evaluation.folder.parent / "build"
    positives = shared_evaluation.pairs().filter(label=1).collect().head(64)
    unknown = "[UNK]"
    words = positives["term1"].str.to_lowercase().str.split(" ").explode().unique().sort()
    vocabulary = {word: row for row, word in enumerate([unknown, *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    static = modules.StaticEmbedding(tokenizer, embedding_dim=16)
    model = library.SentenceTransformer(modules=[static], device="cpu")
    evaluator = medsim.TermSimilarityEvaluator(build, sample=40)
    arguments = library.SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path / "runs"),
        max_steps=2,
        eval_strategy="steps",
        eval_steps=2,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    columns = {"anchor": positives["term1"].to_list(), "positive": positives["term2"].to_list()}
    trainer = library.SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=datasets.Dataset.from_dict(columns),
        loss=losses.MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
    )

    trainer.train()

    logged = next(
        row for row in trainer.state.log_history if "eval_build_auc_beyond_spelling" in row
    )
    model.save(str(tmp_path / "model"))
    embeddings = {"trained": tmp_path / "model"}
    options = {"sample": 40, "cache": "none", "metrics": ["cos"]}
    evaluation = medsim.evaluate(build, embeddings, tmp_path / "results", **options)
    headline = evaluation.results().filter(pl.col("embedding") == "trained")
    headline = headline.filter(statistic="auc_beyond_spelling")["value"].item()
    assert logged["eval_build_auc_beyond_spelling"] == pytest.approx(headline, abs=1e-12)
    assert logged["step"] == 2
