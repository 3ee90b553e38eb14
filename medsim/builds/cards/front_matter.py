"""The YAML at the head of a card."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def front_matter(metadata: Mapping[str, object]) -> str:
    """Return mappings, lists, texts, numbers and booleans as YAML between two lines of hyphens.

    A text is written as in JSON, which YAML reads as the same text whatever is in it, but for
    characters that YAML does not allow or takes for the end of a line; those are escaped.
    """
    return "\n".join(["---", *_lines(metadata), "---"])


def _lines(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [line for name, one in value.items() for line in _entry(f"{name}:", one)]
    if isinstance(value, list):
        return [line for one in value for line in _entry("-", one)]
    text = json.dumps(value, ensure_ascii=False)
    return [_NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)]


def _entry(head: str, value: object) -> list[str]:
    first, *others = _lines(value)
    if head != "-" and isinstance(value, (Mapping, list)):
        return [head, *(f"  {line}" for line in (first, *others))]
    return [f"{head} {first}", *(f"  {line}" for line in others)]
