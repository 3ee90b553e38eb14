"""Definitions of builds, splits and exports: all that is needed to repeat them, without terms."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from medsim.builds.build import complete
from medsim.builds.output import BUILD, CARD
from medsim.core.canonical import canonical_digest
from medsim.core.errors import CONTROL, InputError, OptionError, listed
from medsim.core.files import digest_of, write_file
from medsim.core.manifest import MANIFEST, Output, combined
from medsim.core.opened import Opened, class_of, open_output, reading_output
from medsim.core.options import call, declared, folder_of, public, several
from medsim.core.output import check_file_free, check_free, check_not_input
from medsim.core.progress import Progress, progress_of
from medsim.core.reading import beginning_of, read_json, reading
from medsim.definitions.benchmark import benchmark_definitions
from medsim.definitions.options import DefineOptions, RebuildOptions

_KIND = "definition"
_MAX_BYTES = 100_000  # of a file, which may have other white space than medsim writes
_N_LEFT_OUT = 32  # digits of the fingerprint of a table, of 64
_NAMES = re.compile(r"\[.+\]|[0-9]+")  # a list of categories, the identifier of a dialect

# The functions that make each kind of output, in order, and their options for the input. Packages
# above this one are imported when they are needed.
_FUNCTIONS = {
    "build": "medsim.builds.build:build",
    "splits": "medsim.splits.split:split",
    "export": "medsim.exports.export:export",
}
_INPUTS = {"build": "source", "splits": "build", "export": "folder"}


@public(DefineOptions)
def define(options: DefineOptions) -> dict[str, Any]:
    """Write the definition of a build, of splits or of an export, and return it.

    It has no term and no identifier of the terminology, and less than 10 kB.

    Returns:
        The content of the file: kind; versions of medsim and of libraries; source, with the hash of
        its files; and for each folder, by kind of output, options and fingerprints of pairs. The
        last folder also has tables: rows, and the first half of the fingerprint.

    Raises:
        InputError: a folder is not such an output, or was not made from the one before.
        OptionError: an option of an output cannot be in a definition, such as names of categories
            of a terminology that may not be shared.
        OutputError: ``out`` exists or cannot be written.
    """
    out, folders = Path(options.out), [folder_of(folder) for folder in several(options.folders)]
    check_not_input(out, folders)
    kind = f'"kind": "{_KIND}"'.encode()
    check_file_free(out, overwrite=options.overwrite, is_own=lambda at: kind in beginning_of(at))
    definition = _defined([_opened(folder) for folder in folders])
    text = json.dumps(definition, indent=1, ensure_ascii=False)
    write_file(out, f"{text}\n".encode(), overwrite=options.overwrite)
    return definition


@public(RebuildOptions)
def rebuild(options: RebuildOptions) -> pl.DataFrame:
    """Make what a definition describes from a source, and compare it with the definition.

    Returns:
        A row per fact: part, such as "source sha256", "versions numpy", "build options seed" or
        "build tables stats.parquet"; the values expected and found, null if there is none; and
        whether they are equal.

    Raises:
        InputError: the definition is damaged, or has options that this version of medsim lacks; or
            the source cannot be read.
        OptionError: a file that the definition needs is not given, or an option does not fit.
        OutputError: ``out`` exists or cannot be written.
    """
    expected = read_definition(options.definition)
    if options.out is not None:
        found = _remade(expected, options, Path(options.out))
    else:
        found = _facts([_opened(folder_of(options.source))])
        if [*found][-1] != [*expected][-1]:
            made, given = (class_of([*each][-1]) for each in (expected, found))
            raise OptionError(
                f"{options.definition} defines {made and made.kind.with_article}, but "
                f"{folder_of(options.source)} is {given and given.kind.with_article}"
            )
        expected = {part: expected[part] for part in found}
    ours, theirs = _flat(expected), _flat(found)
    rows = [(part, ours.get(part), theirs.get(part)) for part in {**ours, **theirs}]
    schema = dict.fromkeys(("part", "expected", "found"), pl.String)
    is_equal = pl.col("expected").eq_missing(pl.col("found"))
    return pl.DataFrame(rows, schema, orient="row").with_columns(equal=is_equal)


def verdict(rows: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """Return a sentence that begins with "equal" if all tables are, and the rows that differ."""
    is_table, short = pl.col("part").str.contains(" (pairs|tables) "), r"\b(\w{12})[0-9a-f]{20,}"
    differing = rows.filter(~pl.col("equal")).drop("equal")
    others, n_tables = differing.filter(~is_table)["part"], rows.filter(is_table).height
    n_other = differing.height - len(others)
    text = f"not equal: {n_other} of {n_tables} fingerprints of tables" if n_other else "equal"
    differ = "also different" if n_other else "although these differ"
    text += f", {differ}: {listed(others.to_list())}" if len(others) else ""
    text = CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return text, differing.with_columns(pl.col("expected", "found").str.replace(short, "${1}…"))


def read_definition(given: str | Path) -> dict[str, Any]:
    """Return a definition of medsim-benchmark by its name, or that in a file.

    Raises:
        InputError: the file does not exist, or is not a definition.
    """
    path, stored = Path(given), benchmark_definitions().get(str(given))
    if not (stored or path.exists()):
        names = listed([*benchmark_definitions()], word="or")
        raise InputError(f"{path} does not exist; give a file, or one of the names {names}")
    with reading(path, "a definition", "medsim define writes one"):
        if not stored and path.is_file() and path.stat().st_size > _MAX_BYTES:
            raise ValueError(f"it has more than {_MAX_BYTES:,} bytes")
        content: dict[str, Any] = stored or read_json(path)
        kinds = [kind for kind in _FUNCTIONS if kind in content]
        objects = [content["source"], *(content[kind]["options"] for kind in kinds)]
        is_whole = content["kind"] == _KIND and kinds[:1] == ["build"]
        is_whole &= {*content} == {"kind", "versions", "source", *kinds}
        if not is_whole or {*map(type, objects)} != {dict}:
            raise ValueError("it has other parts")
        _flat(content)  # fails if it is nested too deeply
    return {name: content[name] for name in ("kind", "versions", "source", *kinds)}


def _opened(folder: Path) -> Opened[Any]:
    return open_output(folder, *filter(None, map(class_of, _FUNCTIONS)))


def _defined(outputs: Sequence[Opened[Any]]) -> dict[str, Any]:
    """Return the definition of the last output, if each was made from the one before."""
    is_chain = outputs[0].kind is BUILD and "split" not in outputs[0].manifest.options
    for before, output in pairwise(outputs):
        hashes = {getattr(before.manifest, "digest", ""), digest_of(before.folder / MANIFEST)}
        origin = getattr(output.manifest, "exported", getattr(output.manifest, "build", None))
        is_chain = is_chain and origin in hashes
    if not is_chain:
        raise InputError(
            f"{outputs[-1].folder} was not made from a build before it; give the folders of a "
            "build, its splits and an export, in this order"
        )
    return _facts(outputs)


def _facts(outputs: Sequence[Opened[Any]]) -> dict[str, Any]:
    """Return the content of a definition; see ``define``."""
    last, facts = outputs[-1].manifest, {}
    for output in outputs:
        with reading_output(output):
            of_part = getattr(output, "builds", {"whole": output} if output.kind is BUILD else {})
            facts[output.kind.name] = {
                "options": _options(output),
                "pairs": {
                    name: _content(combined(of.manifest.outputs, "pairs/"))
                    for name, of in of_part.items()
                },
            }
    facts[output.kind.name]["tables"] = {
        _shortened(path): _content(file)[:-_N_LEFT_OUT]
        for path, file in last.outputs.items()
        if "/pairs/" not in path and Path(path).name not in {CARD, MANIFEST}
    }
    about = {name: last.source[name] for name in ("source", "vocabulary", "release_date")}
    return {
        "kind": _KIND,
        "versions": {"medsim": last.medsim, **outputs[0].manifest.libraries, **last.libraries},
        "source": about | {"sha256": _hash_of(last.source["files"])},
        **facts,
    }


def _shortened(path: str) -> str:
    """Return the path of a table without names of columns, and without its usual file name."""
    parts = path.removesuffix("/data.parquet").split("/")
    return "/".join(part.rpartition("=")[2] for part in parts)


def _content(file: Output) -> str:
    return f"{file.rows:,} rows, {file.fingerprint}"


def _hash_of(files: Sequence[Mapping[str, str]]) -> str:
    """Return the SHA-256 of a source's only file, or that of the hashes of several."""
    hashes = sorted(file["sha256"] for file in files)
    return hashes[0] if len(hashes) == 1 else canonical_digest(hashes)


def _options(output: Opened[Any]) -> dict[str, Any]:
    """Return the options of an output, with hashes of what files hold."""
    recorded, manifest = dict(output.manifest.options), output.manifest
    for name in ("rated", "test_categories", "dialect"):
        is_shared = manifest.source["redistributable"] and name != "rated"
        if not is_shared and _NAMES.fullmatch(str(recorded.get(name))):
            raise OptionError(
                f"`{name}` of {output.folder} has names of files, or of a terminology that may not "
                "be shared, so no definition can have it; make the output without it"
            )
    if "corrections" in recorded:
        recorded["corrections"] = canonical_digest(recorded["corrections"])
    if since := getattr(manifest, "rule", {}).get("fingerprint"):
        recorded["since"] = since
    return recorded


def _remade(definition: Mapping[str, Any], options: RebuildOptions, out: Path) -> dict[str, Any]:
    """Make the outputs of a definition, and return the definition of the last."""
    kinds = [kind for kind in _FUNCTIONS if kind in definition]
    for name in ("corrections", "since", "embedding"):
        is_given = (given := getattr(options, name)) is not None and given != ()
        if is_given != any(name in definition[kind]["options"] for kind in kinds):
            needed = "does not apply to" if is_given else "is needed for"
            raise OptionError(f"`{name}` {needed} {options.definition}")
    last: Any = class_of(kinds[-1])
    check_free(out, last.kind, overwrite=options.overwrite)
    with TemporaryDirectory(prefix="medsim-") as folder:
        outs = [*(Path(folder, kind) for kind in kinds[:-1]), out]
        inputs = [options.source, *outs]
        planned = [
            _planned(kind, definition[kind]["options"], options, {"out": to, _INPUTS[kind]: given})
            for kind, to, given in zip(kinds, outs, inputs, strict=False)
        ]
        warn = partial(_warn, definition, progress_of(options.progress))
        outputs: list[Any] = [complete(planned[0], check=warn)]
        for kind, further in zip(kinds[1:], planned[1:], strict=True):
            outputs.append(call(resolve_name(_FUNCTIONS[kind]), further))
        return _defined(outputs)


def _planned(
    kind: str, recorded: Mapping[str, Any], options: RebuildOptions, places: dict[str, Any]
) -> Any:
    """Return the options that make an output of a kind again."""
    made, output_class = resolve_name(_FUNCTIONS[kind]).options, class_of(kind)
    noted = output_class.kind.recorded if output_class else ()
    keys = {option.key for option in declared(made).values()} | {*noted, "since"}
    if unknown := sorted(recorded.keys() - keys):
        raise InputError(
            f"{options.definition} has options that this version of medsim lacks: "
            f"{listed(unknown)}; use the version of medsim in it"
        )
    values = options.values_for(made) | places
    values |= {"embedding": None} if kind == "export" else {}  # the path is in the build
    try:
        with reading(options.definition, "a definition"):
            return made.from_record(recorded, **values)
    except OptionError as error:
        raise InputError(f"{options.definition}: {error}") from error


def _warn(definition: Mapping[str, Any], progress: Progress, key: Mapping[str, str]) -> None:
    """Warn before a build that its source differs from that of the definition."""
    if _hash_of(json.loads(key["source_files"])) != definition["source"].get("sha256"):
        releases = f"{key['release_date']}, expected {definition['source'].get('release_date')}"
        progress.warn(f"the source has other files; its release is {releases}")


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """Return the values in nested objects as text, by the names on the way, with spaces."""
    if not isinstance(value, Mapping):
        return {name: value if isinstance(value, str) else json.dumps(value)}
    parts = (_flat(inner, f"{name} {key}".strip()) for key, inner in value.items())
    return {key: text for part in parts for key, text in part.items()}
