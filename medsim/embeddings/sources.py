"""Sources of an embedding's vectors: files of this machine or of a hub, services, and objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from medsim.core.errors import OptionError
from medsim.embeddings import find_format, fingerprint
from medsim.embeddings.hub import fetch_model
from medsim.embeddings.objects import object_source
from medsim.embeddings.services.options import is_service
from medsim.embeddings.services.vectors import service_source

if TYPE_CHECKING:
    from medsim.embeddings import Format, Request, TermVectors, WordVectors
    from medsim.embeddings.options import EmbeddingOptions, EmbeddingSpec


class VectorSource(Protocol):
    """The source of an embedding's vectors.

    What is read-only here may be computed when it is asked for.
    """

    @property
    def location(self) -> str:
        """The path or address, for manifests and messages; with it, a user finds it again."""
        ...

    @property
    def format_name(self) -> str:
        """The name of the format, such as "word2vec"."""
        ...

    @property
    def describes(self) -> str:
        """The format in words, for messages."""
        ...

    @property
    def gives(self) -> str | None:
        """Whether vectors are of ``WORDS`` or of ``TERMS``; None where only reading tells."""
        ...

    def fingerprint(self) -> str:
        """Return a SHA-256 of all that decides the vectors, beside the options of reading.

        It is empty where only vectors that were made tell; see ``embedded_terms.settled``.
        """
        ...

    def read(self, request: Request) -> WordVectors | TermVectors:
        """Return the vectors for a request; see ``medsim.embeddings.Load``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """A file or folder; see ``VectorSource``."""

    path: Path
    location: str
    options: EmbeddingOptions
    format_name: str
    format: Format

    @property
    def describes(self) -> str:
        """The format in words, for messages."""
        return self.format.describes

    @property
    def gives(self) -> str | None:
        """Whether vectors are of ``WORDS`` or of ``TERMS``; None where only reading tells."""
        return self.format.gives

    def fingerprint(self) -> str:
        """Return a SHA-256 of the files that decide the vectors."""
        return fingerprint(self.path, self.format, self.options)

    def read(self, request: Request) -> WordVectors | TermVectors:
        """Return the vectors for a request; see ``medsim.embeddings.Load``."""
        return self.format.read(self.path, request)


def open_source(spec: EmbeddingSpec) -> VectorSource:
    """Return the source of an embedding's vectors; cheap, as no vector is read.

    A model of a hub is fetched, unless it is in the cache.

    Raises:
        InputError: there is nothing, or nothing in a known format.
        OptionError: no format has the name that the options give, or a service is not named as it
            must be.
    """
    if isinstance(spec.place, str):
        if is_service(spec.place):
            return service_source(spec.place, spec.options)
        model = fetch_model(spec.place, spec.options)
        options = replace(spec.options, format=model.format_name)
        return file_source(model.path, options, model.location)
    if isinstance(spec.place, Path):
        return file_source(spec.place, spec.options)
    return object_source(spec)


def file_source(path: Path, options: EmbeddingOptions, location: str | None = None) -> FileSource:
    """Return a file or folder as a source; it is found at its path where no location is given."""
    name, found = find_format(path, options)
    return FileSource(
        path=path,
        location=str(path) if location is None else location,
        options=options,
        format_name=name,
        format=found,
    )


def path_of(source: VectorSource) -> Path:
    """Return the file or folder of a source; OptionError where it is no file."""
    if not isinstance(source, FileSource):
        raise OptionError(f"{source.location} is {source.describes}, and no file or folder")
    return source.path
