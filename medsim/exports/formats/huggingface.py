"""Folders for Hugging Face's ``datasets``, with a description in Croissant 1.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.cards import (
    ALL_PAIRS,
    CITATION,
    Card,
    Config,
    licence_of,
    options_of_splits,
    set_config,
)
from medsim.builds.datasets import set_keys
from medsim.builds.output import BUILD, CARD, PAIR, POSITIVE
from medsim.core.config import PARENT_CHILD
from medsim.core.errors import OptionError
from medsim.core.kinds import Table
from medsim.core.manifest import medsim_version
from medsim.core.parquet import write_lazily
from medsim.exports.formats import SPLIT_NOTE, Export, ExportFormat, shards
from medsim.exports.pairs import OPTIONS_OF_QUESTIONS, check_passed_on, questions_by_split
from medsim.questions.output import QUESTION
from medsim.splits.output import Splits

if TYPE_CHECKING:
    from polars.datatypes import DataTypeClass

    from medsim.core.output import OutputFolder

POSITIVES = "positives"
"""The configuration with each positive once."""

_QUESTIONS = "questions"


def write_dataset(run: Export) -> None:
    """Write Parquet by configuration and split, a card, and a description in Croissant.

    Raises:
        OptionError: the licence of the content forbids passing it on or is unknown, and ``private``
            is not set; or the build has no pairs.
    """
    splits, build = run.splits.items(), next(iter(run.splits.values()))
    source, options = build.manifest.source, dict(build.manifest.options)
    if isinstance(run.exported, Splits):
        builds = [split.manifest for split in run.splits.values()]
        options = options_of_splits(builds, run.exported.manifest.options)
    check_passed_on(source, private=run.options.private)
    tables: list[tuple[str, str, Mapping[str, pl.LazyFrame]]] = []
    if run.options.choices:
        asked = {split: rows.lazy() for split, rows in questions_by_split(run).items()}
        tables.append((_QUESTIONS, QUESTION.about, asked))
    else:
        about = "Each positive once, even if several sets have it."
        positives = {split: build.positives().lazy() for split, build in splits}
        are_synonyms = pl.col("dataset") != PARENT_CHILD
        pairs = {split: build.pairs(lazy=True).filter(are_synonyms) for split, build in splits}
        tables += [(ALL_PAIRS, "The pairs of all sets.", pairs), (POSITIVES, about, positives)]
        n_languages, hierarchy = len(build.options.languages), build.options.hierarchy
        for key in set_keys(n_languages, *build.strategies, hierarchy=hierarchy):
            pairs = {split: build.pairs(**asdict(key), lazy=True) for split, build in splits}
            tables.append((*set_config(key), pairs))
    configs = []
    for name, about, rows in tables:
        with run.progress.stage(f"write {name}") as stage:
            config = _written(run, name, about, rows)
            stage.note(f"{sum(config.rows.values()):,} rows")
        configs += [config] if config.rows else []
    if not configs:
        raise OptionError(f"{run.exported.folder} has no pairs; make a larger build")
    card = Card(
        source=source,
        options=options,
        medsim=medsim_version(),
        configs=configs,
        private=run.options.private,
        rows="questions" if run.options.choices else "pairs",
        views={**BUILD.views, _QUESTIONS: QUESTION},
    )
    run.output.write_text(CROISSANT, croissant(card, run.output), 0)
    run.output.write_text(CARD, card.text(), 0)


def _written(
    run: Export, config: str, about: str, rows_by_split: Mapping[str, pl.LazyFrame]
) -> Config:
    """Write the files of a configuration, except for splits without rows."""
    files: dict[str, list[str]] = {}
    counts = {name: rows.select(pl.len()).collect().item() for name, rows in rows_by_split.items()}
    facts = ("name", "release_date", "terms_of_use")
    metadata = {fact: str(run.exported.manifest.source.get(fact)) for fact in facts}
    for split, rows in rows_by_split.items():
        for name, begin, end in shards(config, split, counts[split]):
            of_file = rows.slice(begin, end - begin)
            run.output.write_file(name, partial(write_lazily, of_file, metadata=metadata))
            files.setdefault(split, []).append(name)
    return Config(
        name=config,
        about=about,
        view={POSITIVES: "positive", _QUESTIONS: _QUESTIONS}.get(config, "pair"),
        columns={**next(iter(rows_by_split.values())).collect_schema()},
        files=files,
        rows={split: counts[split] for split in files},
    )


CROISSANT = "croissant.json"
"""The file of the description in Croissant."""

_PARQUET = "application/x-parquet"
_SPLIT_IN_PATH = r"^.*/(.+)-[0-9]+-of-[0-9]+\.parquet$"


def croissant(card: Card, output: OutputFolder) -> str:
    """Return the description of a dataset as JSON.

    Every file is listed with its SHA-256 and size. A record set has the rows of a configuration and
    an additional field, the split, from the names of files. The date of publication is the release
    date of the source, since the dataset itself has none.

    Args:
        card: card of the dataset.
        output: folder with its files.
    """
    day = card.source.get("release_date")
    licence = licence_of(card.source)
    context = (resources.files(__package__) / "croissant_context.json").read_text(encoding="utf-8")
    content = {
        "@context": json.loads(context),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": card.title,
        "description": " ".join(filter(None, (card.notice, card.about))),
        "license": licence.link or licence.terms or licence.name,
        **({"datePublished": day} if day else {}),
        # A date becomes a version of three numbers, which Croissant requires.
        "version": ".".join(str(int(n)) for n in str(day).split("-")) if day else card.medsim,
        "citeAs": CITATION,
        "keywords": card.metadata()["tags"],
        "distribution": [
            *(
                _file(path, output)
                for config in card.configs
                for paths in config.files.values()
                for path in paths
            ),
            *(
                {
                    "@type": "cr:FileSet",
                    "@id": f"{config.name}-files",
                    "name": f"{config.name}-files",
                    "description": f"The files of {config.name}.",
                    "encodingFormat": _PARQUET,
                    "includes": f"{config.name}/*.parquet",
                }
                for config in card.configs
            ),
        ],
        "recordSet": [_record_set(config, card.views) for config in card.configs],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _file(path: str, output: OutputFolder) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{(output.folder / path).stat().st_size} B",
        "encodingFormat": _PARQUET,
        "sha256": output.outputs[path].fingerprint,
    }


def _record_set(config: Config, views: Mapping[str, Table]) -> dict[str, object]:
    notes = views[config.view].notes

    def field(name: str, about: str, data_type: dict[str, object], **source: object) -> object:
        return {
            "@type": "cr:Field",
            "@id": f"{config.name}/{name}",
            "name": name,
            "description": about,
            **data_type,
            "source": {"fileSet": {"@id": f"{config.name}-files"}, **source},
        }

    path = {"extract": {"fileProperty": "fullpath"}, "transform": {"regex": _SPLIT_IN_PATH}}
    split = field("split", "The split that the row is in.", {"dataType": "sc:Text"}, **path)
    fields = [
        field(name, notes.get(name, name), _type(dtype), extract={"column": name})
        for name, dtype in config.columns.items()
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": config.about,
        "field": [split, *fields],
    }


def _type(dtype: DataTypeClass | pl.DataType) -> dict[str, object]:
    """Return Croissant's name for a type."""
    if isinstance(dtype, pl.List):
        return {**_type(dtype.inner), "repeated": True}
    if dtype == pl.Boolean:
        return {"dataType": "sc:Boolean"}
    if dtype.is_integer():
        return {"dataType": "sc:Integer"}
    return {"dataType": "sc:Float" if dtype.is_float() else "sc:Text"}


_TABLES = {
    POSITIVES: replace(
        POSITIVE,
        files=f"{POSITIVES}/SPLIT-*.parquet",
        about=f"{POSITIVE.about} {SPLIT_NOTE}",
        query="",
    ),
    ALL_PAIRS: Table(
        "*/SPLIT-*.parquet",
        "A row per pair and set: the folder pairs has all sets, every other folder the set in its "
        f"name. {SPLIT_NOTE}",
        {
            name: replace(one, in_some_files=name not in PAIR.dtypes)
            for name, one in PAIR.columns.items()
        },
        order="One set after another, each in its own order.",
    ),
}

ExportFormat(
    write=write_dataset,
    next="datasets.load_dataset({out!r}) reads it in Python",
    accepts=frozenset({"private"}),
    tables=_TABLES,
    others={
        CARD: "Card, like the card of a build.",
        CROISSANT: "Description in Croissant, with the columns of every table.",
    },
    questions=ExportFormat(
        write=write_dataset,
        next="datasets.load_dataset({out!r}) reads the questions in Python",
        accepts=OPTIONS_OF_QUESTIONS,
        tables={_QUESTIONS: replace(QUESTION, files=f"{_QUESTIONS}/SPLIT-*.parquet")},
    ),
).register("huggingface")
