"""Splits share no concept, term or pair, and have all positives and the nearest negatives."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from fixtures.builds import run
from fixtures.release import Release, random_release
from fixtures.umls import random_metathesaurus
from oracles.splits import crossings, groups, not_nearest, positives, split_of

import medsim
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.splits.options import SPLIT_NAMES, shares_of

BOUNDS = {"train": 0.6, "validation": 0.8, "test": 1.0}


def folders(splits: medsim.Splits) -> dict[str, Path]:
    return {name: build.folder for name, build in splits.builds.items()}


def rows_of(splits: medsim.Splits) -> dict[str, object]:
    """Return the fingerprints of all Parquet files."""
    outputs = splits.manifest.outputs.items()
    return {path: output.fingerprint for path, output in outputs if path.endswith(".parquet")}


def small_release(*pairs: tuple[str, str]) -> Release:
    """Return a release of concepts, each with a name and a synonym."""
    release = Release()
    for number, (fsn, synonym) in enumerate(pairs):
        release.named(str(700001 + number), fsn, synonym)
    return release


def built(release: Release, folder: Path, **options: object) -> medsim.Build:
    path = release.write_zip(folder / "release.zip", "Snapshot")
    options = {"negatives": ["random"], "threads": 1, **options}
    return medsim.build(path, folder / "build", **options)  # type: ignore[arg-type]


def test_splits_share_nothing_and_have_all_positives(
    shared_build: medsim.Build, shared_splits: medsim.Splits
) -> None:
    assert crossings(folders(shared_splits), "levenshtein") == []
    assert crossings(folders(shared_splits), "random") == []
    parts = [positives(folder, "random") for folder in folders(shared_splits).values()]
    assert sum(parts, Counter()) == positives(shared_build.folder, "random")
    assert all(parts)


def test_groups_follow_from_links_and_their_splits_from_hashes(
    shared_build: medsim.Build, shared_splits: medsim.Splits
) -> None:
    concepts = shared_splits.read("concepts.parquet")

    expected = groups(shared_build.folder, "levenshtein")
    assert dict(concepts.select("concept_id", "group_id").iter_rows()) == expected
    assert len(set(expected.values())) < len(expected)
    by_group = dict(concepts.select("group_id", "split").iter_rows())
    assert by_group == {group: split_of(group, 0, BOUNDS) for group in by_group}


def test_negatives_are_the_nearest_within_their_split(shared_splits: medsim.Splits) -> None:
    for folder in folders(shared_splits).values():
        n_compared, wrong = not_nearest(folder, 1_000_000)
        assert n_compared > 0
        assert wrong == []


def test_each_split_is_a_build_that_every_command_reads(shared_splits: medsim.Splits) -> None:
    test = shared_splits["test"]

    assert shared_splits.names == SPLIT_NAMES
    assert test.pairs("fsn_syn").height > 0
    assert test.manifest.options["split"] == {
        "name": "test",
        "ratios": "60/20/20",
        "by": "hash",
        "seed": 0,
        "build": shared_splits.manifest.build,
    }
    result = run("stats", test.folder)
    assert result.exit_code == 0, result.output
    with pytest.raises(OptionError, match="unknown split 'tset'; did you mean test"):
        shared_splits["tset"]


def test_relationships_are_complete_and_other_tables_have_the_split_s_concepts(
    shared_build: medsim.Build, shared_splits: medsim.Splits
) -> None:
    for table in ("concept", "description", "association"):
        whole = shared_build.table(table).collect()
        parts = pl.concat(part.table(table).collect() for part in shared_splits.builds.values())
        assert parts.join(whole, on=parts.columns, how="anti", nulls_equal=True).is_empty()
        if table == "concept":
            assert parts.height == whole.height
    for build in shared_splits.builds.values():
        key = ["child_id", "parent_id"]
        assert build.table("is_a").collect().equals(shared_build.table("is_a").collect().sort(key))


def test_the_manifest_has_sizes(shared_build: medsim.Build, shared_splits: medsim.Splits) -> None:
    concepts = shared_splits.read("concepts.parquet")
    whole = Counter(key[0] for key in positives(shared_build.folder, "random").elements())
    for name, facts in shared_splits.manifest.splits.items():
        in_split = concepts.filter(split=name)
        counts = Counter(
            key[0] for key in positives(shared_splits[name].folder, "random").elements()
        )
        assert facts["n_concepts"] == in_split.height
        assert facts["n_groups"] == in_split["group_id"].n_unique()
        assert facts["positives"] == {dataset: counts[dataset] for dataset in sorted(whole)}
    sizes = shared_splits.sizes()
    shares = sizes.select("train_share", "validation_share", "test_share").sum_horizontal()
    assert shares.to_list() == pytest.approx([1] * sizes.height)


@pytest.mark.slow
@pytest.mark.full
def test_the_rows_do_not_depend_on_threads(
    shared_build: medsim.Build, shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    again = medsim.split(shared_build, tmp_path / "out", ratios="60/20/20", threads=2)

    assert rows_of(again) == rows_of(shared_splits)


@pytest.mark.slow
def test_the_split_depends_on_the_seed_and_the_ratios(
    shared_build: medsim.Build, shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    other = medsim.split(shared_build, tmp_path / "other", ratios="3/1", seed=5, threads=1)

    assert other.names == ("train", "test")
    by_group = dict(other.read("concepts.parquet").select("group_id", "split").iter_rows())
    bounds = {"train": 0.75, "test": 1.0}
    assert by_group == {group: split_of(group, 5, bounds) for group in by_group}
    assert shares_of("60/20/20") == shares_of(" 0.3 / 0.1 / 0.1 ")
    assert other["test"].manifest.options["seed"] == shared_splits["test"].manifest.options["seed"]


@pytest.mark.full
@pytest.mark.slow
def test_rows_with_a_term_of_another_split_are_left_out(tmp_path: Path) -> None:
    release = small_release(*((f"Kamu lero {word}", f"Bine {word} tolu") for word in NUMBERS))
    hashes = {str(700001 + n): split_of(str(700001 + n), 0, HALVES) for n in range(len(NUMBERS))}
    train, test = (
        [concept for concept, name in hashes.items() if name == s] for s in ("train", "test")
    )
    shown = release.description(train[0], _name_of(test[0]).upper(), "synonym", active=False)
    german = release.description(train[0], _name_of(test[1]), "synonym", language="de")
    same_split = release.description(train[0], _name_of(train[1]), "synonym", active=False)
    release.association(train[0], test[0], "moved_to")
    release.association(train[0], train[1], "moved_to")
    release.association(train[0], "999999", "moved_to")  # a concept in no other row
    build = built(release, tmp_path)

    splits = medsim.split(build, tmp_path / "out", ratios="50/50", threads=1)

    ids = splits["train"].table("description").collect()["description_id"].to_list()
    assert {shown, german, same_split}.intersection(ids) == {same_split}
    concepts = dict(splits.read("concepts.parquet").select("concept_id", "split").iter_rows())
    assert concepts == {**hashes, "999999": split_of("999999", 0, HALVES)}
    ends = splits["train"].table("association").collect()["target_id"].to_list()
    assert sorted(ends) == sorted({train[1], *([] if concepts["999999"] == "test" else ["999999"])})
    skipped = {row["reason"]: row["n_rows"] for row in splits["train"].manifest.skipped}
    assert skipped["description is not a term, but has the text of a term in another split"] == 2
    assert skipped["association has an end in another split"] == 3 - len(ends)
    assert crossings(folders(splits), "random") == []
    assert medsim.verify(splits, build=build).holds


HALVES = {"train": 0.5, "test": 1.0}
NUMBERS = ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto")


def _name_of(concept_id: str) -> str:
    return f"Kamu lero {NUMBERS[int(concept_id) - 700001]}"


@pytest.mark.full
@pytest.mark.slow
def test_every_kind_of_link_keeps_concepts_together(tmp_path: Path) -> None:
    release = small_release(*((f"Kamu lero {word}", f"Bine {word} tolu") for word in NUMBERS))
    release.concept("700011", active=False)
    release.description("700011", "[D]BINE UNO TOLU")  # its name without the marker is shared
    release.concept("700012", active=False)
    release.description("700012", "Mabo sela")
    release.association("700012", "700003", "replaced_by")
    release.concept("700013", active=False)
    release.description("700013", "kamu lero QUATTRO", "synonym")  # no fully specified name
    corrections = [
        medsim.builds.options.Correction(term1="bine SEI tolu", term2="Bine otto tolu", same=True),
        medsim.builds.options.Correction(term1="Mabo sela", term2="Kamu lero tre", same=False),
    ]
    build = built(release, tmp_path, corrections=corrections)

    splits = medsim.split(build, tmp_path / "out", ratios="50/50", threads=1)

    group_of = dict(splits.read("concepts.parquet").select("concept_id", "group_id").iter_rows())
    joined = {concept: group for concept, group in group_of.items() if concept != group}
    assert joined == {"700011": "700001", "700013": "700004", "700008": "700006"}
    assert medsim.verify(splits, build=build).holds
    for part in splits.builds.values():
        names = set(part.table("description").collect()["term"].str.to_lowercase())
        kept = [row for row in corrections if {row.term1.lower(), row.term2.lower()} <= names]
        recorded = [[row.term1, row.term2, row.same] for row in kept]
        assert part.manifest.options.get("corrections", []) == recorded
    card = (splits.folder / "README.md").read_text(encoding="utf-8")
    assert re.search(r"\| corrections +\| 2 ", card)


@pytest.mark.slow
def test_synonymous_concepts_stay_together(tmp_path: Path) -> None:
    umls = random_metathesaurus(7, 60).write(tmp_path / "umls")
    build = medsim.build(umls, tmp_path / "build", negatives=["random"], threads=1)

    splits = medsim.split(build, tmp_path / "out", ratios="50/50", threads=1)

    synonymous = build.table("association").filter(kind="synonymous").collect().height
    assert synonymous > 0
    group_of = dict(splits.read("concepts.parquet").select("concept_id", "group_id").iter_rows())
    assert group_of == groups(build.folder, "random")
    assert crossings(folders(splits), "random") == []


@pytest.mark.slow
@pytest.mark.full
def test_splits_use_the_options_of_their_build(shared_release: Path, tmp_path: Path) -> None:
    def vectors_of(texts: list[str]) -> list[list[float]]:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        return [[byte - 127.5 for byte in digest[:8]] for digest in digests]

    build = medsim.build(
        shared_release,
        tmp_path / "build",
        negatives=["random", "levenshtein", "embedding"],
        embedding=vectors_of,
        pool="terminology",
        seed=7,
        threads=1,
    )
    with pytest.raises(InputError, match="pass it again as `embedding`"):
        medsim.split(build, tmp_path / "out")

    splits = medsim.split(
        build, tmp_path / "out", ratios="1/1", embedding=vectors_of, cache="none", threads=1
    )

    for name, part in splits.builds.items():
        options = dict(part.manifest.options)
        assert options.pop("split")["name"] == name  # type: ignore[index]
        assert options.pop("embedding")["name"] == "embedding"  # type: ignore[index]
        assert options == {
            key: value for key, value in build.manifest.options.items() if key != "embedding"
        }
        assert part.strategies == ("random", "levenshtein", "embedding")
    assert medsim.verify(splits, embedding=vectors_of, cache="none", build=build).holds


@pytest.mark.slow
@pytest.mark.full
def test_splits_of_a_dialect_keep_its_preferred_names(tmp_path: Path) -> None:
    release = small_release(*((f"Kamu lero {word}", f"Bine {word} tolu") for word in NUMBERS))
    for row in list(release.rows["description"]):
        release.accepted(row[0], acceptability="preferred")
    build = built(release, tmp_path, dialect="en-GB")

    splits = medsim.split(build, tmp_path / "out", ratios="50/50", threads=1)

    assert splits["test"].table("description").collect()["preferred"].all()
    assert medsim.verify(splits, build=build).holds


@pytest.mark.slow
@pytest.mark.full
def test_a_split_can_be_split(shared_splits: medsim.Splits, tmp_path: Path) -> None:
    inner = medsim.split(shared_splits["train"], tmp_path / "out", ratios="1/1", seed=1, threads=1)

    outer = inner["test"].manifest.options["split"]["of"]  # type: ignore[index]
    assert outer["name"] == "train"
    assert medsim.verify(inner, build=shared_splits["train"]).holds


@pytest.mark.slow
@pytest.mark.full
def test_an_interrupted_run_resumes(
    shared_build: medsim.Build,
    shared_splits: medsim.Splits,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from medsim.splits import split as module

    write = module.write_build

    def interrupted(run: object, *others: object) -> object:
        if run.split["name"] == "test":  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return write(run, *others)  # type: ignore[arg-type]

    out, options = tmp_path / "out", {"ratios": "60/20/20", "threads": 1}
    with monkeypatch.context() as patch:
        patch.setattr(module, "write_build", interrupted)
        with pytest.raises(KeyboardInterrupt):
            medsim.split(shared_build, out, **options)  # type: ignore[arg-type]
    assert not out.exists()

    progress = medsim.Progress(sys.stderr)
    again = medsim.split(shared_build, out, **options, progress=progress)  # type: ignore[arg-type]

    assert rows_of(again) == rows_of(shared_splits)
    messages = capsys.readouterr().err
    assert messages.count("train: take over") == messages.count("validation: take over") == 20
    assert "test: take over" not in messages


@pytest.mark.slow
def test_a_group_larger_than_a_share_gives_a_warning(tmp_path: Path) -> None:
    release = small_release(*((f"Kamu lero {word}", f"Bine {word} tolu") for word in NUMBERS))
    for number in range(3):
        release.description(str(700001 + number), "Gemeno", "synonym")
    build = built(release, tmp_path)

    splits = medsim.split(build, tmp_path / "out", ratios="3/1", seed=1, threads=1)

    assert splits.manifest.warnings[0] == (
        "the group of 700001 has 3 of 8 concepts, more than the share of test (25.0%); it is "
        f"all in {split_of('700001', 1, {'train': 0.75, 'test': 1})}, so the splits do not have "
        "the sizes of `ratios`"
    )


@pytest.mark.slow
def test_a_split_without_positives_is_rejected_before_anything_is_written(tmp_path: Path) -> None:
    build = built(small_release(("Kamu lero", "Bine tolu")), tmp_path)
    with pytest.raises(OptionError, match=r"split would have none of the 2 positives; choose"):
        medsim.split(build, tmp_path / "out", threads=1)

    release = Release()
    release.named("700001", "Kamu lero")
    alone = built(release, tmp_path / "alone")
    with pytest.raises(OptionError, match="the train and test split would have none of the 0"):
        medsim.split(alone, tmp_path / "out", ratios="50/50", threads=1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "ratios", ["", "80", "80/10/5/5", "80/-10/10", "a/b", "80/0/20", "1e3/1", "80:20", "nan/1"]
)
def test_invalid_ratios_are_rejected(ratios: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="`ratios`"):
        medsim.split(tmp_path, tmp_path / "out", ratios=ratios)


def test_the_build_is_never_written_to(shared_build: medsim.Build, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    shutil.copytree(shared_build.folder, folder)
    for out in (folder, folder / "splits", tmp_path):
        with pytest.raises(OutputError, match="an input of this command"):
            medsim.split(folder, out, overwrite=True)


def test_a_changed_build_is_not_split(shared_build: medsim.Build, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    shutil.copytree(shared_build.folder, folder)
    path = folder / "terminology" / "description.parquet"
    pl.read_parquet(path).head(100).write_parquet(path)
    with pytest.raises(InputError, match="has other positives than its terminology"):
        medsim.split(folder, tmp_path / "out")


def test_commands_for_builds_suggest_a_split(shared_splits: medsim.Splits, tmp_path: Path) -> None:
    folder = shared_splits.folder
    for arguments in (
        ("stats", folder),
        ("report", folder, "-o", tmp_path / "page.html"),
        ("split", folder, "-o", tmp_path / "out"),
        ("study", "sample", folder, "-o", tmp_path / "out"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert f"give one inside it, such as {folder / 'test'}" in result.output


@pytest.mark.full
@pytest.mark.slow
def test_the_command_prints_sizes_and_overwrites_on_request(tmp_path: Path) -> None:
    random_release(9, 30).write_zip(tmp_path / "small.zip", "Snapshot")
    medsim.build(tmp_path / "small.zip", tmp_path / "build", negatives=["random"], threads=1)
    arguments = ("split", tmp_path / "build", "-o", tmp_path / "out", "--ratios", "1/1")

    result = run(*arguments)
    again = run(*arguments)
    replaced = run(*arguments, "--overwrite", "--format", "csv")

    assert result.exit_code == 0, result.output
    assert "fsn_syn" in result.output
    assert "%" in result.output
    assert again.exit_code == 1
    assert "holds a set of splits already; add --overwrite to replace it" in again.output
    assert replaced.exit_code == 0, replaced.output
    assert "count_of,train,test,train_share,test_share" in replaced.output
