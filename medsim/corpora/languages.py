"""The languages of corpora: those that have both rules of sentences and lemmas."""

from __future__ import annotations

from medsim.core.errors import OptionError, needing


def check_language(language: str) -> None:
    """Raise OptionError for a language that PySBD or simplemma does not have, or without them."""
    with needing("sentences and lemmas need PySBD and simplemma", "wic"):
        from pysbd.languages import LANGUAGE_CODES  # noqa: PLC0415 — an extra
        from simplemma.strategies.dictionaries import dictionary_factory  # noqa: PLC0415 — as above
    known = sorted(LANGUAGE_CODES.keys() & dictionary_factory.SUPPORTED_LANGUAGES)
    if language not in known:
        raise OptionError(
            f"`language` {language} has no rules of sentences (PySBD) or no lemmas (simplemma); "
            f"accepted: {', '.join(known)}"
        )
