"""Options that are declared once for the command line, Python, manifests and messages.

A subclass of ``Options`` declares the options of one command, one per field. A field has the type
and an ``Option`` with the help; a default, which is first, is that of the command line and of
Python. A field without a default has its option in the annotation::

    @dataclass(frozen=True, slots=True)
    class SearchOptions(Options):
        folder: Annotated[str | Path, Option("The folder of a build.", argument=True)]
        _: KW_ONLY
        pool: Literal["set", "all"] = option_field("set", "Terms to search.")


    @public(SearchOptions)
    def search(options: SearchOptions) -> pl.DataFrame: ...

Python sees ``search(folder, *, pool="set")``; ``medsim.core.console.command`` makes the command.
Messages have names of fields between backticks, as in "`pool` is unknown"; the command line prints
"--pool is unknown".
"""

from __future__ import annotations

import inspect
import math
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclass_field
from datetime import date, datetime
from functools import cache, partial, wraps
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from medsim.core import addresses
from medsim.core.config import MAX_COUNT, MAX_SEED, MAX_THREADS, checked_threads
from medsim.core.errors import OptionError, listed, unknown_name
from medsim.core.progress import Progress, progress_of
from medsim.core.surroundings import utf8_text

NAMED_PATH = "NAME=PATH"
"""The metavar of values that are a name and a path."""

Heading = Literal["Main options", "Input", "Computation", "Output", "Machine"]
"""The headings that help puts options under, in their order."""

P = ParamSpec("P")
Declared = TypeVar("Declared")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option; its field has the type and the default.

    Attributes:
        help: sentences for the reference and docstrings; help shows an option's first sentence.
        flags: flags on the command line, such as ("--out", "-o"); by default from the field's name.
        metavar: name of the value in help; by default its type.
        argument: whether the command line takes it as a positional argument; several if its type
            has a sequence, although Python also takes a single one.
        listed: whether the command line takes several values as one comma-separated text, with
            double quotes around a value that has a comma.
        lower: whether the command line ignores its case.
        or_name: whether a built-in name may replace a path: "./hpo" is a folder, "hpo" is not.
        choices: accepted names, or none for any name; by default the names of a ``Literal`` in the
            field's type.
        suggested: names that the shell completes, for an option without choices.
        noun: noun for a choice in messages; by default the name of the field.
        least: smallest accepted number; a number needs it.
        most: largest accepted number.
        key: key of the value in manifests; None if it does not affect the output.
        kept_empty: whether manifests keep an empty value.
        needed: whether the command line needs several values that have no default.
        heading: heading in help and the reference. Required options are main options.
        read: converts a value that is given, and gets its name for messages.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    argument: bool = False
    listed: bool = False
    lower: bool = False
    or_name: bool = False
    choices: Iterable[str] | None = None
    suggested: Iterable[str] = ()
    noun: str = ""
    least: float | None = None
    most: float = MAX_COUNT
    key: str | None = None
    kept_empty: bool = True
    needed: bool = True
    heading: Heading = "Computation"
    read: Callable[[Any, str], object] | None = None

    def check(self, name: str, value: object) -> None:
        """Raise OptionError for an invalid value."""
        for item in _values_in(value):
            if self.choices is not None and isinstance(item, str) and item not in self.choices:
                raise OptionError(unknown_name(self.noun or name, str(item), list(self.choices)))
        low = -math.inf if self.least is None else self.least
        if isinstance(value, (int, float)) and not low <= value <= self.most:  # also if it is NaN
            raise OptionError(
                f"`{name}` {value} is out of range; {self.least} to {self.most} are accepted"
            )


main_option = partial(Option, heading="Main options")
input_option = partial(Option, heading="Input")
output_option = partial(Option, heading="Output")
machine_option = partial(Option, heading="Machine")


def _field_of(option: Callable[P, Option]) -> Callable[Concatenate[object, P], Any]:
    """Return a function that declares a field by its default and the arguments of an option."""

    def declared_field(default: object, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return dataclass_field(default=default, metadata={"option": option(*args, **kwargs)})

    return declared_field


option_field = _field_of(Option)
main_field = _field_of(main_option)
input_field = _field_of(input_option)
output_field = _field_of(output_option)
machine_field = _field_of(machine_option)
seed_field = _field_of(partial(Option, least=0, most=MAX_SEED, key="seed"))


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one command, checked on creation.

    Attributes:
        to_address: how ``out`` is written if it is the address of an object store.
    """

    to_address: ClassVar[addresses.AtAddress] = ""

    def __post_init__(self) -> None:
        hints, options = types_of(type(self)), declared(type(self))
        for field in fields(self):
            value, hint = getattr(self, field.name), hints[field.name]
            kinds = {get_origin(member) or member for member in union_members(hint)}
            if isinstance(value, (str, Path)) and Sequence in kinds and not kinds & {str, Path}:
                value = (value,)  # else it would be split into letters
            option = options.get(field.name)
            accepted = hint | Sequence[str] if option and option.listed else hint
            if not fits(value, accepted):
                raise OptionError(f"`{field.name}` takes {described(hint)}, not {type_of(value)}")
            value = as_builtin(value)
            if option and option.read and value is not None:
                value = option.read(value, f"`{field.name}`")
            object.__setattr__(self, field.name, value)
            _check_text(field.name, value, is_path=_names_path(hint, option))
            if option:
                option.check(field.name, value)
        self._replace_addresses()
        self.check()

    def check(self) -> None:
        """Raise OptionError for options that contradict each other."""

    def _replace_addresses(self) -> None:
        """Replace addresses by paths on this machine, to which inputs are copied.

        Raises:
            OptionError: an option does not take the address.
        """
        progress, hints = progress_of(getattr(self, "progress", None)), types_of(type(self))
        options, outs = declared(type(self)), written(type(self))
        for name in sorted(options, key=lambda name: name not in outs):
            value = getattr(self, name)
            if name in outs:
                how = self.to_address if name == "out" else ""
                object.__setattr__(self, name, addresses.staged(value, name, how))
            elif _names_path(hints[name], options[name]):
                copied = addresses.with_local_paths(value, name, progress)
                object.__setattr__(self, name, copied)

    def recorded(self) -> dict[str, object]:
        """Return the options that affect the output, as plain JSON values by key."""
        return {
            option.key: as_json(value)
            for name, option in declared(type(self)).items()
            if option.key is not None and ((value := getattr(self, name)) or option.kept_empty)
        }

    def paths_read(self) -> list[Path]:
        """Return the files and folders that the options other than ``out`` name.

        A text may have a name before its path and options after it: "bert=model.onnx,case=keep".
        If a built-in name may replace a path, the package that knows these names decides.
        """
        hints = types_of(type(self))
        return [
            path
            for name, option in declared(type(self)).items()
            if name != "out" and not option.or_name
            if _names_path(hints[name], option)
            for value in _values_in(getattr(self, name))
            if (path := _path_in(value)) is not None
        ]

    def values_for(self, kind: type[Options] | None = None) -> dict[str, Any]:
        """Return the values of the fields that another class of options also has, by field."""
        names = [field.name for field in fields(kind or type(self))]
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], **others: Any) -> Self:
        """Return options from their record in a manifest; see ``recorded``.

        Args:
            record: values by key; missing ones get their defaults.
            others: values of options that manifests do not keep, by field.
        """
        hints = types_of(cls)
        values: dict[str, Any] = dict(others)
        for name, option in declared(cls).items():
            if option.key is not None and option.key in record and name not in others:
                value = record[option.key]
                is_day = isinstance(value, str) and hints[name] == date | None
                value = date.fromisoformat(value) if is_day else value
                values[name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)


@runtime_checkable
class OpenedFolder(Protocol):
    """An opened output, such as ``medsim.Build``; see ``medsim.core.opened``."""

    @property
    def folder(self) -> Path:
        """The folder of the output."""


PathOrOutput: TypeAlias = str | Path | OpenedFolder
"""A path, or the output that was opened there."""


def folder_of(path_or_output: PathOrOutput) -> Path:
    """Return the path of an output, given as a path or as an opened output."""
    return (
        Path(path_or_output) if isinstance(path_or_output, (str, Path)) else path_or_output.folder
    )


def several(places: Any) -> list[Any]:
    """Return paths or opened outputs as a list; Python callers may give a single one."""
    is_single = isinstance(places, (str, Path)) or not isinstance(places, Iterable)
    return [places] if is_single else [*places]


Reporting = Annotated[Progress | None, "reports every stage"]
"""The field ``progress``; by default, stages are reported in a terminal and in a notebook."""

Threads = Annotated[
    int | None,
    machine_option(
        "Threads to use; default: all. The result does not depend on them.",
        least=1,
        most=MAX_THREADS,
    ),
]


Cache = Annotated[
    str | Path | None,
    machine_option(
        "Folder for cached vectors; 'none' turns the cache off. It keeps the results of encoders, "
        "services and language models; ~/.cache/medsim/vectors by default."
    ),
]

OVERWRITE = output_option("Replace OUT if it exists.")
"""The option that replaces an earlier output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakingOptions(Options):
    """The options of every command that writes a folder."""

    threads: Threads = None
    overwrite: Annotated[bool, OVERWRITE] = False
    progress: Reporting = None

    @property
    def n_threads(self) -> int:
        """The threads to use."""
        return checked_threads(self.threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions(MakingOptions):
    """The options of every command that writes a folder with the help of models."""

    cache: Cache = None


def _declared(options: type[Options]) -> Mapping[str, Option]:
    hints = get_type_hints(options, include_extras=True)
    of_fields = {field.name: field.metadata.get("option") for field in fields(options)}
    declarations = {}
    for name, parameter in inspect.signature(options).parameters.items():
        for extra in (of_fields[name], *getattr(hints[name], "__metadata__", ())):
            if isinstance(extra, Option):
                choices = names_in(hints[name]) if extra.choices is None else extra.choices
                is_required = parameter.default is inspect.Parameter.empty
                heading: Heading = "Main options" if is_required else extra.heading
                declarations[name] = replace(extra, choices=choices or None, heading=heading)
    return declarations


# Called, not used as a decorator: mypy takes a class with comparable instances for unhashable.
declared: Callable[[Any], Mapping[str, Option]] = cache(_declared)
"""The declarations of a class of options by field, in the order of the signature."""


def signature_of(options: Callable[..., object]) -> inspect.Signature:
    """Return the signature of options: their names, types and defaults."""
    bare = inspect.signature(options)
    hints = types_of(options)
    parameters = [field.replace(annotation=hints[name]) for name, field in bare.parameters.items()]
    return bare.replace(parameters=parameters)


def public(options: Callable[P, Declared]) -> Callable[[Callable[[Declared], R]], Callable[P, R]]:
    """Return a decorator that makes a function of options take the options as arguments.

    Args:
        options: class of the options. Its fields, types and defaults become the signature, and
            their help becomes the section Args of the docstring.
    """

    def decorated(run: Callable[[Declared], R]) -> Callable[P, R]:
        @wraps(run)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                message = f"{run.__name__}() {error}"
                raise TypeError(message) from None
            return run(options(*args, **kwargs))

        returns = inspect.signature(run).return_annotation
        signature = signature_of(options).replace(return_annotation=returns)
        call.__dict__["__signature__"] = signature
        call.__dict__["options"] = options
        call.__doc__ = _with_args(run.__doc__ or "", options)  # type: ignore[arg-type]
        return call

    return decorated


def call(function: Callable[..., R], options: Options) -> R:
    """Call a ``public`` function with an options object."""
    return cast("R", inspect.unwrap(function)(options))


def _with_args(doc: str, options: type[Options]) -> str:
    """Return a docstring with a section Args before all other sections."""
    text = inspect.cleandoc(doc)
    arguments = {name: option.help for name, option in declared(options).items()}
    if any(field.name == "progress" for field in fields(options)):
        arguments["progress"] = (
            "Reports every stage, by default in a terminal and in a notebook. Progress() is silent."
        )
    wrapper = textwrap.TextWrapper(96, " " * 4, " " * 8, break_on_hyphens=False)
    lines = [wrapper.fill(f"{name}: {words}") for name, words in arguments.items()]
    head, heading, tail = text.partition("\n\nReturns:")
    if not heading:
        head, heading, tail = text.partition("\n\nRaises:")
    return "\n".join([f"{head}\n\nArgs:", *lines]) + heading + tail


def written(options: type[Options]) -> set[str]:
    """Return the options that may name what a command writes, not what it reads.

    It reads an ``out`` that is an argument, unless that can be replaced.
    """
    out = declared(options).get("out")
    is_read = out is not None and out.argument and "overwrite" not in declared(options)
    return {"then", "cache"} if is_read else {"out", "then", "cache"}


def _check_text(name: str, value: object, *, is_path: bool) -> None:
    """Raise OptionError for a text that is not valid UTF-8."""
    names = tuple(value) if isinstance(value, Mapping) else ()
    for text in (*names, *_values_in(value)):
        try:
            if isinstance(text, str):
                utf8_text(text)
            elif isinstance(text, Path):
                str(text.absolute()).encode()
        except (OptionError, UnicodeEncodeError) as error:
            remedy = "rename the file" if is_path else "write it in UTF-8"
            raise OptionError(f"`{name}` {str(text)!r} is not UTF-8; {remedy}") from error


def _values_in(value: object) -> tuple[object, ...]:
    """Return the values of a tuple or a mapping, or a single value as the only one."""
    if isinstance(value, Mapping):
        return tuple(value.values())
    return value if isinstance(value, tuple) else (value,)


def _names_path(hint: object, option: Option | None = None) -> bool:
    is_named = option is not None and option.metavar == NAMED_PATH
    return is_named or hint is Path or any(map(_names_path, get_args(hint)))


def _path_in(value: object) -> Path | None:
    """Return the path of the existing file or folder that a value names, if any."""
    if not isinstance(value, (str, Path)):
        return value.folder if isinstance(value, OpenedFolder) else None
    for text in (str(value), str(value).partition("=")[2]):
        parts = text.split(",")
        candidates = (",".join(parts[:n]) for n in range(len(parts), 0, -1))
        # The functions of os.path do not raise for an unknown user or a name that is too long.
        paths = (os.path.expanduser(candidate) for candidate in candidates)  # noqa: PTH111
        if existing := next(filter(os.path.exists, paths), None):
            return Path(existing)
    return Path(value)


_NOUNS = {
    str: "a text",
    Path: "a path",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    date: "a date",
    NoneType: "None",
    Any: "an object",
}


types_of: Callable[[Any], dict[str, Any]] = cache(get_type_hints)
"""The types of the fields of a class by name."""


@cache
def union_members(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union type, with every `Literal` counted as `str`."""
    is_union = isinstance(hint, UnionType) or get_origin(hint) is Union
    members = get_args(hint) if is_union else (hint,)
    return tuple(dict.fromkeys(str if get_origin(kind) is Literal else kind for kind in members))


def names_in(hint: Any) -> tuple[str, ...]:
    """Return the names in the ``Literal`` of a type; none if it has no ``Literal``."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return next(filter(None, map(names_in, get_args(hint))), ())


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value and its elements have a type.

    A text does not count as a sequence, True and False do not count as numbers, and a whole number
    counts as a number.
    """
    if len(members := union_members(hint)) > 1:
        return any(fits(value, member) for member in members)
    kind, element_types = get_origin(members[0]) or members[0], get_args(members[0])
    if kind in {Mapping, dict}:
        name_type, value_type = element_types
        return isinstance(value, kind) and all(
            fits(name, name_type) and fits(member, value_type) for name, member in value.items()
        )
    if kind in {Sequence, list}:
        is_several = isinstance(value, kind) and not isinstance(value, (str, bytes))
        return is_several and all(fits(member, element_types[0]) for member in value)
    if isinstance(value, bool):
        return kind in {bool, Any, object}
    return kind is Any or isinstance(value, {int: Integral, float: Real}.get(kind, kind))


def as_builtin(value: object) -> object:
    """Convert a value to a built-in type that JSON supports, such as a NumPy number to a float.

    A list becomes a tuple, and a datetime its date.
    """
    match value:
        case bool():
            return value
        case Integral():
            return int(value)
        case Real():
            return float(value)
        case datetime():
            return value.date()
        case list() | tuple():
            return tuple(map(as_builtin, value))
        case _:
            return value


def as_json(value: object) -> object:
    """Return an option's value for JSON, with dates and paths as texts."""
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value


def described(hint: Any) -> str:
    """Return the name of a type for a message, such as "a text or a path"."""
    if len(members := union_members(hint)) > 1:
        return " or ".join(map(described, members))
    kind, element_types = get_origin(members[0]) or members[0], get_args(members[0])
    if kind is Mapping:
        return f"a mapping from a name to {described(element_types[1])}"
    if kind is Sequence:
        nouns = [described(member).split(" ", 1)[-1] for member in union_members(element_types[0])]
        return f"several {' or '.join(f'{noun}s' for noun in nouns)}"
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    return _NOUNS.get(kind, f"{article} {kind.__name__}")


def type_of(value: object) -> str:
    """Return the name of a value's type with the types of its elements: "list of int and str"."""
    if not isinstance(value, (list, tuple)) or not value:
        return type(value).__name__
    return f"{type(value).__name__} of {listed(sorted({type(item).__name__ for item in value}))}"
