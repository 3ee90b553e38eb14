"""Descriptions of exported datasets in Croissant 1.0, the JSON-LD of MLCommons.

The format is specified at https://docs.mlcommons.org/croissant/docs/croissant-spec-1.0.html.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from medsim.builds.cards import CITATION
from medsim.builds.output import BUILD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polars.datatypes import DataTypeClass

    from medsim.builds.cards import Card, Config
    from medsim.core.output import OutputFolder

CROISSANT = "croissant.json"
"""The file of a description."""

_PARQUET = "application/x-parquet"
_SPLIT_IN_PATH = r"^.*/(.+)-[0-9]+-of-[0-9]+\.parquet$"
_OWN_TERMS = (  # of Croissant's namespace
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject"),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField"),
    *("path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
)
_CONTEXT: Mapping[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _OWN_TERMS},
}


def croissant(card: Card, output: OutputFolder) -> str:
    """Return the description of a dataset as JSON.

    Every file is named with its SHA-256 and its size. A record set has the rows of a configuration,
    and a field more, the split, which is in the names of files. The date of publication is that of
    the source's release, as none is known of the dataset itself.

    Args:
        card: of the dataset.
        output: the folder that holds its files.
    """
    day = card.source.get("release_date")
    licence = card.licence
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.title,
        "description": " ".join(filter(None, (card.notice, card.about))),
        "license": licence.link or licence.terms or licence.name,
        **({"datePublished": day} if day else {}),
        "version": _version(str(day)) if day else card.medsim,
        "citeAs": CITATION,
        "keywords": card.metadata()["tags"],
        "distribution": [
            *(
                _file(path, output)
                for one in card.configs
                for paths in one.files.values()
                for path in paths
            ),
            *(_file_set(one) for one in card.configs),
        ],
        "recordSet": [_record_set(one) for one in card.configs],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _version(day: str) -> str:
    """Return a date as a version of three numbers, as Croissant wants one."""
    return ".".join(str(int(part)) for part in day.split("-"))


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


def _file_set(config: Config) -> dict[str, object]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{config.name}-files",
        "name": f"{config.name}-files",
        "description": f"The files of {config.name}.",
        "encodingFormat": _PARQUET,
        "includes": f"{config.name}/*.parquet",
    }


def _record_set(config: Config) -> dict[str, object]:
    notes = BUILD.views[config.view].notes
    split = {
        "@type": "cr:Field",
        "@id": f"{config.name}/split",
        "name": "split",
        "description": "The split that the row is in.",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": f"{config.name}-files"},
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": _SPLIT_IN_PATH},
        },
    }
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{config.name}/{name}",
            "name": name,
            "description": notes.get(name, name),
            **_type(kind),
            "source": {
                "fileSet": {"@id": f"{config.name}-files"},
                "extract": {"column": name},
            },
        }
        for name, kind in config.columns.items()
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": config.name,
        "name": config.name,
        "description": config.about,
        "field": [split, *fields],
    }


def _type(kind: DataTypeClass | pl.DataType) -> dict[str, object]:
    """Return how Croissant names a type."""
    if isinstance(kind, pl.List):
        return {**_type(kind.inner), "repeated": True}
    if kind == pl.Boolean:
        return {"dataType": "sc:Boolean"}
    if kind.is_integer():
        return {"dataType": "sc:Integer"}
    return {"dataType": "sc:Float" if kind.is_float() else "sc:Text"}
