"""The tables of a build, or of its splits, as ``datasets`` of Hugging Face loads them by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medsim.builds.datasets import set_keys
from medsim.builds.output import BUILD
from medsim.core.config import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from medsim.builds.datasets import SetKey
    from medsim.core.kinds import Columns
    from medsim.core.manifest import Output

ALL_PAIRS = "pairs"
"""The configuration that is loaded where none is named."""

SIMILAR_PAIRS = "pairs-embedding"
"""The configuration of all embedding negatives of a build that has others as well.

The files of a configuration must have the same columns, and these have the similarity too.
"""

_UNNAMED = "Folders name the set of a pair; an export for Hugging Face has it in columns."


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A table that is loaded by its name.

    Attributes:
        name: such as "fsn_syn-hard-levenshtein".
        about: a sentence that says what its rows are.
        view: the view of builds that describes its columns.
        columns: of its files.
        files: paths by split; a split without rows is left out, since none can be loaded.
        rows: by split.
    """

    name: str
    about: str
    view: str
    columns: Columns
    files: Mapping[str, Sequence[str]]
    rows: Mapping[str, int]

    def metadata(self) -> dict[str, object]:
        """Return its entry in a card's YAML."""
        default = {"default": True} if self.name == ALL_PAIRS else {}
        data_files = [
            {"split": split, "path": paths[0] if len(paths) == 1 else list(paths)}
            for split, paths in self.files.items()
        ]
        return {"config_name": self.name, **default, "data_files": data_files}


def set_config(key: SetKey) -> tuple[str, str]:
    """Return the name of the configuration of a set, and a sentence that says what it has."""
    name = f"{key.dataset}-{key.difficulty}-{key.negatives}"
    return name, f"The {key.difficulty} positives of {key.dataset}, and {key.negatives} negatives."


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFiles:
    """The files of a build, or of splits.

    Attributes:
        outputs: those of the builds' manifests, by split.
        nested: whether each split lies in a folder of its name.
    """

    outputs: Mapping[str, Mapping[str, Output]]
    nested: bool = False

    def configs(self) -> list[Config]:
        """Return the configurations that have rows, the default first."""
        keys = [key for strategy in STRATEGIES for key in set_keys(strategy)]
        keys = [key for key in keys if any(key.path in one for one in self.outputs.values())]
        found = [
            *(self._of_sets(*one) for one in _of_many(keys)),
            *(self._of_sets(*set_config(key), [key]) for key in keys),
            *(self._of_table(name) for name, view in BUILD.views.items() if view.dtypes),
        ]
        return [one for one in found if one.rows]

    def _of_sets(self, name: str, about: str, keys: Sequence[SetKey]) -> Config:
        columns: Columns = {**keys[0].schema()}
        return self._config(name, about, "pair", columns, [key.path for key in keys])

    def _of_table(self, name: str) -> Config:
        view = BUILD.views[name]
        return self._config(name, view.about, name, view.dtypes, [view.files])

    def _config(
        self, name: str, about: str, view: str, columns: Columns, paths: Sequence[str]
    ) -> Config:
        files: dict[str, list[str]] = {}
        rows: dict[str, int] = {}
        for split, outputs in self.outputs.items():
            filled = [path for path in paths if path in outputs and outputs[path].rows]
            if filled:
                files[split] = [f"{split}/{path}" if self.nested else path for path in filled]
                rows[split] = sum(outputs[path].rows for path in filled)
        return Config(name=name, about=about, view=view, columns=columns, files=files, rows=rows)


def _of_many(keys: Sequence[SetKey]) -> Iterator[tuple[str, str, Sequence[SetKey]]]:
    """Yield name, sentence and sets of the configurations that have many sets."""
    similar = [key for key in keys if key.negatives == "embedding"]
    others = [key for key in keys if key.negatives != "embedding"]
    if similar and others:
        about = "The pairs of all sets but those with embedding negatives."
        yield ALL_PAIRS, f"{about} {_UNNAMED}", others
        about = "The pairs of all sets with embedding negatives."
        yield SIMILAR_PAIRS, f"{about} {_UNNAMED}", similar
    elif keys:
        yield ALL_PAIRS, f"The pairs of all sets. {_UNNAMED}", keys
