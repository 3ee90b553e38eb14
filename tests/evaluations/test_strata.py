"""Parts of rated sets: which pairs they have, and their scores as separate sets."""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.embeddings import write_words
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import medsim
from medsim.core.errors import InputError
from medsim.evaluations.rated_parts import WordTable, strata_of
from medsim.evaluations.ratings import read_rated
from medsim.evaluations.readable import readable_tables
from medsim.evaluations.sets import parts_of_sets, sort_parts, whole_sets
from medsim.statistics.strata import Stratification, equal_part_starts

WORDS = [f"word{number}" for number in range(40)]


def bin_of(count: float | None, begins: list[int]) -> str | None:
    """Return the bin of a count, found by trying all."""
    if count is None:
        return None
    for low, high in pairwise([*begins, None]):
        if low <= count and (high is None or count < high):
            last = None if high is None else high - 1
            return f"{low}+" if last is None else str(low) if last == low else f"{low}-{last}"
    return None


def rated_file(folder: Path, header: str, *lines: str):
    text = "\n".join([f"term1,term2,rating{header}", *lines])
    (folder / "pairs.csv").write_text(text + "\n", encoding="utf-8")
    return read_rated(folder / "pairs.csv")


def parts_of(*arguments: Any) -> dict[str, list[int]]:
    members = defaultdict(list)
    for row, part, value in strata_of(*arguments)[0].iter_rows():
        members[f"{part}={value}"].append(row)
    return {part: sorted(rows) for part, rows in members.items()}


counts = st.one_of(st.none(), st.integers(0, 12), st.integers(0, 10**9), st.floats(0, 30))


@given(
    st.lists(st.tuples(counts, counts), min_size=1, max_size=12),
    st.lists(st.integers(1, 40), max_size=5, unique=True).map(sorted),
)
def test_a_pair_is_in_a_bin_of_counts_if_both_words_are(
    tmp_path_factory: pytest.TempPathFactory, pairs: list, bins: list[int]
) -> None:
    cells = [tuple("" if number is None else repr(number) for number in pair) for pair in pairs]
    lines = [f"a{n},b{n},{n},{first},{second}" for n, (first, second) in enumerate(cells)]
    file = rated_file(tmp_path_factory.getbasetemp(), ",count1,count2", *lines)

    arguments = file, Stratification(bins=tuple(bins))

    begins = bins or [10**power for power in range(12)]
    expected = defaultdict(list)
    for row, pair in enumerate(pairs):
        first, second = (bin_of(count, begins) for count in pair)
        if first is not None and first == second:
            expected[f"count={first}"].append(row)
    assert parts_of(*arguments) == expected
    n_none = len(pairs) - sum(map(len, expected.values()))
    warnings = strata_of(*arguments)[1]
    assert [line.split()[0] for line in warnings] == ([str(n_none)] if n_none else [])


def sizes_of(pairs: list, begins: list[float]) -> list[int]:
    """Return how many pairs have both values in each part, by trying all."""
    ends = [*begins[1:], float("inf")]
    return [
        sum(all(begin <= value < end for value in pair) for pair in pairs)
        for begin, end in zip(begins, ends, strict=True)
    ]


small = st.one_of(st.none(), st.integers(0, 7), st.sampled_from([0.5, 2.5]))


@given(st.lists(st.tuples(small, small), max_size=12), st.integers(1, 4))
def test_the_smallest_equal_part_has_as_many_pairs_as_possible(pairs: list, n_parts: int) -> None:
    sides = [pl.Series([pair[at] for pair in pairs], dtype=pl.Float64) for at in (0, 1)]

    starts = equal_part_starts(*sides, n_parts)

    whole = [pair for pair in pairs if None not in pair and min(pair) > 0]
    values = sorted({value for pair in whole for value in pair})
    best = {
        n: max((min(sizes_of(whole, list(cut))) for cut in combinations(values, n)), default=0)
        for n in range(1, n_parts + 1)
    }
    possible = max((n for n in best if best[n]), default=0)
    assert len(starts) == possible
    if possible:
        assert min(sizes_of(whole, starts)) == best[possible]


def test_equal_parts_have_similar_sizes_and_are_named_by_their_limits(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    counts = draw.lognormal(6, 2, 600).astype(int)[:, None] + draw.integers(0, 5, (600, 2)) + 1
    lines = [f"a{n},b{n},{n},{i},{j},{i % 9},7" for n, (i, j) in enumerate(counts)]
    file = rated_file(tmp_path, ",count1,count2,topics1,topics2", *lines)

    parts, _ = strata_of(file, Stratification(equal_parts=3))

    of_counts = parts.filter(part="count")
    sizes = dict(of_counts.group_by("part_value").len().iter_rows())
    assert len(sizes) == 3
    assert min(sizes.values()) > 190
    for name in sizes:
        low, _, high = name.rstrip("+").partition("-")
        last = int(high) if high else math.inf
        rows = of_counts.filter(part_value=name)["row"].to_list()
        inside = [n for n, pair in enumerate(counts) if all(int(low) <= c <= last for c in pair)]
        assert rows == inside


def test_bins_are_in_ascending_order() -> None:
    names = ["a/count=10-99", "a/domain=x", "a/count=9", "a/count=100+", "a/count=2.5-<9"]
    frame = pl.DataFrame({"input": "one", "dataset": names})

    assert sort_parts(frame)["dataset"].to_list() == [
        *("a/count=2.5-<9", "a/count=9", "a/count=10-99", "a/count=100+", "a/domain=x")
    ]


LINES = ["a,b,1,1,1,general,true", "c,d,2,2,4,medical,no", "e,f,3,4,5,medical,no"]
LINES += ["g,h,4,5,90,,yes", "i,j,5,0,0,general,"]
PAIR_PARTS = {
    "domain=general": [0, 4],
    "domain=medical": [1, 2],
    "associated=yes": [0, 3],
    "associated=no": [1, 2],
}


@pytest.mark.parametrize(
    ("bins", "of_topics"),
    [
        ((), {"topics=1": [0], "topics=2-4": [1], "topics=5+": [3]}),
        ((1, 10, 40), {"topics=1-9": [0, 1, 2]}),
    ],
)
def test_topics_domains_and_associations_make_parts(tmp_path: Path, bins, of_topics) -> None:
    file = rated_file(tmp_path, ",topics1,topics2,domain,associated", *LINES)

    assert parts_of(file, Stratification(topic_bins=bins)) == of_topics | PAIR_PARTS
    _, (by_topics, *others) = strata_of(file, Stratification())
    assert by_topics.startswith("2 of 5 pairs left out of parts by topics: a word has no value, or")
    assert [warning.split(":")[0] for warning in others] == [
        f"1 of 5 pairs left out of parts by {name}" for name in ("domain", "associated")
    ]


@pytest.mark.parametrize(
    ("header", "lines", "words", "expected"),
    [
        (
            ",count1,count2,domain",
            ["Heart,HEART failure,1,5,5,a", "heart,lung,2,50,50,a", "lung,x,3,5,5,b"],
            {"word": ["heart", "lung", "heart failure"], "count": [20.0, 99.0, 11.0]},
            {"count=10-99": [0, 1], "domain=a": [0, 1], "domain=b": [2]},
        ),
        (
            "",
            ["a,b,1", "b,c,2", "c,d,3", "c,C,4"],
            {"word": ["a", "b", "c"], "domain": ["one", "one", "two"]},
            {"domain=one": [0], "domain=two": [3]},
        ),
        ("", ["a,b,1"], None, {}),
        (",count1,domain", ["hand,foot,4,5,body"], None, {"domain=body": [0]}),
    ],
    ids=["words before the file", "another domain", "nothing", "one word"],
)
def test_parts_use_properties_of_both_words(
    tmp_path: Path, header: str, lines: list[str], words, expected
) -> None:
    table = words and WordTable(name="words.csv", digest="0" * 64, frame=pl.DataFrame(words))

    assert parts_of(rated_file(tmp_path, header, *lines), Stratification(), table) == expected


def test_a_domain_with_too_many_values_is_refused(tmp_path: Path) -> None:
    file = rated_file(tmp_path, ",domain", *(f"a{n},b{n},{n},{n}" for n in range(21)))

    with pytest.raises(InputError, match="has 21 domains, but at most 20 are allowed"):
        strata_of(file, Stratification())


# From end to end


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a rated file, a table of words, and two embeddings."""
    folder = tmp_path_factory.mktemp("parts")
    draw = np.random.default_rng(7)
    pairs = [draw.choice(40, 2, replace=False) for _ in range(90)]
    lines = [
        f"{WORDS[a]},{WORDS[b]},{draw.integers(7)},{'constant' if n < 8 else 'varied'}"
        for n, (a, b) in enumerate(pairs)
    ]
    lines = [line.replace(f",{line.split(',')[2]},c", ",3,c") for line in lines]
    head = "term1,term2,rating,domain"
    (folder / "rated.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    words = [f"{word},{(1, 4, 20, 300)[n % 4]}" for n, word in enumerate(WORDS) if n % 9]
    (folder / "words.csv").write_text("\n".join(["word,count", *words]) + "\n", encoding="utf-8")
    write_words(folder / "one.vec", WORDS[1:], 1)
    write_words(folder / "two.vec", WORDS[:-1], 2)
    return folder


def run(data: Path, out: Path, **options) -> medsim.Evaluation:
    defaults = {"inputs": data / "rated.csv", "metrics": ["avg_cos", "max_jaccard"]}
    embeddings = {name: data / f"{name}.vec" for name in ("one", "two")}
    return medsim.evaluate(embeddings=embeddings, out=out, resamples=100, **(defaults | options))


@pytest.fixture(scope="module")
def divided(data: Path) -> medsim.Evaluation:
    return run(data, data / "cut", words=data / "words.csv")


def test_parts_are_scored_on_their_own_pairs(data: Path, divided: medsim.Evaluation) -> None:
    count = dict(pl.read_csv(data / "words.csv").iter_rows())
    scores = divided.scores().filter(embedding="one", metric="avg_cos").collect()
    pairs = divided.pairs().collect().filter(dataset="rating").join(scores, on="pair_id")
    of_one = divided.results().filter(subset="own", embedding="one", metric="avg_cos")
    n_seen = 0
    for name, low, high in (("1-9", 1, 9), ("10-99", 10, 99), ("100-999", 100, 999)):
        rows = of_one.filter(dataset=f"rating/count={name}", statistic="spearman")
        both = [
            (row["similarity"], row["rating"])
            for row in pairs.iter_rows(named=True)
            if all(low <= count.get(row[side], 0) <= high for side in ("term1", "term2"))
        ]
        covered = [pair for pair in both if pair[0] is not None]
        n_seen += len(both)
        assert rows["n_pairs"].to_list() == [len(both)]
        assert rows["n_covered"].to_list() == [len(covered)]
        expected = stats.spearmanr(*zip(*covered, strict=True)).statistic
        assert rows["value"].to_list() == pytest.approx([expected])
        assert rows["low"].item() <= expected <= rows["high"].item()
        assert "words.csv@" in rows["signature"].item()
    assert 25 < n_seen < pairs.height


def test_constant_ratings_of_a_part_have_no_correlation(divided: medsim.Evaluation) -> None:
    constant = divided.results().filter(dataset="rating/domain=constant")

    assert constant["n_pairs"].unique().to_list() == [8]
    assert constant["value"].null_count() == constant.height > 0
    assert divided.comparisons().filter(dataset="rating/domain=constant")["p"].is_null().all()


def test_parts_do_not_change_the_scores_of_whole_sets(
    data: Path, divided: medsim.Evaluation
) -> None:
    (data / "plain").mkdir()
    text = (data / "rated.csv").read_text(encoding="utf-8")
    (data / "plain" / "rated.csv").write_bytes(text.replace("domain", "of").encode())
    plain = run(data, data / "plain" / "results", inputs=data / "plain" / "rated.csv")

    assert parts_of_sets(plain.results()).is_empty()
    for name in ("results", "comparisons", "coverage"):
        whole, expected = (getattr(evaluation, name)() for evaluation in (divided, plain))
        columns = [column for column in whole.columns if column != "signature"]
        assert whole_sets(whole).select(columns).equals(expected.select(columns)), name
    for name in ("best", "all-spearman", "coverage", "overlap"):
        assert medsim.compare(divided, name).equals(medsim.compare(plain, name)), name
    with pytest.raises(InputError, match="evaluate with `words`"):
        medsim.compare(plain, "parts")


def test_the_table_of_parts_has_only_parts_with_intervals(divided: medsim.Evaluation) -> None:
    rows = medsim.compare(divided, "parts")

    assert rows["dataset"].unique().sort().to_list() == [
        *(f"rating/count={name}" for name in ("1-9", "10-99", "100-999")),
        "rating/domain=constant",
        "rating/domain=varied",
    ]
    values = rows.drop_nulls("value")
    assert values["low"].is_not_null().equals(values["n_pairs"] >= 3)
    assert values["n_pairs"].min() < 3
    cells = readable_tables(rows)[0].filter(dataset="rating/domain=varied")["one"].item()
    cell = cells.replace("\N{MINUS SIGN}", "")
    assert re.match(r"\d\.\d{3} \[\d\.\d{3}, \d\.\d{3}\] ", cell)
    n_common = divided.coverage().select("dataset", "n_pairs_common").unique()
    assert dict(rows.select("dataset", "n_pairs").iter_rows()) == dict(
        parts_of_sets(n_common).iter_rows()
    )


def test_the_report_has_a_section_for_parts(divided: medsim.Evaluation) -> None:
    pytest.importorskip("altair", reason="needs medsim[report]")
    from medsim.evaluations.detail_sections import evaluation_data
    from medsim.evaluations.page import evaluation_page

    profile = evaluation_data(divided)

    for frame in (profile.results, profile.comparisons, profile.coverage):
        assert frame["dataset"].unique().to_list() == ["rating"]
    page = evaluation_page(divided.manifest, profile)
    (table,) = {section.title: section for section in page.sections}["By subset"].parts
    assert table.frame["dataset"].str.starts_with("rating/").all()
    assert table.frame.height == profile.parts.drop_nulls("value").height > 4


def test_new_words_change_parts_without_computing_similarities_again(data: Path) -> None:
    first = run(data, data / "again")
    assert first.manifest.inputs["rated"]["parts"] == {"words": None, "bins": None}
    progress = medsim.Progress()
    messages: list[str] = []
    progress.say = messages.append  # type: ignore[method-assign]

    second = run(data, data / "again", words=data / "words.csv", bins=[1, 5], progress=progress)

    assert {"one was evaluated before", "two was evaluated before"} <= set(messages)
    parts = second.manifest.inputs["rated"]["parts"]
    assert (parts["words"]["name"], parts["bins"]) == ("words.csv", [1, 5])
    names = parts_of_sets(second.results())["dataset"].unique().sort().to_list()
    assert [name for name in names if "count" in name] == ["rating/count=1-4", "rating/count=5+"]
    third = run(data, data / "again")
    assert third.manifest.inputs["rated"]["parts"] == {"words": None, "bins": None}
    assert third.results().filter(pl.col("dataset").str.contains("count")).is_empty()
    assert json.loads((data / "again" / "manifest.json").read_text())["inputs"]["rated"]["parts"]


def test_equal_parts_are_recorded_in_manifest_and_signature(data: Path) -> None:
    equal = run(data, data / "equal", words=data / "words.csv", equal_parts=2)

    parts = equal.manifest.inputs["rated"]["parts"]
    assert (parts["equal_parts"], parts["bins"]) == (2, None)
    assert equal.results()["signature"].str.contains(", 2 equal parts, ").all()
    sizes = equal.results().filter(pl.col("dataset").str.contains("count="))["dataset"].n_unique()
    assert sizes == 2
    again = run(data, data / "equal", words=data / "words.csv")
    assert "equal_parts" not in again.manifest.inputs["rated"]["parts"]
    assert not again.results()["signature"].str.contains("equal").any()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"equal_parts": 3}, "`equal_parts` needs word counts or topics .*; add `words`"),
        ({"equal_parts": 1}, "`equal_parts` 1 is out of range"),
        ({"equal_parts": 3, "topic_bins": [1, 2]}, "`equal_parts` replaces `bins`"),
        ({"topic_bins": [1, 9]}, "`topic_bins` needs numbers of topics"),
        ({"bins": [1, 10]}, "`bins` needs word counts"),
        ({"bins": [10, 1]}, "`bins` 10,1 must be ascending counts from 1"),
        ({"bins": [0, 5]}, "`bins` 0,5 must be ascending counts from 1"),
        *(
            ({"bins": text.split(",")}, "must be ascending")
            for text in ("5,x", "5,,6", "-1", "1.5")
        ),
        ({"words": "nowhere.csv"}, "nowhere.csv cannot be read"),
    ],
)
def test_invalid_options_for_parts_are_refused(data: Path, tmp_path: Path, options, says) -> None:
    with pytest.raises(medsim.MedsimError, match=says):
        run(data, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
