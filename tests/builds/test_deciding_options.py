"""Every option that decides rows reaches all that is derived from a build's tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fixtures.release import random_release

import medsim
from medsim.builds import positives
from medsim.builds import verify as verifying
from medsim.builds.options import SearchOptions
from medsim.core.errors import MedsimError
from medsim.core.options import declared
from medsim.core.store import Store
from medsim.evaluations.targets import categories_of
from medsim.splits import partition

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

PACKAGE = Path(medsim.__file__).parent

OTHERWISE: dict[str, object] = {
    "language": "sv",
    "as_of": "2015-01-31",
    "dialect": "en-GB",
    "synonym_scopes": ["broad"],
    "vocabularies": ["MSH"],
    "standard_concepts": True,
    "pool": "terminology",
    "strategies": ["random"],
    "most_names": 7,
    "seed": 5,
}
"""Another value than the default of each option that decides rows, as manifests keep it."""

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
"""All that derives names from a build again."""


class DerivedError(MedsimError):
    """The names were derived by the other values of all options."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build whose manifest has other values of all options than it was made with."""
    folder = tmp_path_factory.mktemp("deciding")
    random_release(5, 30).write_folder(folder / "release", "Snapshot")
    medsim.build(folder / "release", folder / "build", negatives=["random"])
    other = Path(shutil.copytree(folder / "build", folder / "other"))
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["options"] |= OTHERWISE
    (other / "manifest.json").write_text(json.dumps(manifest))
    return other


def test_every_option_that_decides_rows_has_another_value_here() -> None:
    usual = SearchOptions().recorded()
    keys = {one.key for one in declared(SearchOptions).values() if one.key is not None}
    assert keys == set(OTHERWISE)
    assert all(usual.get(key) != value for key, value in OTHERWISE.items())


@pytest.mark.parametrize("caller", CALLERS)
def test_options_that_decide_rows_reach_whoever_derives_names(
    build: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    usual = positives.derive_names

    def derive(store: Store, options: SearchOptions, *, rf2_rules: bool) -> pl.DataFrame:
        if OTHERWISE.items() <= options.recorded().items():
            raise DerivedError
        return usual(store, options, rf2_rules=rf2_rules)

    monkeypatch.setattr(verifying, "_check_files", lambda _build: iter(()))
    monkeypatch.setattr(partition, "_check_earlier", lambda *_builds: None)
    monkeypatch.setattr(positives, "derive_names", derive)

    with pytest.raises(DerivedError):
        CALLERS[caller](build)


def test_names_are_derived_in_one_place() -> None:
    callers = [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if "derive_names(" in path.read_text()
    ]
    assert callers == ["builds/positives.py"]
