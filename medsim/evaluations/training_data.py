"""Whether the declared training data of a model has the names of a terminology."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from medsim.core.data import toml_of
from medsim.core.terms import lowered

_DATA = toml_of(__package__, "training_data.toml")
_CONTAINS: Mapping[str, list[str]] = _DATA["contains"]
_IGNORED = _DATA["ignored"].split()
_WORD = re.compile(r"[^\W\d_]{2,}|[^\W_]+")  # two of UMLS2020AA, one of v2025
_DIGIT = re.compile(r"\d")
_TRAIN = re.compile(r"(?<![a-z])train(ing)?(?![a-z])", re.IGNORECASE)


def _name(text: str) -> str:
    words = _WORD.findall(lowered([text])[0])
    return " ".join([word for word in words if word not in _IGNORED] or words)


_KNOWN: Mapping[str, str] = {
    _name(alias): source
    for source, aliases in (_DATA["terminologies"] | _DATA["texts"]).items()
    for alias in (source, *aliases)
}


def _source(text: str) -> str:
    """Return the known source that a text names, as UMLS in "UMLS 2020AA", else its words."""
    name = _name(text)
    words = name.split()
    while " ".join(words) not in _KNOWN and len(words) > 1:
        if _DIGIT.search(words[0]):
            del words[0]
        elif _DIGIT.search(words[-1]):
            del words[-1]
        else:
            break
    return _KNOWN.get(" ".join(words), name)


def sources_in(trained_on: str) -> list[str]:
    """Return the sources in a list such as "UMLS+PubMed"."""
    return re.split("[+;]", trained_on)


def trained_here(trained_on: str | None, *names: str | None) -> str:
    """Return whether declared training data has names of a terminology.

    Args:
        trained_on: sources, such as "UMLS+PubMed"; None if nothing was declared.
        names: names of the terminology, such as those of a build, its source and its vocabulary.

    Returns:
        "yes" if a source is the terminology, contains it or is part of it; "no" if all sources are
        texts; "unknown" otherwise, and "not stated".
    """
    if trained_on is None:
        return "not stated"
    own = {_source(name) for name in names if name} - {""}
    parts = own.union(*(_CONTAINS.get(name, ()) for name in own))
    sources = list(map(_source, sources_in(trained_on)))
    if any(name in parts or own.intersection(_CONTAINS.get(name, ())) for name in sources):
        return "yes"
    return "no" if all(name in _DATA["texts"] for name in sources) else "unknown"


def warnings_of_leaks(
    inputs: Mapping[str, Mapping[str, Any]], embeddings: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a sentence for each build with names that a model was trained on.

    The validation and the test split have no names of the train split. A split does not
    record the name of its build, so on a train split there is also a warning for any train split
    of unknown data. Inputs and embeddings are provenance by name.
    """
    for (name, about), (model, of_model) in product(inputs.items(), embeddings.items()):
        source = about.get("source", {})
        names = (name, source.get("name"), source.get("vocabulary"))
        split = about.get("options", {}).get("split", {}).get("name")
        for item in sources_in(of_model.get("trained_on", "")) if source else ():
            found, is_train = trained_here(item, *names), _TRAIN.search(item)
            is_of_own = _source(item) in {_source(each) for each in names if each}
            is_unseen = split not in {None, "train"} and is_train and is_of_own
            may_be_own = split == "train" and is_train and found == "unknown"
            if (found == "yes" and not is_unseen) or may_be_own:
                has = "has" if found == "yes" else "may have"
                yield (
                    f"{model} was trained on {item}, which {has} names of {name}, so its scores "
                    "may be too high; evaluate it on a test split that it has not seen"
                )
