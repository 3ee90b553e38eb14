"""The instances that models answer, and the rounds of fitting and testing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from medsim.core.errors import InputError
from medsim.core.instances import checked_terms
from medsim.core.kinds import WIC_COLUMNS
from medsim.core.manifest import fingerprint
from medsim.core.reading import reading
from medsim.core.tables import read_text
from medsim.core.terms import content_hashes
from medsim.corpora import CORPUS_SPLITS
from medsim.kernels.components import components
from medsim.kernels.packing import tie_hashes
from medsim.kernels.types import Flags, Hashes, Ids, Rows
from medsim.wic.output import read_instances, split_files
from medsim.wic.rules import term_pair

IDENTITY = ("sentence1", "sentence2", "start1", "start2")
"""The columns that identify an instance."""

_COINS, _ORDER = np.uint64(0), np.uint64(1)

SEEN = {"any_seen": (1, 2), "both_seen": (2,), "unseen": (0,)}
"""Subsets of instances by the number of target terms in the training data. An instance that
Rouhizadeh et al. (2024) call seen has at least one such term.
"""

N_FOLDS = 10
"""The number of folds, if instances have at least as many connected components."""

_DATA, _GOLD = ".data.txt", ".gold.txt"
"""The suffixes of WiC's files with instances, and with their labels."""

_LABELS = {"T": 1, "F": 0}
_LINE = re.compile(r"[^\t]*\t[^\t]*\t[^\S\t]*(\d{1,5})-(\d{1,5})[^\S\t]*\t([^\t]*)\t([^\t]*)")
_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The rows of instances for fitting models, and for testing them.

    Rows are in an order drawn from the content of instances, so the order of files does not matter.

    Attributes:
        fold: number of the tested fold, from 1; None with splits.
        train: int[n_train], to fit models on.
        dev: int[n_dev], to choose thresholds on.
        held_back: int[n_held_back], to choose a fitted model's threshold on; with folds, a part of
            ``train``.
        test: int[n_test], to test on.
    """

    fold: int | None
    train: Rows
    dev: Rows
    held_back: Rows
    test: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class WicDataset:
    """Instances, and the rounds in which models answer them.

    Attributes:
        instances: ``WIC_COLUMNS``, of all splits, one after the other, and other training data.
        tested: int[n_tested], the rows to test on, in the order of their file.
        dev: int[n_dev], the rows of the dev split, in the order of their file.
        rounds: one, or one per fold.
        fitted: a description of the data for fitting models and choosing thresholds.
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
        """Whether every instance is tested, with models fitted on other folds."""
        return self.rounds[0].fold is not None

    @property
    def answered_rows(self) -> Rows:
        """The rows for testing or for choosing thresholds, in order."""
        return np.unique(np.concatenate([[*round_.dev, *round_.test] for round_ in self.rounds]))

    def quoted(self, side: int, rows: Rows | None = None) -> list[str]:
        """Return the sentences of a side, each with its target in double quotes.

        ``rows`` are int[n_sentences], of ``instances``; None for all.
        """
        sentences = self.sentences(side, rows)
        return [f'{text[:at]}"{text[at:end]}"{text[end:]}' for text, at, end in sentences]

    def sentences(self, side: int, rows: Rows | None = None) -> list[tuple[str, int, int]]:
        """Return the sentences of a side, each with the start and end of its target.

        ``rows`` are int[n_sentences], of ``instances``; None for all.
        """
        instances = self.instances if rows is None else self.instances[rows]
        return instances.select(f"{name}{side}" for name in ("sentence", "start", "end")).rows()

    def seen_terms(self) -> list[int | None]:
        """Return the number of seen terms, 0 to 2, of each tested instance.

        A term is seen if the training instances of the round contain it, ignoring case. None if
        there are no such instances.
        """
        pairs = self._pairs()
        n_seen: list[int | None] = [None] * len(pairs)
        for round_ in self.rounds:
            train_terms = {term for row in round_.train for term in pairs[row]}
            for row in round_.test if train_terms else ():
                n_seen[row] = sum(term in train_terms for term in pairs[row])
        return [n_seen[row] for row in self.tested]

    def n_leaked(self) -> int:
        """Return the number of tested instances with data leakage from train or dev.

        That is a shared sentence, or a shared pair of terms in either order and ignoring case.
        Folds share nothing with each other, but may do so with other training data.
        """
        sentences = self.instances.select("sentence1", "sentence2").rows()
        pairs = self._pairs()
        n_leaked = 0
        for round_ in self.rounds:
            fitted_rows = {*round_.train.tolist(), *round_.dev.tolist()}
            if self.is_crossed:
                fitted_rows.difference_update(self.tested.tolist())
            known_sentences = {text for row in fitted_rows for text in sentences[row]}
            known_pairs = {pairs[row] for row in fitted_rows}
            n_leaked += sum(
                pairs[row] in known_pairs or not known_sentences.isdisjoint(sentences[row])
                for row in round_.test.tolist()
            )
        return n_leaked

    def _pairs(self) -> list[tuple[str, str]]:
        """Return both terms of each instance in lower case, in order."""
        return [term_pair(*pair) for pair in self.instances.select("term1", "term2").iter_rows()]


def read_dataset(
    data: Path,
    *,
    train: str | Path | None = None,
    dev: str | Path | None = None,
    more_train: Sequence[str | Path] = (),
    seed: int,
) -> WicDataset:
    """Return the benchmark in a folder or a file.

    A folder has test.json, and train.json and dev.json if models need them. A single file is the
    test split if ``train`` or ``dev`` is given; else its instances are divided into folds with no
    sentence and no pair of terms in common, and each fold is tested with models fitted on the
    others. A term that is not at its offsets is an error. ``train`` and ``more_train`` may be files
    of WiC; the latter are only for fitting, in every round.
    """
    files = _files(data, train, dev)
    frames = {split: _instances(path, split) for split, path in files.items()}
    more = [(path, _instances(path, "train")) for path in map(Path, more_train)]
    if not frames["test"].height:
        raise InputError(f"{files['test']} has no instance")
    crossed = data.is_file() and train is None and dev is None
    benchmark = pl.concat(frames.values())
    instances = pl.concat([benchmark, *(frame for _, frame in more)])
    order = np.lexsort((instances["label"], drawn_order(instances, seed)))
    split_of = np.repeat(
        [*frames, "train"],
        [*(frame.height for frame in frames.values()), instances.height - benchmark.height],
    )
    of_train, of_dev, of_test = (order[split_of[order] == split] for split in CORPUS_SPLITS)
    only_round = Round(fold=None, train=of_train, dev=of_dev, held_back=of_dev, test=of_test)
    rounds = _folded_rounds(benchmark, order, seed) if crossed else (only_round,)
    return WicDataset(
        name=data.name,
        instances=instances,
        tested=np.sort(of_test),
        dev=np.sort(of_test if crossed else of_dev),
        rounds=rounds,
        fitted=_description(frames, len(rounds) if crossed else 0, [path.name for path, _ in more]),
        files={
            name: {"path": str(path), "fingerprint": fingerprint(frame)}
            for name, path, frame in (
                *((split, files[split], frame) for split, frame in frames.items()),
                *((f"more_train {n}", *pair) for n, pair in enumerate(more, start=1)),
            )
        },
    )


def _files(data: Path, train: str | Path | None, dev: str | Path | None) -> dict[str, Path]:
    """Return the file of each existing split."""
    files = split_files(data)
    if "test" not in files:
        raise InputError(f"{data} has no test.json; give a folder with one, or a file")
    options = {"train": train, "dev": dev}
    files |= {split: Path(path) for split, path in options.items() if path is not None}
    return {split: files[split] for split in CORPUS_SPLITS if split in files}


def _instances(path: Path, split: str) -> pl.DataFrame:
    """Return the instances of a file; one of the training split may be a file of WiC."""
    is_of_wic = split == "train" and path.name.endswith(_DATA)
    return read_wic(path) if is_of_wic else checked_terms(path, read_instances(path))


def _folded_rounds(benchmark: pl.DataFrame, order: Rows, seed: int) -> tuple[Round, ...]:
    """Return a round per fold; the next fold is held back.

    Rows after the rows of ``benchmark`` are not in a fold, but in the training data of every round.
    """
    folds = np.full(len(order), -1, np.int32)
    folds[: benchmark.height] = folds_of(benchmark, seed)
    fold_of = folds[order]
    n_folds = int(fold_of.max()) + 1
    if n_folds < 3:  # noqa: PLR2004 — for fitting, for the threshold, for testing
        raise InputError(
            "the instances cannot be split into three folds that share no sentence or pair of "
            "terms; give files with `train` and `dev`"
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


def _description(splits: Collection[str], n_folds: int, more: Sequence[str]) -> str:
    """Return a description of the data for fitting models and choosing thresholds."""
    if n_folds:
        return " and ".join([f"cross-fitted in {n_folds} folds", *more])
    train = [*(["train"] if "train" in splits else []), *more]
    texts = [f"models fitted on {' and '.join(train)}"] if train else []
    texts += ["thresholds chosen on dev"] if "dev" in splits else []
    return ", ".join(texts) or "nothing fitted"


def folds_of(instances: pl.DataFrame, seed: int, n_folds: int = N_FOLDS) -> Ids:
    """Return the fold of each instance, from 0: int32[n_instances].

    Instances of one of ``linked_components`` stay together. Components are placed from the largest
    on, in the smallest fold so far. Those of equal size are placed in an order drawn from their
    content, so folds do not depend on the order of instances. There are fewer than ``n_folds`` if
    there are fewer components.
    """
    numbers, component_of = np.unique(linked_components(instances), return_inverse=True)
    sizes = np.bincount(component_of)
    keys = np.full(len(numbers), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(keys, component_of, drawn_order(instances, seed))
    loads = np.zeros(min(n_folds, len(numbers)), np.int64)
    fold_of = np.empty(len(numbers), np.int32)
    for component in np.lexsort((keys, -sizes)):
        fold_of[component] = np.argmin(loads)
        loads[fold_of[component]] += sizes[component]
    return fold_of[component_of]


def linked_components(instances: pl.DataFrame) -> Ids:
    """Return the connected component of each instance, by its first instance: int32[n_instances].

    Two instances are linked if they share a sentence, or both terms ignoring case and sides.
    """
    nodes: dict[tuple[str, ...], int] = {}
    left: list[int] = []
    right: list[int] = []
    names = ("term1", "term2", "sentence1", "sentence2")
    for row, (term1, term2, sentence1, sentence2) in enumerate(instances.select(names).iter_rows()):
        for key in (term_pair(term1, term2), (sentence1,), (sentence2,)):
            left.append(row)
            right.append(instances.height + nodes.setdefault(key, len(nodes)))
    component_of = components(
        instances.height + len(nodes), np.array(left, np.int32), np.array(right, np.int32)
    )
    return component_of[: instances.height]


def read_wic(path: Path) -> pl.DataFrame:
    """Return the instances of a file of WiC, such as train.data.txt: ``WIC_COLUMNS``.

    A line has a word, its part of speech, its positions in both sentences, counted in tokens from
    0, and the sentences, separated by tabs (Pilehvar and Camacho-Collados, NAACL 2019). The labels,
    T or F, are the lines of the file beside it, train.gold.txt. Terms are the words as written in
    the sentences; cat is null.

    Raises:
        InputError: a file is missing or a line is invalid; the message names the line.
    """
    gold = path.with_name(path.name.removesuffix(_DATA) + _GOLD)
    with reading(path, "instances of WiC"):
        lines, labels = _lines(path), _lines(gold)
        if len(lines) != len(labels):
            raise InputError(
                f"{path} has {len(lines):,} lines and {gold} has {len(labels):,}; expected a label "
                "for each instance"
            )
        rows = []
        for number, (line, label) in enumerate(zip(lines, labels, strict=True), start=1):
            if label.strip() not in _LABELS:
                raise InputError(f"{gold}: line {number} is {label[:20]!r}, not T or F")
            sides = _sides(f"{path}: line {number}", line)
            rows.append({**sides, "label": _LABELS[label.strip()]})
        return pl.DataFrame(rows, schema=WIC_COLUMNS)


def _lines(path: Path) -> list[str]:
    """Return the lines of a file, without blank lines at the end."""
    return read_text(path, guess=False).content.replace("\r\n", "\n").rstrip().split("\n")


def _sides(where: str, line: str) -> dict[str, object]:
    """Return sentences, terms and offsets of a line."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise InputError(
            f"{where} is {line[:60]!r}; expected word, part of speech, places such as 3-1, and two "
            "sentences, separated by tabs"
        )
    row: dict[str, object] = {}
    for side in (1, 2):
        sentence, position = match[side + 2], int(match[side])
        tokens = list(_TOKEN.finditer(sentence))
        if position >= len(tokens):
            raise InputError(f"{where}: sentence {side} has no token {position}, counted from 0")
        token = tokens[position]
        row |= {f"sentence{side}": sentence, f"term{side}": token[0]}
        row |= {f"start{side}": token.start(), f"end{side}": token.end()}
    return row


def coin_flips(instances: pl.DataFrame, seed: int) -> Flags:
    """Return a random answer to each instance, ``WIC_COLUMNS``: bool[n_instances]."""
    flips: Flags = tie_hashes(np.uint64(seed), _COINS, _hashes(instances)) & np.uint64(1) == 1
    return flips


def drawn_order(instances: pl.DataFrame, seed: int) -> Hashes:
    """Return a hash of each instance to order instances by: uint64[n_instances]."""
    return tie_hashes(np.uint64(seed), _ORDER, _hashes(instances))


def _hashes(instances: pl.DataFrame) -> Hashes:
    return content_hashes(instances.select(pl.concat_str(IDENTITY, separator="\n")).to_series())
