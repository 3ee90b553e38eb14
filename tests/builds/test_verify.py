"""Verification finds changes, even if the manifest was changed too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fixtures.builds import alter, first_replaced, nearest_made_far, row_replaced, run, tampered
from fixtures.disks import disk_that_is_full_after
from fixtures.release import random_release
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.builds import positives
from medsim.builds import verify as verifying
from medsim.builds.options import SearchOptions, VerifyOptions
from medsim.builds.output import TERM
from medsim.builds.verify import statistics_agree, with_seed
from medsim.core.errors import MedsimError, OutputError
from medsim.core.options import Option, declared
from medsim.core.store import Store
from medsim.evaluations.separation import categories_of

pytestmark = pytest.mark.slow

FSN_SYN = "pairs/dataset=fsn_syn/difficulty=hard/negatives=levenshtein/data.parquet"
SYN_SYN = "pairs/dataset=syn_syn/difficulty=hard/negatives=levenshtein/data.parquet"
RANDOM = "pairs/dataset=syn_syn/difficulty=hard/negatives=random/data.parquet"


@pytest.fixture(scope="module")
def pristine(shared_build: medsim.Build) -> Path:
    return shared_build.folder


@pytest.fixture
def copy(pristine: Path, tmp_path: Path) -> Path:
    shutil.copytree(pristine, tmp_path / "copy")
    return tmp_path / "copy"


def one_row_altered(pairs: pl.DataFrame) -> pl.DataFrame:
    return first_replaced(pairs, 0, distance=pairs.filter(label=0)["distance"][0] + 1)


def nearest_replaced_by_farther(pairs: pl.DataFrame) -> pl.DataFrame:
    return nearest_made_far(pairs, "distance")


def one_duplicate(pairs: pl.DataFrame) -> pl.DataFrame:
    negatives = pairs.with_row_index().filter(pl.col("label") == 0)["index"]
    order = list(range(pairs.height))
    order[negatives[1]] = negatives[0]
    return pairs[order]


def one_linked_pair(pairs: pl.DataFrame) -> pl.DataFrame:
    positive = pairs.filter(label=1).row(0, named=True)
    negatives = pairs.with_row_index().filter(label=0, term1=positive["term1"])
    linked = {name: positive[name] for name in ("term2", "concept2")}
    return row_replaced(pairs, negatives["index"][0], **linked)


def one_positive_lost(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(pl.int_range(pairs.height) != pairs["label"].index_of(1))


def one_positive_relabelled(pairs: pl.DataFrame) -> pl.DataFrame:
    return first_replaced(pairs, 1, label=0)


def a_foreign_term(pairs: pl.DataFrame) -> pl.DataFrame:
    return first_replaced(pairs, 0, term2="Never a term")


CHANGES: dict[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame], set[str]]] = {
    "altered": (SYN_SYN, one_row_altered, {"rows", "stats"}),
    "farther": (FSN_SYN, nearest_replaced_by_farther, {"nearest", "rows"}),
    "duplicate": (SYN_SYN, one_duplicate, {"repeated_pair"}),
    "linked": (SYN_SYN, one_linked_pair, {"linked_negative", "repeated_pair"}),
    "lost": (SYN_SYN, one_positive_lost, {"positives"}),
    "relabelled": (SYN_SYN, one_positive_relabelled, {"positives", "linked_negative"}),
    "reordered": (SYN_SYN, pl.DataFrame.reverse, {"rows"}),
    "foreign": (RANDOM, a_foreign_term, {"foreign_term", "equal_terms", "random"}),
}


def test_an_unchanged_build_keeps_its_promises(pristine: Path) -> None:
    result = medsim.verify(pristine, sample="all")

    assert result.holds
    assert result.n_compared == result.n_first_terms == n_first_terms(pristine)
    assert result.outcome.endswith(
        f"all {result.n_first_terms} first terms were compared with all terms"
    )
    assert result.findings["violations"].sum() == 0
    assert result.findings.height >= 20


def n_first_terms(folder: Path) -> int:
    pairs = medsim.open(folder).pairs(negatives="levenshtein").filter(label=1)
    return pairs.select("dataset", "difficulty", "term1").unique().height


def allowed_terms(folder: Path, pairs: pl.DataFrame, first: str) -> pl.DataFrame:
    """Return the terms that could be negatives of a first term but are not, nearest first."""
    every = medsim.open(folder).pairs(negatives="levenshtein")
    paired = {*every.filter(term1=first)["term2"], *every.filter(term2=first)["term1"]}
    positives = pairs.filter(label=1)
    component = dict(pl.read_parquet(folder / TERM.files).select("term", "component").iter_rows())
    allowed = [
        (Levenshtein.distance(first.lower(), term.lower()), term)
        for term in {*positives["term1"], *positives["term2"]}
        if component[term] != component[first] and term not in paired
    ]
    return pl.DataFrame(sorted(allowed), ["distance", "term"], orient="row")


def tamper(folder: Path, kind: str) -> str:
    """Replace or remove one negative, so that only the search disagrees; return its first term."""
    pairs = pl.read_parquet(folder / SYN_SYN, hive_partitioning=False)
    at = pairs.with_row_index().filter(label=0).sort("term1", "distance").row(-1, named=True)
    allowed = allowed_terms(folder, pairs, at["term1"])
    if kind == "removed":
        tampered(folder, SYN_SYN, lambda rows: rows.filter(pl.int_range(pl.len()) != at["index"]))
        return str(at["term1"])
    farther = allowed.filter(pl.col("distance") > at["distance"])
    term = farther["term"][0 if kind == "next nearest" else -1]
    tampered(folder, SYN_SYN, lambda rows: row_replaced(rows, at["index"], term2=term))
    return str(at["term1"])


@pytest.mark.some(1)
@pytest.mark.parametrize("kind", ["next nearest", "farthest"])
def test_a_negative_that_is_not_the_nearest_is_found_if_all_are_compared(
    copy: Path, kind: str
) -> None:
    tamper(copy, kind)

    nothing, everything = (medsim.verify(copy, sample=sample, seed=1) for sample in (0, "all"))

    assert nothing.holds
    assert (nothing.n_compared, nothing.n_first_terms) == (0, n_first_terms(copy))
    assert "hold for a sample: the negatives of 0 of" in nothing.outcome
    assert everything.broken == ["nearest"]
    assert everything.findings.filter(check="nearest")["violations"].item() == 1


def test_a_removed_negative_is_found_with_any_sample(copy: Path) -> None:
    tamper(copy, "removed")

    result = medsim.verify(copy, sample=0)

    assert result.broken == ["nearest"]
    assert result.n_compared == 1


@pytest.mark.full
def test_the_sample_depends_on_the_seed(copy: Path) -> None:
    tamper(copy, "farthest")
    half = pl.read_parquet(copy / SYN_SYN).filter(label=1)["term1"].n_unique() // 2

    holds = {seed: medsim.verify(copy, sample=half, seed=seed).holds for seed in range(5, 9)}

    assert set(holds.values()) == {True, False}
    assert medsim.verify(copy, sample=half, seed=5).holds == holds[5]


def test_without_a_seed_each_sample_is_new() -> None:
    assert len({with_seed(VerifyOptions("build")).seed for _ in range(9)}) > 1


def test_a_shortfall_that_differs_from_the_statistics_is_found(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["shortfall"] += 1
    (copy / "manifest.json").write_text(json.dumps(manifest))

    assert medsim.verify(copy, sample=0).broken == ["stats"]


@pytest.mark.full
def test_the_command_takes_all_or_a_number_and_prints_what_it_compared(pristine: Path) -> None:
    n = n_first_terms(pristine)

    some = run("verify", pristine, "--sample", "0", "--seed", "7")
    every = run("verify", pristine, "--sample", "all")

    assert some.stderr.splitlines()[-1] == (
        f"all 23 guarantees hold for a sample: the negatives of 0 of {n:,} first terms were "
        "compared with all terms (seed 7); --sample all compares every first term"
    )
    assert every.stderr.splitlines()[-1] == (
        f"all 23 guarantees hold; all {n:,} first terms were compared with all terms"
    )
    refused = run("verify", pristine, "--sample", "most")
    assert refused.exit_code == 1
    assert refused.stderr == "error: unknown number of first terms 'most'; known: all\n"


@pytest.mark.some(3)
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found_even_if_the_manifest_was_changed_too(copy: Path, name: str) -> None:
    path, changed, expected = CHANGES[name]
    alter(copy, path, changed)

    broken = set(medsim.verify(copy, sample="all").broken)

    assert "fingerprint" not in broken
    assert expected <= broken


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (lambda folder: (folder / RANDOM).unlink(), "files"),
        (lambda folder: (folder / TERM.files).unlink(), "files"),
        (lambda folder: shutil.copy(folder / RANDOM, folder / "pairs" / "x.parquet"), "files"),
        (lambda folder: (folder / RANDOM).write_bytes(b"PAR1"), "columns"),
        (lambda folder: shutil.copy(folder / "stats.parquet", folder / RANDOM), "columns"),
    ],
)
def test_damaged_files_are_found(copy: Path, damage: Callable[[Path], object], check: str) -> None:
    damage(copy)

    assert check in medsim.verify(copy).broken


def test_a_description_changed_after_the_build_breaks_the_positives(copy: Path) -> None:
    used = pl.read_parquet(copy / FSN_SYN)["term2"][0]
    renamed = pl.col("term").replace({used: "Renamed since"})
    alter(copy, "terminology/description.parquet", lambda table: table.with_columns(renamed))

    assert "positives" in medsim.verify(copy, sample=0).broken


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "changed",
    [
        pl.DataFrame.reverse,
        lambda terms: terms.head(-1),
        lambda terms: terms.with_columns(component=pl.lit(0, pl.Int32)),
        lambda terms: terms.with_columns(difficulty=pl.lit("easy")),
    ],
)
def test_wrong_rows_of_terms_are_found(copy: Path, changed) -> None:
    alter(copy, TERM.files, changed)

    assert medsim.verify(copy, sample=0).broken == ["terms"]


STATS = pl.DataFrame({"dataset": ["d1", "d2"], "n": [3, 0], "mean": [1 / 3, None]})


def test_a_full_disk_is_not_called_damage(pristine: Path) -> None:
    with disk_that_is_full_after(2_000), pytest.raises(OutputError, match="cannot write"):
        medsim.verify(pristine, sample=1, threads=1)


def test_statistics_agree_up_to_rounding() -> None:
    assert statistics_agree(STATS.with_columns(pl.col("mean") * (1 + 1e-9)), STATS)


@pytest.mark.parametrize(
    "other",
    [
        STATS.with_columns(pl.col("mean") * 1.001),
        STATS.with_columns(pl.col("mean").fill_null(0.0)),
        STATS.with_columns(pl.lit(None, pl.Float64).alias("mean")),
        STATS.with_columns(pl.col("n") + 1),
        STATS.with_columns(pl.col("n").cast(pl.Int32)),
        STATS.reverse(),
        STATS.head(1),
        STATS.select("dataset", "mean", "n"),
    ],
)
def test_statistics_that_differ_do_not_agree(other: pl.DataFrame) -> None:
    assert not statistics_agree(other, STATS)


TEXTS = {"language": "sv", "dialect": "en-GB", "columns": "concept=1"}


def other_value(name: str, option: Option) -> object:
    """Return a value of an option that is not its default, as in manifests."""
    default = getattr(SearchOptions(), name)
    if isinstance(default, tuple):
        texts = default[1:] or option.choices or [TEXTS.get(name, "MSH")]
        return [next(text for text in texts if (text,) != default)]
    if option.choices:
        return next(choice for choice in option.choices if choice != default)
    if isinstance(default, bool):
        return not default
    if option.least is not None:
        return (default or 0) + 5
    return "2015-01-31" if name == "as_of" else TEXTS[name]


OTHERWISE = {
    option.key: other_value(name, option)
    for name, option in declared(SearchOptions).items()
    if option.key is not None
}
"""A value other than the default for each option that affects rows, by its key in manifests.

An option whose values are texts without choices needs a valid one in ``TEXTS``.
"""

CALLERS: dict[str, Callable[[Path], object]] = {
    "verify": medsim.verify,
    "split": lambda build: medsim.split(build, build.with_name("splits")),
    "split by release": lambda build: medsim.split(
        build.with_name("build"), build.with_name("splits"), by="release", since=build
    ),
    "categories": lambda build: categories_of(medsim.open(build), ["1", "2"], 1),
    "words": lambda build: positives.reload_names(medsim.open(build), Store(threads=1)),
    "joined words": lambda build: positives.node_components(
        medsim.open(build), Store(threads=1), threads=1
    ),
}
"""The functions that derive names from a build again."""


class DerivedError(MedsimError):
    """The names were derived with the other values of all options."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build whose manifest has other values for all options than the build was made with."""
    folder = tmp_path_factory.mktemp("deciding")
    random_release(5, 30).write_folder(folder / "release", "Snapshot")
    medsim.build(folder / "release", folder / "build", negatives=["random"])
    other = Path(shutil.copytree(folder / "build", folder / "other"))
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["options"] |= OTHERWISE
    (other / "manifest.json").write_text(json.dumps(manifest))
    return other


def test_every_option_that_affects_rows_has_another_value_here() -> None:
    usual = SearchOptions().recorded()
    keys = {option.key for option in declared(SearchOptions).values() if option.key is not None}
    assert keys == set(OTHERWISE)
    assert all(usual.get(key) != value for key, value in OTHERWISE.items())


@pytest.mark.parametrize("caller", CALLERS)
def test_options_that_affect_rows_reach_the_functions_that_derive_names(
    build: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    usual = positives.derive_names

    def derive(store: Store, options: SearchOptions, *, rf2_rules: bool) -> pl.DataFrame:
        if OTHERWISE.items() <= options.recorded().items():
            raise DerivedError
        return usual(store, options, rf2_rules=rf2_rules)

    monkeypatch.setattr(verifying, "_check_files", lambda _build: iter(()))
    monkeypatch.setattr("medsim.splits.split._check_earlier", lambda *_builds: None)
    monkeypatch.setattr(positives, "derive_names", derive)

    with pytest.raises(DerivedError):
        CALLERS[caller](build)
