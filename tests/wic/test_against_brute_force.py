"""Instances and splits equal a comparison of every sentence with every other."""

import polars as pl
import pytest
from fixtures.words_in_context import invented, put_tables
from oracles.wic import candidates_of, mentions_of, splits_of

from medsim.core.store import Store
from medsim.corpora import CORPUS_SPLITS
from medsim.wic import GROUPS
from medsim.wic.mentions import chosen_mentions, forms_with_relations, mention_hashes
from medsim.wic.rules import QUOTAS
from medsim.wic.splits import Splitter, blocks_of

Instances = dict[str, list[tuple[frozenset[str], str, int]]]


def instances_of(rows, terminology, seed: int, **limits: int) -> Instances:
    """Return the instances of every split: their sentences, group and label, in their order."""
    splitter, mentions = splitter_of(rows, terminology, seed, **limits)
    sentences = mentions["sentence"].to_list()
    return {
        name: [
            (frozenset(sentences[row] for row in pair), GROUPS[group], label)
            for *pair, group, label in split.select(
                "mention1", "mention2", "group", "label"
            ).iter_rows()
        ]
        for name, split in splitter.split().items()
    }


def splitter_of(
    rows, terminology, seed: int, *, threads: int = 1, max_train: int = 1 << 40, max_repeats=100
) -> tuple[Splitter, pl.DataFrame]:
    """Return a splitter of invented sentences, and their mentions."""
    with Store(threads=threads) as store:
        put_tables(store, rows, terminology)
        store.run("terminologies/cited_code", vocabulary=terminology.vocabulary)
        store.run("wic/linked_mention")
        mentions = chosen_mentions(store.table("linked_mention"), seed)
        forms = forms_with_relations(store, mentions, "en", terminology.vocabulary, "direct")
        blocks = blocks_of(store, mentions, forms, threads=threads)
    splitter = Splitter(
        blocks=blocks,
        hashes=mention_hashes(mentions),
        seed=seed,
        quotas=QUOTAS["test"],
        max_train=max_train,
        max_repeats=max_repeats,
    )
    return splitter, mentions


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n_sentences"), [(0, 80), (2, 160), (4, 400)])
def test_splits_equal_those_of_all_pairs_compared(seed: int, n_sentences: int) -> None:
    rows, terminology = invented(seed, n_sentences)
    mentions = mentions_of(rows, terminology, seed)
    expected = splits_of(candidates_of(mentions, terminology, seed), QUOTAS["test"])
    splits = instances_of(rows, terminology, seed)
    assert {group for _, group, _ in splits["test"]} >= {"term_identity", "abbreviations"}
    for split in CORPUS_SPLITS:
        expected_rows = {(item.sentences, item.group, item.label) for item in expected[split]}
        assert len(splits[split]) == len(expected[split])
        assert set(splits[split]) == expected_rows


def test_every_split_of_an_invented_benchmark_has_every_group_with_both_labels() -> None:
    rows, terminology = invented(3, 1_500)
    splits = instances_of(rows, terminology, 3)
    for split in CORPUS_SPLITS:
        assert {(group, label) for _, group, label in splits[split]} == {
            (group, label) for group in GROUPS for label in (0, 1)
        }


def test_train_has_at_most_the_requested_size() -> None:
    rows, terminology = invented(2, 150)
    everything = instances_of(rows, terminology, 2)["train"]
    few = instances_of(rows, terminology, 2, max_train=3)["train"]
    for group in GROUPS:
        n_all = sum(row[1] == group for row in everything)
        assert sum(row[1] == group for row in few) == min(6, n_all)


@pytest.mark.parametrize("max_repeats", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_a_sentence_is_repeated_at_most_the_requested_times(max_repeats: int) -> None:
    rows, terminology = invented(1, 120)
    mentions = mentions_of(rows, terminology, 1)
    candidates = candidates_of(mentions, terminology, 1)
    expected = splits_of(candidates, QUOTAS["test"], max_repeats)

    splitter, linked = splitter_of(rows, terminology, 1)
    (train,) = splitter.trains([max_repeats])
    splits = instances_of(rows, terminology, 1, max_repeats=max_repeats)

    for split in CORPUS_SPLITS:
        expected_rows = {(item.sentences, item.group, item.label) for item in expected[split]}
        assert set(splits[split]) == expected_rows
    sentences = linked["sentence"].to_list()
    drawn = train.select("mention1", "mention2").iter_rows()
    pairs = {frozenset(sentences[row] for row in pair) for pair in drawn}
    assert pairs == {candidate.sentences for candidate in expected["train"]}
