"""The card of a dataset: a ``README.md`` for people, and for Hugging Face's hub and libraries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from medsim.builds.datasets import SetKey, set_keys
from medsim.builds.output import BUILD, PAIR, BuildManifest
from medsim.core.config import CROSS_LANGUAGE, EASY_DISTANCE, PARENT_CHILD, STRATEGIES
from medsim.core.data import toml_of
from medsim.core.table_formats import markdown, plain_markdown

if TYPE_CHECKING:
    from medsim.core.kinds import Columns, Table
    from medsim.core.manifest import Output


_TEXTS = toml_of(__package__, "card.toml")

OTHER = "other"
"""The hub's identifier for licences without an identifier."""

_COMMONS = re.compile(
    r"creativecommons\.org/(?:licenses|publicdomain)/(?P<of_link>[a-z-]+)/(?P<link_version>\d\.\d)"
    r"|\bcc[ -]?(?P<of_words>0|by(?:-[a-z]{2})*)[ -](?P<version>\d\.\d)",
    re.IGNORECASE,
)
_LINK = re.compile(r"https?://[^\s;,<>\"]+[^\s;,<>\".]")
_NOT_IN_NAME = re.compile(r"[^a-z0-9.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """The licence of a terminology.

    Attributes:
        terms: terms of use, in words.
        hub_id: the hub's identifier, or ``OTHER``.
        name: name of the licence if the hub has no identifier.
        link: address of the licence text; None if unknown.
        allows_passing_on: whether derived datasets may be passed on; None if unknown.
    """

    terms: str
    hub_id: str
    name: str
    link: str | None
    allows_passing_on: bool | None

    def metadata(self) -> dict[str, object]:
        """Return the entries of a card's YAML."""
        if self.hub_id != OTHER:
            return {"license": self.hub_id}
        link = {} if self.link is None else {"license_link": self.link}
        return {"license": OTHER, "license_name": self.name, **link}


def licence_of(source: Mapping[str, object]) -> Licence:
    """Return the licence of the source of a manifest.

    If the manifest does not say whether the content may be passed on, a Creative Commons licence
    that allows derived works counts as permission.
    """
    terms = str(source.get("terms_of_use") or "")
    hub_id, link = OTHER, _LINK.search(terms)
    if match := _COMMONS.search(terms):
        kind = (match["of_link"] or match["of_words"]).lower()
        version = match["link_version"] or match["version"]
        family = "cc0" if kind in {"zero", "0"} else f"cc-{kind}"
        hub_id = f"{family}-{version}" if version in _TEXTS["licences"].get(family, ()) else OTHER
    allowed = source.get("redistributable")
    if allowed is None and hub_id != OTHER and "-nd" not in hub_id:
        allowed = True
    name = _NOT_IN_NAME.sub("-", str(source.get("name")).lower()).strip("-.")
    return Licence(
        terms=terms,
        hub_id=hub_id,
        name=f"{name}-terms-of-use".lstrip("-"),
        link=link[0] if link else None,
        allows_passing_on=allowed if isinstance(allowed, bool) else None,
    )


ALL_PAIRS = "pairs"
"""The default configuration."""

SIMILAR_PAIRS = "pairs-embedding"
"""The configuration of all embedding negatives, in a build that also has other negatives.

The files of a configuration must have the same columns, and these have an additional similarity.
"""

_UNNAMED = "Folder names give the set of a pair; an export for Hugging Face has it in columns."


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A table that is loaded by its name.

    Attributes:
        name: name, such as "fsn_syn-hard-levenshtein".
        about: description of its rows, a sentence.
        view: view of builds that describes its columns.
        columns: columns of its files.
        files: paths by split, without empty splits, which cannot be loaded.
        rows: number of rows by split.
    """

    name: str
    about: str
    view: str
    columns: Columns
    files: Mapping[str, Sequence[str]]
    rows: Mapping[str, int]


def set_config(key: SetKey) -> tuple[str, str]:
    """Return the name of a set's configuration, and its description."""
    name = f"{key.dataset}-{key.difficulty}-{key.negatives}"
    return name, f"The {key.difficulty} positives of {key.dataset}, and {key.negatives} negatives."


def configs_of(
    outputs: Mapping[str, Mapping[str, Output]], *, nested: bool = False
) -> list[Config]:
    """Return the configurations of a build or of splits that have rows, the default first.

    Args:
        outputs: outputs in the manifests of the builds, by split.
        nested: whether each split is in a folder of its name.
    """
    all_keys = set_keys(2, *STRATEGIES, hierarchy=True)
    all_keys = [key for key in all_keys if any(key.path in paths for paths in outputs.values())]
    synonyms = [key for key in all_keys if key.dataset not in {CROSS_LANGUAGE, PARENT_CHILD}]
    every = "all sets" if synonyms == all_keys else "all sets of synonyms in one language"
    similar = [key for key in synonyms if key.negatives == "embedding"]
    others = [key for key in synonyms if key.negatives != "embedding"]
    of_sets = [(*set_config(key), [key]) for key in all_keys]
    if similar and others:
        about = f"The pairs of {every} with embedding negatives. {_UNNAMED}"
        of_sets.insert(0, (SIMILAR_PAIRS, about, similar))
        about = f"The pairs of {every} except those with embedding negatives. {_UNNAMED}"
        of_sets.insert(0, (ALL_PAIRS, about, others))
    elif synonyms:
        of_sets.insert(0, (ALL_PAIRS, f"The pairs of {every}. {_UNNAMED}", synonyms))
    tables: list[tuple[str, str, str, Columns, list[str]]] = [
        (name, about, "pair", dict(keys[0].schema()), [key.path for key in keys])
        for name, about, keys in of_sets
    ]
    for name, table in BUILD.views.items():
        if table.files and table != PAIR:
            tables.append((name, table.about, name, table.dtypes, [table.files]))
    configs = []
    for name, about, view, columns, paths in tables:
        files: dict[str, list[str]] = {}
        rows: dict[str, int] = {}
        for split, of_split in outputs.items():
            filled = [path for path in paths if path in of_split and of_split[path].rows]
            if filled:
                files[split] = [f"{split}/{path}" if nested else path for path in filled]
                rows[split] = sum(of_split[path].rows for path in filled)
        if rows:
            configs.append(
                Config(name=name, about=about, view=view, columns=columns, files=files, rows=rows)
            )
    return configs


_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def front_matter(metadata: Mapping[str, object]) -> str:
    """Return YAML between two lines of hyphens, with each list item on its own line.

    Values are written as JSON, which is valid YAML once some characters are escaped: those that
    YAML forbids or reads as line ends.
    """
    return f"---\n{yaml_of(metadata)}---"


def yaml_of(metadata: Mapping[str, object]) -> str:
    """Return the lines of YAML between those of ``front_matter``."""
    lines = []
    for name, value in metadata.items():
        if isinstance(value, list):
            lines += [f"{name}:", *(f"- {json.dumps(item, ensure_ascii=False)}" for item in value)]
        else:
            lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    text = "".join(f"{line}\n" for line in lines)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


WHOLE = "train"
"""The name of the only split of a build that was not split, as in ``datasets``."""

CITATION: str = _TEXTS["citation"]
"""The paper that describes the method, as BibTeX."""

_LANGUAGE = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The content of a card, without times and paths.

    Attributes:
        source: source in the manifest of a build.
        options: options in the same manifest.
        medsim: version of medsim that made it.
        configs: configurations of the dataset, the default first.
        private: whether the builder asked not to publish the dataset.
        rows: what the rows are, which decides the texts of ``card.toml``.
        views: tables that describe the columns, by name.
    """

    source: Mapping[str, object]
    options: Mapping[str, object]
    medsim: str
    configs: Sequence[Config]
    private: bool = False
    rows: Literal["pairs", "questions"] = "pairs"
    views: Mapping[str, Table] = field(default_factory=lambda: BUILD.views)

    @property
    def title(self) -> str:
        """A title in plain text."""
        release = self.source.get("release_date")
        return f"{self._texts['heading']} {self.name}{f' of {release}' if release else ''}"

    @property
    def about(self) -> str:
        """A paragraph in plain text."""
        return str(self._texts["about"]).format(
            medsim=self.medsim,
            name=self.name,
            across=", or one across languages" if len(self._languages) > 1 else "",
            parents=_TEXTS["parents"] if "hierarchy" in self.options else "",
            distance=self.options.get("easy_distance", EASY_DISTANCE),
        )

    @property
    def notice(self) -> str | None:
        """The warning at the top, in plain text; None if anyone may have the dataset."""
        licence = licence_of(self.source)
        terms = f"{self.name}: {licence.terms or 'no terms of use are known'}"
        if licence.allows_passing_on is False:
            return f"Share only as the licence of the source allows. {terms}."
        if licence.allows_passing_on is None:
            return f"It is not known whether this may be shared; ask before you do. {terms}."
        return "Private: not to be published, at the builder's request." if self.private else None

    def text(self) -> str:
        """Return the card: YAML, then Markdown."""
        splits = list(dict.fromkeys(split for config in self.configs for split in config.rows))
        first = splits[0] if splits else ""
        one_set = [_TEXTS["load_set"].format(config=c.name, split=first) for c in self.configs[1:2]]
        return str(_TEXTS["body"]).format(
            front_matter=front_matter(self.metadata()),
            title=plain_markdown(self.title),
            notice=f"> **{plain_markdown(self.notice)}**\n\n" if self.notice else "",
            about=plain_markdown(self.about),
            split=first,
            one_set="".join(one_set),
            configs=self._table_of_configs(splits),
            columns="\n\n".join(self._tables_of_columns()),
            facts=self._table_of_facts(),
            limits=self._texts["limits"],
            leak=_TEXTS["no_leak" if "split" in self.options else "leak"],
            terms=plain_markdown(licence_of(self.source).terms),
            citation=CITATION,
        )

    def metadata(self) -> dict[str, object]:
        """Return the entries of the YAML for Hugging Face's hub."""
        languages = [code for code in self._languages if _LANGUAGE.fullmatch(code)]
        n_pairs = sum(
            sum(config.rows.values())
            for config in self.configs
            if config.view not in BUILD.views.keys() - {"pair"}
            if config.name not in {ALL_PAIRS, SIMILAR_PAIRS}
        )
        sizes = _TEXTS["sizes"]
        gate = {"viewer": False, "extra_gated_prompt": self.notice} if self.notice else {}
        return {
            "pretty_name": self.title,
            **licence_of(self.source).metadata(),
            **({"language": languages} if languages else {}),
            "multilinguality": ["multilingual" if len(self._languages) > 1 else "monolingual"],
            "size_categories": [sizes[min(max(len(str(n_pairs)) - 3, 0), len(sizes) - 1)]],
            **self._texts["tasks"],
            **_TEXTS["metadata"],
            **gate,
            "configs": [
                {
                    "config_name": config.name,
                    **({"default": True} if config.name == ALL_PAIRS else {}),
                    "data_files": [
                        {"split": split, "path": paths[0] if len(paths) == 1 else list(paths)}
                        for split, paths in config.files.items()
                    ],
                }
                for config in self.configs
            ],
        }

    @property
    def _texts(self) -> Mapping[str, Any]:
        texts: Mapping[str, Any] = _TEXTS[self.rows]
        return texts

    @property
    def _languages(self) -> Sequence[str]:
        return str(self.options.get("language")).split(",")

    @property
    def name(self) -> str:
        """The name of the source in one line."""
        return " ".join(str(self.source.get("name")).split())

    def _table_of_configs(self, splits: Sequence[str]) -> str:
        rows = [
            {
                "configuration": config.name,
                **{split: config.rows.get(split, 0) for split in splits},
                "contents": config.about,
            }
            for config in self.configs
        ]
        return markdown(pl.DataFrame(rows))

    def _tables_of_columns(self) -> Iterator[str]:
        columns: dict[str, dict[str, str]] = {}
        for config in self.configs:
            types = {name: str(kind) for name, kind in config.columns.items()}
            columns.setdefault(config.view, {}).update(types)
        for view, types in columns.items():
            notes = self.views[view].notes
            table = [(name, kind, notes.get(name, "")) for name, kind in types.items()]
            rows = pl.DataFrame(table, ["column", "type", "meaning"], orient="row")
            yield f"### {view}\n\n{markdown(rows)}"

    def _table_of_facts(self) -> str:
        """Return how the dataset was made; the terms of corrections are not shown."""
        rows = [
            ("made by", f"medsim {self.medsim}"),
            ("source", f"{self.name}, read as {self.source.get('source')}"),
            ("release", str(self.source.get("release_date") or "not known")),
        ]
        files = self.source.get("files")
        for file in files if isinstance(files, list) else ():
            size = f"{file['size']:,} bytes, SHA-256 {file['sha256']}"
            rows.append((f"file {file['name']}", size))
        for name, value in self.options.items():
            known = len(value) if name == "corrections" and isinstance(value, list) else value
            shown = known if isinstance(known, str) else json.dumps(known, ensure_ascii=False)
            rows.append((name, shown))
        return markdown(pl.DataFrame(rows, ["what", "value"], orient="row"))


def build_card(manifest: BuildManifest) -> str:
    """Return the card of a build, from its manifest without the card's own entry."""
    configs = configs_of({split_of(manifest): manifest.outputs})
    source, options = manifest.source, manifest.options
    return Card(source=source, options=options, medsim=manifest.medsim, configs=configs).text()


def splits_card(splits: Mapping[str, BuildManifest], options: Mapping[str, object]) -> str:
    """Return the card of splits.

    Args:
        splits: manifests of the splits, by the name of their folders.
        options: options of the splitting.
    """
    first = next(iter(splits.values()))
    card = Card(
        source=first.source,
        options=options_of_splits(splits.values(), options),
        medsim=first.medsim,
        configs=configs_of({name: split.outputs for name, split in splits.items()}, nested=True),
    )
    return card.text()


def options_of_splits(
    splits: Iterable[BuildManifest], options: Mapping[str, object]
) -> dict[str, object]:
    """Return the options of builds that are splits, with the corrections of all."""
    every = [split.options for split in splits]
    lists = [rows for split in every if isinstance(rows := split.get("corrections"), list)]
    corrections = sorted({tuple(row) for rows in lists for row in rows})
    recorded = {"corrections": [list(row) for row in corrections]} if corrections else {}
    return {**every[0], **recorded, "split": dict(options)}


def split_of(manifest: BuildManifest) -> str:
    """Return the name of a build's split; ``WHOLE`` if the build was not split."""
    split = manifest.options.get("split")
    return str(split["name"]) if isinstance(split, dict) else WHOLE
