"""Verification of words in context finds what a folder says wrongly of where it comes from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.wic_folder import WicFolder

from medsim.core.errors import InputError
from medsim.wic import GROUPS
from medsim.wic.verify import verify_wic as verify


def labels_one_concept_false(folder: WicFolder) -> None:
    row = folder.splits["dev"][1]
    (mention,) = (one for one in folder.mentions if one["concept_id"] == row["concept2"])
    row["concept2"] = mention["concept_id"] = row["concept1"]


def takes_a_mention_from_nowhere(folder: WicFolder) -> None:
    folder.splits["dev"][1]["document2"] = "elsewhere"


def keeps_two_mentions_of_a_sentence(folder: WicFolder) -> None:
    folder.mentions.append({**folder.mentions[0], "start": 0, "end": 5, "term": "Those"})


def pairs_concepts_that_are_left_out(folder: WicFolder) -> None:
    concepts = ("other synonyms fontar", "synonyms fontar")
    folder.related.append({"concept1": concepts[0], "concept2": concepts[1], "relation": "broader"})


def has_synonyms_that_none_bears(folder: WicFolder) -> None:
    folder.names = [one for one in folder.names if one["term"] != "zirelosis"]


def has_similar_labels_that_one_bears(folder: WicFolder) -> None:
    names = ("chronic zirelitis", "chronic zirelitus")
    folder.names += [{"term": name, "concept_id": "one"} for name in names]


def promises_other_numbers(folder: WicFolder) -> None:
    folder.quotas = {"test": dict.fromkeys(GROUPS, 2)}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (labels_one_concept_false, ["label"]),
        (takes_a_mention_from_nowhere, ["mention"]),
        (keeps_two_mentions_of_a_sentence, ["one_row"]),
        (pairs_concepts_that_are_left_out, ["excluded"]),
        (has_synonyms_that_none_bears, ["synonyms"]),
        (has_similar_labels_that_one_bears, ["synonyms"]),
        (promises_other_numbers, ["quota"]),
    ],
)
def test_a_broken_rule_of_provenance_is_named(
    change: Callable[[WicFolder], None], broken: list[str], tmp_path: Path
) -> None:
    folder = WicFolder()
    change(folder)

    assert verify(folder.write(tmp_path / "out")).broken == broken


def test_a_file_that_was_changed_afterwards_is_named(tmp_path: Path) -> None:
    out = WicFolder().write(tmp_path / "out")
    path = out / "dev.json"
    path.write_text(path.read_text().replace("on day", "in May"), encoding="utf-8")

    found = verify(out)

    assert found.broken == ["outputs", "rows"]
    (outputs,) = found.breaches.filter(check="outputs")["found"]
    assert outputs == "dev.json is not what the manifest tells of"


def test_a_file_with_fewer_instances_than_its_provenance_is_named(tmp_path: Path) -> None:
    folder = WicFolder()
    out = folder.write(tmp_path / "out")
    del folder.splits["dev"][-1]
    shorter = folder.write_json(tmp_path / "shorter") / "dev.json"
    (out / "dev.json").write_bytes(shorter.read_bytes())

    found = verify(out).breaches.filter(check="rows")

    assert found["found"].to_list() == ["7 instances, and 8 in instances.parquet"]


@pytest.mark.parametrize(
    "name", ["instances.parquet", "mentions.parquet", "relations/name.parquet", "train.json"]
)
def test_a_file_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    out = WicFolder().write(tmp_path / "out")
    (out / name).unlink()

    found = verify(out)

    assert found.broken == ["outputs"]
    assert found.breaches["found"].str.starts_with(f"{name} cannot be read").to_list() == [True]


def test_a_file_that_the_manifest_does_not_tell_of_is_named(tmp_path: Path) -> None:
    out = WicFolder().write(tmp_path / "out")
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["outputs"]["relations/related.parquet"]
    (out / "manifest.json").write_text(json.dumps(manifest))

    assert verify(out).breaches["found"].to_list() == [
        "relations/related.parquet is not in the manifest"
    ]


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ('{"kind": "build"}', "is a build, not a benchmark; medsim wic build makes one"),
        ("{", "cannot be read as a manifest"),
        ('{"kind": "wic", "outputs": {}}', "quotas"),
    ],
)
def test_a_folder_of_something_else_is_refused(manifest: str, message: str, tmp_path: Path) -> None:
    out = WicFolder().write_json(tmp_path / "out")
    (out / "manifest.json").write_text(manifest, encoding="utf-8")

    with pytest.raises(InputError, match=message):
        verify(out)


def test_what_is_not_there_is_called_missing(tmp_path: Path) -> None:
    out = WicFolder().write(tmp_path / "out")
    (out / "manifest.json").unlink()
    with pytest.raises(InputError, match="no manifest"):
        verify(out)
    with pytest.raises(InputError, match="nowhere does not exist"):
        verify(tmp_path / "nowhere")
