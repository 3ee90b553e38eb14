"""Instances and their splits are those of comparing every sentence with every other."""

import polars as pl
import pytest
from fixtures.words_in_context import invented, put_tables
from oracles.wic import candidates_of, mentions_of, splits_of

from medsim.core.store import Store
from medsim.wic import GROUPS, SPLITS
from medsim.wic.candidates import candidate_blocks
from medsim.wic.mentions import chosen_mentions, content_hashes
from medsim.wic.rules import QUOTAS
from medsim.wic.splits import Splitter

Found = dict[str, list[tuple[frozenset[str], str, int]]]


def made(rows, terminology, seed: int, **limits: int) -> Found:
    """Return the instances of every split: their sentences, group and label, in their order."""
    splitter, mentions = splitter_of(rows, terminology, seed, **limits)
    sentences = mentions["sentence"].to_list()
    return {
        name: [
            (frozenset(sentences[row] for row in pair), GROUPS[group], int(label))
            for pair, group, label in zip(
                split.drawn.mentions, split.groups, split.labels, strict=True
            )
        ]
        for name, split in splitter.split().items()
    }


def splitter_of(
    rows, terminology, seed: int, *, threads: int = 1, most_train: int = 1 << 40, most_repeats=100
) -> tuple[Splitter, pl.DataFrame]:
    """Return what makes splits, and the mentions that they are made of."""
    with Store(threads=threads) as store:
        put_tables(store, rows, terminology)
        store.run("wic/cited_code", vocabulary=terminology.vocabulary)
        store.run("wic/linked_mention")
        mentions = chosen_mentions(store.table("linked_mention"), seed)
        blocks = candidate_blocks(
            store,
            mentions,
            language="en",
            vocabulary=terminology.vocabulary,
            any_depth=False,
            threads=threads,
        )
    splitter = Splitter(
        blocks=blocks,
        hashes=content_hashes(mentions),
        seed=seed,
        quotas=QUOTAS["test"],
        most_train=most_train,
        most_repeats=most_repeats,
    )
    return splitter, mentions


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n_sentences"), [(0, 80), (2, 160), (4, 400)])
def test_splits_are_those_of_comparing_all_with_all(seed: int, n_sentences: int) -> None:
    rows, terminology = invented(seed, n_sentences)
    mentions = mentions_of(rows, terminology, seed)
    expected = splits_of(candidates_of(mentions, terminology, seed), QUOTAS["test"])
    found = made(rows, terminology, seed)
    assert {group for _, group, _ in found["test"]} >= {"term_identity", "abbreviations"}
    for split in SPLITS:
        own = {(one.sentences, one.group, one.label) for one in expected[split]}
        assert len(found[split]) == len(expected[split])
        assert set(found[split]) == own


def test_every_split_of_an_invented_benchmark_has_every_group_with_both_labels() -> None:
    rows, terminology = invented(3, 1_500)
    found = made(rows, terminology, 3)
    for split in SPLITS:
        assert {(group, label) for _, group, label in found[split]} == {
            (group, label) for group in GROUPS for label in (0, 1)
        }


def test_train_has_at_most_what_is_asked_for() -> None:
    rows, terminology = invented(2, 150)
    everything = made(rows, terminology, 2)["train"]
    few = made(rows, terminology, 2, most_train=3)["train"]
    for group in GROUPS:
        n_all = sum(one[1] == group for one in everything)
        assert sum(one[1] == group for one in few) == min(6, n_all)


@pytest.mark.parametrize("most_repeats", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_sentence_is_repeated_as_often_as_is_asked_for(most_repeats: int) -> None:
    rows, terminology = invented(1, 120)
    mentions = mentions_of(rows, terminology, 1)
    candidates = candidates_of(mentions, terminology, 1)
    expected = splits_of(candidates, QUOTAS["test"], most_repeats)

    splitter, linked = splitter_of(rows, terminology, 1)
    (train,) = splitter.trains([most_repeats])
    splits = made(rows, terminology, 1, most_repeats=most_repeats)

    for split in SPLITS:
        own = {(one.sentences, one.group, one.label) for one in expected[split]}
        assert set(splits[split]) == own
    sentences = linked["sentence"].to_list()
    pairs = {frozenset(sentences[row] for row in pair) for pair in train.mentions}
    assert pairs == {one.sentences for one in expected["train"]}
