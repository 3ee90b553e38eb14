"""The card of a build: its YAML and tables, and how it is recorded and verified."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import yaml
from fixtures.cards import CARD, metadata_of, rows_in_table
from hypothesis import example, given
from hypothesis import strategies as st

import medsim
from medsim.builds.cards import Card, configs_of, front_matter, licence_of
from medsim.builds.verify import _check_files

if TYPE_CHECKING:
    from medsim.builds.cards import Licence

pytestmark = pytest.mark.slow

TABLES = ("concept", "description", "association", "is_a", "term", "stats")
SHARED = {"name": "free.obo", "redistributable": True, "terms_of_use": "free"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def card_of(build: medsim.Build, **source: object) -> Card:
    """Return the card of a build as if it had another source."""
    manifest = build.manifest
    configs = configs_of({"train": manifest.outputs})
    return Card(
        source={**manifest.source, **source},
        options=manifest.options,
        medsim=manifest.medsim,
        configs=configs,
    )


def parse(matter: str) -> Any:
    first, *lines, last = matter.split("\n")
    assert first == last == "---"
    return yaml.safe_load("\n".join(lines))


def licence(terms: str, *, redistributable: bool | None = None) -> Licence:
    return licence_of(
        {"name": "My file.obo", "redistributable": redistributable} | {"terms_of_use": terms}
    )


# YAML


@example("é\u2028\x85\ufeff\x7f")
@example("---")
@example("a: b # c")
@example("no")
@example("1.5")
@given(TEXTS)
def test_yaml_keeps_every_text(text: str) -> None:
    content = {"one": text, "many": [{"split": text, "path": [text, text]}, {"split": text}, text]}

    assert parse(front_matter(content)) == content


# What a build's card says


def test_every_configuration_names_the_files_that_have_its_rows(shared_build) -> None:
    metadata = metadata_of(shared_build.folder)
    counted = rows_in_table(shared_build.folder)

    stats = shared_build.stats().filter(pl.col("n_positives") + pl.col("n_negatives") > 0)
    sets = {"-".join(key) for key in stats.select("dataset", "difficulty", "negatives").rows()}
    configs = {entry["config_name"]: entry for entry in metadata["configs"]}
    assert configs.keys() == {"pairs", *sets, *TABLES} - {"code"}
    assert [name for name, entry in configs.items() if entry.get("default")] == ["pairs"]
    for name, config in configs.items():
        (files,) = config["data_files"]
        paths = files["path"] if isinstance(files["path"], list) else [files["path"]]
        frames = [shared_build.read(path) for path in paths]
        assert all(frame.height for frame in frames)
        assert len({tuple(frame.schema.items()) for frame in frames}) == 1
        assert sum(frame.height for frame in frames) == counted[name]["train"]
        assert files["split"] == "train"
    assert counted["pairs"]["train"] == shared_build.pairs().height


def test_files_with_a_similarity_have_a_separate_configuration(similar_build) -> None:
    entries = metadata_of(similar_build.folder)["configs"]
    configs = {entry["config_name"]: entry for entry in entries}

    for name, is_similar in (("pairs", False), ("pairs-embedding", True)):
        for path in configs[name]["data_files"][0]["path"]:
            columns = pl.read_parquet_schema(similar_build.folder / path)
            assert ("similarity" in columns) == is_similar == ("negatives=embedding" in path)


def test_a_restrictive_licence_is_shown_at_the_top(shared_build) -> None:
    text = (shared_build.folder / CARD).read_text(encoding="utf-8")
    metadata = metadata_of(shared_build.folder)

    heading, notice = text.split("---\n", 2)[2].strip().split("\n\n")[:2]
    assert heading == "# Medical term pairs from release.zip of 2020-01-31"
    assert notice.startswith("> **Share only as the licence of the source allows.")
    assert metadata["viewer"] is False
    assert "SNOMED International" in metadata["extra_gated_prompt"]
    assert metadata["license"] == "other"


def test_a_free_licence_has_no_notice(shared_build) -> None:
    assert "extra_gated_prompt" not in card_of(shared_build, **SHARED).metadata()
    unknown = card_of(shared_build, redistributable=None).notice
    assert unknown is not None
    assert unknown.startswith("It is not known whether this may be shared")


def test_a_source_name_is_escaped(shared_build) -> None:
    name = 'a "b": c | <i>*é*</i>.obo'

    card = card_of(shared_build, name=name, redistributable=True)

    assert parse(card.text().split("\n\n# ")[0])["pretty_name"].endswith(f"{name} of 2020-01-31")
    assert "<i>" not in re.sub(r"\\<", "", card.text().split("\n# ")[1])


def test_cards_contain_no_terms(shared_build) -> None:
    terms = shared_build.read("terminology/term.parquet")["term"]
    words = (shared_build.folder / CARD).read_text(encoding="utf-8")

    assert terms.len() > 100
    assert not [term for term in terms if len(term) > 8 and term in words]


@pytest.mark.parametrize(
    ("n_rows", "category"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (256_808, "100K<n<1M"), (10**6, "1M<n<10M")],
)
def test_sizes_are_the_categories_of_the_hub(shared_build, n_rows: int, category: str) -> None:
    (_, one_set, *_) = configs_of({"train": shared_build.manifest.outputs})
    config = replace(one_set, rows={"train": n_rows})

    card = replace(card_of(shared_build), configs=[config])

    assert card.metadata()["size_categories"] == [category]


# Licences


@pytest.mark.parametrize(
    ("terms", "hub_id", "allowed"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", "cc-by-4.0", True),
        ("as stated: http://creativecommons.org/licenses/by-nc-sa/3.0", "cc-by-nc-sa-3.0", True),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "cc0-1.0", True),
        ("Mondo Disease Ontology: CC BY 4.0, may be passed on", "cc-by-4.0", True),
        ("CC0 1.0", "cc0-1.0", True),
        ("https://creativecommons.org/licenses/by-nd/4.0/", "cc-by-nd-4.0", None),
        ("https://creativecommons.org/licenses/by-nd/2.0/", "other", None),
        ("MIT", "other", None),
        ("", "other", None),
    ],
)
def test_creative_commons_licences_are_recognised(terms: str, hub_id: str, allowed) -> None:
    actual = licence(terms)

    assert (actual.hub_id, actual.allows_passing_on) == (hub_id, allowed)


def test_another_licence_has_a_name_and_a_link() -> None:
    actual = licence("its own, at https://invented.example/terms; read them", redistributable=True)

    assert actual.metadata() == {
        "license": "other",
        "license_name": "my-file.obo-terms-of-use",
        "license_link": "https://invented.example/terms",
    }
    assert "license_link" not in licence("its own").metadata()
    assert licence("CC BY 4.0, but for names", redistributable=False).allows_passing_on is False


# A file of the build


def test_a_card_does_not_depend_on_paths_or_threads_and_is_verified(
    shared_build, shared_release, tmp_path: Path
) -> None:
    built = medsim.build(shared_release, tmp_path / "out", threads=1)
    card = built.folder / CARD

    assert built.manifest.outputs[CARD] == shared_build.manifest.outputs[CARD]
    assert card.read_bytes() == (shared_build.folder / CARD).read_bytes()
    assert str(tmp_path) not in card.read_text(encoding="utf-8")

    card.write_text("mine", encoding="utf-8")
    broken = [finding for finding in _check_files(built) if finding.violations]
    assert [(finding.check, list(finding.violations)) for finding in broken] == [("card", [CARD])]
    card.unlink()
    assert [finding for finding in _check_files(built) if finding.violations] == broken
