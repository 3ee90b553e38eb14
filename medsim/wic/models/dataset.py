"""The instances that models are asked about, and the rounds in which they are asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.instances import check_terms
from medsim.core.manifest import fingerprint
from medsim.core.terms import lowered
from medsim.wic import SPLITS
from medsim.wic.benchmark import read_instances
from medsim.wic.making.instances import drawn_order
from medsim.wic.models.folds import folds_of
from medsim.wic.models.general_wic import DATA as WIC_DATA
from medsim.wic.models.general_wic import read_wic

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from medsim.kernels.types import Flags, Rows

SEEN = {"any_seen": (1, 2), "both_seen": (2,), "unseen": (0,)}
"""Parts of the instances by how many of their two target terms models are fitted on.

An instance that Rouhizadeh et al. (2024) call seen has at least one such term.
"""


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
        instances: ``WIC_COLUMNS``, of all splits, one after the other, and what else is fitted on.
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

    def seen_terms(self) -> list[int | None]:
        """Return for each instance that is asked about how many of its two terms were seen.

        Seen is what the instances have that models of its round are fitted on; case does not
        count. It is None where there are no such instances.
        """
        pairs = self._pairs()
        found: list[int | None] = [None] * len(pairs)
        for one in self.rounds:
            known = {term for row in one.train for term in pairs[row]}
            for row in one.test if known else ():
                found[row] = sum(term in known for term in pairs[row])
        return [found[row] for row in self.tested]

    def n_known(self) -> int:
        """Return how many instances to ask about share something with one of train or dev.

        That is a sentence, or a pair of terms in either order and ignoring case. Folds share
        nothing with each other, but may do so with what else is fitted on.
        """
        sentences = self.instances.select("sentence1", "sentence2").rows()
        pairs = [frozenset(pair) for pair in self._pairs()]
        n_known = 0
        for one in self.rounds:
            known = {*one.train.tolist(), *one.dev.tolist()}
            if self.is_crossed:
                known.difference_update(self.tested.tolist())
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
    data: Path,
    *,
    train: str | Path | None = None,
    dev: str | Path | None = None,
    more_train: Sequence[str | Path] = (),
    seed: int,
) -> WicDataset:
    """Return the benchmark in a folder or a file.

    A folder has test.json, and train.json and dev.json where models need them. A single file is the
    test split where ``train`` or ``dev`` is named; else its instances are shared out into folds
    that have no sentence and no pair of terms in common, and each fold is asked about by models
    that were fitted on the others. A term that is not at its offsets is refused. What ``train`` and
    ``more_train`` name may be files of WiC; the latter are for fitting alone, in every round.
    """
    files = _files(data, train, dev)
    parts = {
        split: _fitting(path) if split == "train" else _checked(path)
        for split, path in files.items()
    }
    more = [(path, _fitting(path)) for path in map(Path, more_train)]
    if not parts["test"].height:
        raise InputError(f"{files['test']} has no instance")
    crossed = data.is_file() and train is None and dev is None
    own = pl.concat(parts.values())
    instances = pl.concat([own, *(part for _, part in more)])
    order = np.lexsort((instances["label"], drawn_order(instances, seed)))
    split_of = np.repeat(
        [*parts, "train"],
        [*(part.height for part in parts.values()), instances.height - own.height],
    )
    of_train, of_dev, of_test = (order[split_of[order] == split] for split in SPLITS)
    one = Round(fold=None, train=of_train, dev=of_dev, held_back=of_dev, test=of_test)
    rounds = _crossed(own, order, seed) if crossed else (one,)
    return WicDataset(
        name=data.name,
        instances=instances,
        tested=np.sort(of_test),
        dev=np.sort(of_test if crossed else of_dev),
        rounds=rounds,
        fitted=_fitted(parts, len(rounds) if crossed else 0, [path.name for path, _ in more]),
        files={
            name: {"path": str(path), "fingerprint": fingerprint(part)}
            for name, path, part in (
                *((split, files[split], part) for split, part in parts.items()),
                *((f"more_train {n}", *one) for n, one in enumerate(more, start=1)),
            )
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


def _fitting(path: Path) -> pl.DataFrame:
    """Return the instances of a file to fit on, which may be one of WiC."""
    return read_wic(path) if path.name.endswith(WIC_DATA) else _checked(path)


def _checked(path: Path) -> pl.DataFrame:
    """Return the instances of a file, in which every term stands at its offsets."""
    instances = read_instances(path)
    check_terms(path, instances)
    return instances


def _crossed(own: pl.DataFrame, order: Rows, seed: int) -> tuple[Round, ...]:
    """Return a round a fold; the fold that comes next is held back.

    Rows after those of ``own`` are in no fold, and in every round to fit on.
    """
    folds = np.full(len(order), -1, np.int32)
    folds[: own.height] = folds_of(own, seed)
    fold_of = folds[order]
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
            dev=order[(fold_of != fold) & (fold_of >= 0)],
            held_back=order[fold_of == (fold + 1) % n_folds],
            test=order[fold_of == fold],
        )
        for fold in range(n_folds)
    )


def _fitted(parts: Collection[str], n_folds: int, more: Sequence[str]) -> str:
    """Return in words on what models are fitted and thresholds chosen."""
    if n_folds:
        return " and ".join([f"cross-fitted in {n_folds} folds", *more])
    train = [name for name in ("train",) if name in parts] + list(more)
    texts = [f"models fitted on {' and '.join(train)}"] if train else []
    texts += ["thresholds chosen on dev"] if "dev" in parts else []
    return ", ".join(texts) or "nothing fitted"
