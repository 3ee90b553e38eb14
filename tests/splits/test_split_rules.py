"""Splits by category, and splits of concepts that are new since an earlier release."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from fixtures.release import Release
from fixtures.umls import random_metathesaurus
from oracles.splits import crossings, groups, names, split_of

import medsim
from medsim.core.errors import OptionError, OutputError
from medsim.splits.split import deal_categories

pytestmark = pytest.mark.slow

SHARES = {"train": Fraction(6, 10), "validation": Fraction(2, 10), "test": Fraction(2, 10)}


@pytest.fixture(scope="module")
def umls_build(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    folder = tmp_path_factory.mktemp("umls")
    umls = random_metathesaurus(7, 60)
    umls.relations = [row for row in umls.relations if "|SY|" not in row]  # SY links nearly all
    return medsim.build(
        umls.write(folder / "umls"), folder / "build", negatives=["random"], threads=1
    )


def folders(splits: medsim.Splits) -> dict[str, Path]:
    return {name: build.folder for name, build in splits.builds.items()}


def categories_of(build: medsim.Build) -> dict[str, str]:
    """Return the most frequent category of each group's concepts, with ties by name."""
    tags = dict(build.table("concept").select("concept_id", "semantic_tag").collect().iter_rows())
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for concept, group in groups(build.folder, "random").items():
        if tags.get(concept):
            counts[group][tags[concept]] += 1
    return {
        group: min(n_tags, key=lambda tag: (-n_tags[tag], tag)) for group, n_tags in counts.items()
    }


@pytest.mark.full
def test_a_category_is_in_one_split(umls_build: medsim.Build, tmp_path: Path) -> None:
    splits = medsim.split(umls_build, tmp_path / "out", by="category", ratios="60/20/20", threads=1)

    by_group = dict(splits.read("concepts.parquet").select("group_id", "split").iter_rows())
    split_of_category = defaultdict(set)
    for group, category in categories_of(umls_build).items():
        split_of_category[category].add(by_group[group])
    assert {len(splits_of_tag) for splits_of_tag in split_of_category.values()} == {1}
    dealt = splits.manifest.rule["categories"]
    assert dealt == {  # type: ignore[comparison-overlap]
        name: sorted(tag for tag, (split,) in split_of_category.items() if split == name)
        for name in splits.names
    }
    assert crossings(folders(splits), "random") == []
    assert medsim.verify(splits, build=umls_build).holds


def test_named_categories_are_the_test_split(umls_build: medsim.Build, tmp_path: Path) -> None:
    splits = medsim.split(
        umls_build,
        tmp_path / "out",
        by="category",
        test_categories=["Finding"],
        ratios="1/1",
        threads=1,
    )

    assert splits.manifest.rule["categories"] == {
        "train": ["Disease or Syndrome", "Neoplastic Process"],
        "test": ["Finding"],
    }
    with pytest.raises(OptionError, match="unknown category 'finding'; did you mean Finding"):
        medsim.split(umls_build, tmp_path / "2", by="category", test_categories=["finding"])


DEALT = [
    ({"a": 60, "b": 20, "c": 20}, [], {"train": ["a"], "validation": ["b"], "test": ["c"]}),
    ({"a": 50, "b": 30, "c": 20}, [], {"train": ["a"], "validation": ["b"], "test": ["c"]}),
    ({"a": 40, "b": 35, "c": 25}, [], {"train": ["a"], "validation": ["b"], "test": ["c"]}),
    ({"a": 30, "b": 25, "c": 25, "d": 10, "e": 10}, [], None),
    ({"a": 70, "b": 20, "c": 10}, ["a"], {"train": ["b"], "validation": ["c"], "test": ["a"]}),
    ({"a": 70, "b": 20, "": 10}, ["a", "b"], {"train": [""], "validation": [], "test": ["a", "b"]}),
]


@pytest.mark.parametrize(("sizes", "of_test", "expected"), DEALT)
def test_the_largest_category_goes_to_the_neediest_split(
    sizes: dict[str, int], of_test: list[str], expected: dict[str, list[str]] | None
) -> None:
    dealt = deal_categories(sizes, SHARES, of_test, seed=0)

    assert sorted(name for names in dealt.values() for name in names) == sorted(sizes)
    if expected is not None:
        if sizes.get("b") == sizes.get("c"):  # a hash says which is first
            assert dealt["train"] == expected["train"]
        else:
            assert dealt == expected
    results = [deal_categories(sizes, SHARES, of_test, seed=seed) for seed in range(20)]
    ties = len(set(sizes.values())) < len(sizes)
    assert (len({str(result) for result in results}) > 1) == ties


def test_a_terminology_without_categories_is_rejected(tmp_path: Path) -> None:
    release = Release()
    release.named("700001", "Kamu lero", "Bine tolu")
    path = release.write_zip(tmp_path / "release.zip", "Snapshot")
    build = medsim.build(path, tmp_path / "build", negatives=["random"], threads=1)
    with pytest.raises(OptionError, match=r"has no categories \(semantic tags\) to split"):
        medsim.split(build, tmp_path / "out", by="category")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_categories": ["finding"]}, "`test_categories` needs `by` category"),
        ({"since": "old"}, "`by` release and `since` need each other"),
        ({"by": "release"}, "`by` release and `since` need each other"),
        ({"by": "chance"}, "unknown rule 'chance'"),
    ],
)
def test_conflicting_rules_are_rejected(
    options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=message):
        medsim.split(tmp_path, tmp_path / "out", **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[medsim.Build, medsim.Build]:
    """Builds of two releases: of 16 concepts 6 are new, one of them with an old name."""
    folder = tmp_path_factory.mktemp("releases")
    release = Release()
    for number in range(16):
        late = number >= 10
        release.named(
            str(700001 + number),
            f"Kamu {'lero' * (number + 1)}",
            f"Bine {'tolu' * (number + 1)}",
            time="20210131" if late else "20200131",
        )
    release.description("700011", "KAMU lero", "synonym", time="20210131")  # a name of 700001
    release.description("700002", "Sela mabo", "synonym", time="20210131")  # a new name of an old
    path = release.write_zip(folder / "release.zip")
    return tuple(  # type: ignore[return-value]
        medsim.build(
            path, folder / str(year), as_of=date(year, 1, 31), negatives=["random"], threads=1
        )
        for year in (2020, 2021)
    )


@pytest.fixture(scope="module")
def since_earlier(releases: tuple[medsim.Build, medsim.Build]) -> medsim.Splits:
    earlier, later = releases
    out = earlier.folder.parent / "splits"
    return medsim.split(later, out, by="release", since=earlier, threads=1)


@pytest.mark.full
def test_new_concepts_since_a_release_are_the_test_split(
    releases: tuple[medsim.Build, medsim.Build], since_earlier: medsim.Splits
) -> None:
    (earlier, later), splits = releases, since_earlier

    earlier_ids = {concept for concept, _ in names(earlier.folder)}
    old_terms = {term for _, term in names(earlier.folder)}
    group_of = groups(later.folder, "random")
    old = {group for concept, group in group_of.items() if concept in earlier_ids}
    old |= {group_of[concept] for concept, term in names(later.folder) if term in old_terms}
    bounds = {"train": 8 / 9, "validation": 1}
    expected = {
        group: split_of(group, 0, bounds) if group in old else "test"
        for group in set(group_of.values())
    }
    by_group = dict(splits.read("concepts.parquet").select("group_id", "split").iter_rows())
    assert by_group == expected
    assert Counter(expected.values())["test"] == 5
    rule = splits.manifest.rule
    assert (rule["n_new_groups"], rule["n_mixed_groups"]) == (5, 2)
    assert medsim.verify(splits, build=later).holds


@pytest.mark.full
def test_a_source_of_an_earlier_release_is_built_first(
    releases: tuple[medsim.Build, medsim.Build], since_earlier: medsim.Splits, tmp_path: Path
) -> None:
    (earlier, later), expected = releases, since_earlier
    release, source = earlier.folder.parent / "release.zip", tmp_path / "earlier.zip"
    medsim.convert(release, source, as_of=date(2020, 1, 31))

    splits = medsim.split(later, tmp_path / "out", by="release", since=source, threads=1)

    for table in ("concepts.parquet", "stats.parquet"):
        assert splits.read(table).equals(expected.read(table))
    assert splits.manifest.rule == expected.manifest.rule | {"since": str(source)}
    assert medsim.verify(splits, build=later).holds
    with pytest.raises(OutputError, match="is an input"):
        medsim.split(later, source, by="release", since=source)


def test_a_build_that_is_not_earlier_is_rejected(
    releases: tuple[medsim.Build, medsim.Build], umls_build: medsim.Build, tmp_path: Path
) -> None:
    earlier, later = releases
    for since, message in (
        (later, "is not an earlier release"),
        (umls_build, "is not an earlier release of the terminology and language"),
    ):
        with pytest.raises(OptionError, match=message):
            medsim.split(earlier, tmp_path / "out", by="release", since=since)
