"""The instances that models are asked about, and the rounds in which they are asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.manifest import fingerprint
from medsim.core.terms import lowered
from medsim.wic import SPLITS
from medsim.wic.benchmark import read_instances
from medsim.wic.making.instances import drawn_order
from medsim.wic.models.folds import folds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from medsim.kernels.types import Flags, Rows

SEEN = ("seen", "partly_seen", "unseen")
"""Instances of which both terms, one or none occur in those that models are fitted on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The rows of instances that models are fitted on, and of those that they are then asked about.

    Rows are in an order drawn from the content of instances, so that of files does not matter.

    Attributes:
        fold: which instances are asked about, from 1; None where there are splits.
        train: int[n_train], to fit models on.
        dev: int[n_dev], to choose thresholds on.
        held_back: int[n_held_back], on which a fitted model chooses its threshold; it leaves them
            out of ``train``.
        test: int[n_test], to ask about.
    """

    fold: int | None
    train: Rows
    dev: Rows
    held_back: Rows
    test: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class WicDataset:
    """Instances, and the rounds in which models are asked about them.

    Attributes:
        instances: ``WIC_COLUMNS``, of all splits, one after the other.
        tested: int[n_tested], the rows to ask about, as their file has them.
        dev: int[n_dev], the rows of the dev split, as their file has them.
        rounds: one, or one a fold.
        fitted: a text that says on what models are fitted and thresholds chosen.
        files: path and fingerprint of the content of every split.
    """

    name: str
    instances: pl.DataFrame
    tested: Rows
    dev: Rows
    rounds: tuple[Round, ...]
    fitted: str
    files: dict[str, dict[str, str]]

    @property
    def labels(self) -> Flags:
        """Whether both terms of each instance have one meaning: bool[n_instances]."""
        return (self.instances["label"] == 1).to_numpy()

    @property
    def is_crossed(self) -> bool:
        """Whether every instance is asked about, with models fitted on the others."""
        return self.rounds[0].fold is not None

    def seen(self) -> list[str | None]:
        """Return for each instance that is asked about one of ``SEEN``; None without a train split.

        Only instances count that models of its round are fitted on; case does not.
        """
        pairs = self._pairs()
        found: list[str | None] = [None] * len(pairs)
        for one in self.rounds:
            known = {term for row in one.train for term in pairs[row]}
            for row in one.test if known else ():
                found[row] = SEEN[sum(term not in known for term in pairs[row])]
        return [found[row] for row in self.tested]

    def n_known(self) -> int:
        """Return how many instances to ask about share something with one of train or dev.

        That is a sentence, or a pair of terms in either order and ignoring case. Folds share
        nothing.
        """
        sentences = self.instances.select("sentence1", "sentence2").rows()
        pairs = [frozenset(pair) for pair in self._pairs()]
        n_known = 0
        for one in self.rounds:
            known = set() if self.is_crossed else {*one.train.tolist(), *one.dev.tolist()}
            known_sentences = {text for row in known for text in sentences[row]}
            known_pairs = {pairs[row] for row in known}
            n_known += sum(
                pairs[row] in known_pairs or not known_sentences.isdisjoint(sentences[row])
                for row in one.test.tolist()
            )
        return n_known

    def _pairs(self) -> list[tuple[str, str]]:
        """Return both terms of each instance in lower case."""
        first, second = (lowered(self.instances[name].to_list()) for name in ("term1", "term2"))
        return list(zip(first, second, strict=True))


def read_dataset(
    data: Path, *, train: str | Path | None = None, dev: str | Path | None = None, seed: int
) -> WicDataset:
    """Return the benchmark in a folder or a file.

    A folder has test.json, and train.json and dev.json where models need them. A single file is the
    test split where ``train`` or ``dev`` is named; else its instances are shared out into folds
    that have no sentence and no pair of terms in common, and each fold is asked about by models
    that were fitted on the others. A term that is not at its offsets is refused.
    """
    files = _files(data, train, dev)
    parts = {split: _checked(path) for split, path in files.items()}
    if not parts["test"].height:
        raise InputError(f"{files['test']} has no instance")
    crossed = data.is_file() and train is None and dev is None
    instances = pl.concat(parts.values())
    order = np.lexsort((instances["label"], drawn_order(instances, seed)))
    split_of = np.repeat(list(parts), [part.height for part in parts.values()])
    of_train, of_dev, of_test = (order[split_of[order] == split] for split in SPLITS)
    one = Round(fold=None, train=of_train, dev=of_dev, held_back=of_dev, test=of_test)
    rounds = _crossed(instances, order, seed) if crossed else (one,)
    return WicDataset(
        name=data.name,
        instances=instances,
        tested=np.sort(of_test),
        dev=np.sort(of_test if crossed else of_dev),
        rounds=rounds,
        fitted=f"cross-fitted in {len(rounds)} folds" if crossed else _splits(parts),
        files={
            split: {"path": str(files[split]), "fingerprint": fingerprint(part)}
            for split, part in parts.items()
        },
    )


def _files(data: Path, train: str | Path | None, dev: str | Path | None) -> dict[str, Path]:
    """Return the file of each split that there is."""
    if not data.exists():
        raise InputError(f"{data} does not exist")
    own = {split: data / f"{split}.json" for split in SPLITS} if data.is_dir() else {"test": data}
    found = {split: path for split, path in own.items() if path.exists()}
    if "test" not in found:
        raise InputError(f"{data} has no test.json; name a folder that has, or a file")
    given = {"train": train, "dev": dev}
    found |= {split: Path(path) for split, path in given.items() if path is not None}
    return {split: found[split] for split in SPLITS if split in found}


def _checked(path: Path) -> pl.DataFrame:
    """Return the instances of a file, in which every term stands at its offsets."""
    instances = read_instances(path)
    for number, row in enumerate(instances.iter_rows(named=True), start=1):
        for side in "12":
            start, end, term = row[f"start{side}"], row[f"end{side}"], row[f"term{side}"]
            there = row[f"sentence{side}"][start:end]
            if there != term or not term:
                raise InputError(
                    f"{path}: instance {number}: sentence{side} has {there[:60]!r} from {start} to "
                    f"{end}, not term{side}, {term[:60]!r}; medsim wic verify lists what is wrong"
                )
    return instances


def _crossed(instances: pl.DataFrame, order: Rows, seed: int) -> tuple[Round, ...]:
    """Return a round a fold; the fold that comes next is held back."""
    fold_of = folds_of(instances, seed)[order]
    n_folds = int(fold_of.max()) + 1
    if n_folds < 3:  # noqa: PLR2004 — to fit on, to choose a threshold on, to ask
        raise InputError(
            f"the instances hang together in {n_folds} parts, of which none can be held back twice;"
            " name files with `train` and `dev`"
        )
    return tuple(
        Round(
            fold=fold + 1,
            train=order[fold_of != fold],
            dev=order[fold_of != fold],
            held_back=order[fold_of == (fold + 1) % n_folds],
            test=order[fold_of == fold],
        )
        for fold in range(n_folds)
    )


def _splits(parts: Iterable[str]) -> str:
    texts = {"train": "models fitted on train", "dev": "thresholds chosen on dev"}
    return ", ".join(texts[split] for split in parts if split in texts) or "nothing fitted"
