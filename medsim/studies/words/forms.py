"""The one form that stands for all forms and spellings of a word."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from medsim.core.errors import OptionError
from medsim.core.terms import last_lemma

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# Where a part in oe- stands for itself: first, after a hyphen or a combining form whose o is
# doubled by it, or after a prefix that has no o. The o of angioedema belongs to angio-.
_OPENING = (
    r"(^|-|(?<=o)|^(?:an|anti|di|extra|hyper|inter|intra|met|mid|non|para|peri|poly|post|pre|sub|"
    r"supra|trans)(?=oe))"
)
_LEUKO = (
    "agglutin|aria$|blast|cidin|coria|cyt|derm|dystroph|encephal|erythro|keratosis|malac|nychia|"
    "peni|pheres|plak|poie|rrh|sis$|stasis|tact|tax|tom|trich|trien"
)
_BEFORE_OUR = (
    "arb|ard|arm|behavi|cand|clam|clang|col|demean|dol|endeav|fav|ferv|flav|harb|hon|hum|lab|"
    "neighb|od|parl|ranc|rig|rum|sav|savi|splend|succ|tum|val|vap|vig"
)
_BEFORE_RE = (
    "calib|cent|fib|goit|lit|lust|meag|met|mit|nit|petr?|reconnoit|sab|scept|sepulch|somb|spect|"
    "theat|tit"
)
_OF_VERBS = r"e[dr]?$|ers$|ing$|ations?$"
_BEFORE_ISE = (
    "al|an|ar|ard|crat|en|er|erg|ern|et|ic|id|il|im|in|ir|it|ll|log|mat|od|ol|on|or|ot|phas|"
    "(?<!pr)om|soph|tas|thes|tiv|path|ul|un|ur|yt"
)
_BEFORE_ISE_FIRST = (
    "amort|anonym|atom|bapt|caramel|dynam|evangel|iod|ion|item|ostrac|parallel|parametr|privat|"
    "quant|racem|recogn|solemn|styl|symmetr|system"
)
_DOUBLING = (
    "barrel|bevel|cancel|channel|chisel|counsel|dial|dishevel|duel|enamel|fuel|funnel|gravel|"
    "grovel|initial|jewel|label|level|libel|marshal|marvel|model|panel|parcel|pedal|pencil|quarrel|"
    "revel|rival|shovel|signal|spiral|stencil|swivel|total|towel|travel|tunnel|unravel"
)

# Parts of words that no American word has in that place, but for the names that are excepted.
_BRITISH = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"^haem(s?)$", r"heme\1"),
        (r"(?<!ac)haem(?!ophilus|onchus|aphysalis|anthus)", "hem"),
        (r"(?<=.)aemi", "emi"),
        (rf"{_OPENING}oedem", r"\1edem"),
        (r"^(lymph|myx|papill|scler)oedem", r"\1edem"),
        (rf"{_OPENING}oesoph(?!agostom)", r"\1esoph"),
        (rf"{_OPENING}oestr", r"\1estr"),
        (r"(stilb|ethinyl|ethynyl)oestr", r"\1estr"),
        (r"anaesth", "anesth"),
        (r"paraesthe", "paresthe"),
        (r"(dys|hyper|hypo|kin|syn)aesthe", r"\1esthe"),
        (r"paed(?!$)", "ped"),
        (r"gynaec", "gynec"),
        (r"(?<!asa)foet", "fet"),
        (r"rrhoe", "rrhe"),
        (r"pnoe", "pne"),
        (r"coeliac", "celiac"),
        (r"caec(?=um|al|a$|o)", "cec"),
        (r"caesium", "cesium"),
        (r"^(de)?faec(?=es$|al|ul|at)", r"\1fec"),
        (r"aetio(?=log|path)", "etio"),
        (r"caesar[ei]an", "cesarean"),
        (r"h?omoeo(?=path|sta|box)", "homeo"),
        (r"^palaeo", "paleo"),
        (r"phaeochrom", "pheochrom"),
        (r"^naev(?=us|i$|o)", "nev"),
        (r"pharmacopoei", "pharmacopei"),
        (r"^mediaeval", "medieval"),
        (rf"leuco(?={_LEUKO})", "leuko"),
        (r"leuc(?=a?emi)", "leuk"),
        (r"sulph", "sulf"),
        (r"(cortico|gonado|somato|thyro)trophin", r"\1tropin"),
        (r"neurone(?=s?$)", "neuron"),
        (r"^aluminium", "aluminum"),
        (r"^artefact", "artifact"),
        (r"manoeuvr(e(?=s?$)|(?=e[dr]|ing|ab))", "maneuver"),
        (rf"({_BEFORE_OUR})our", r"\1or"),
        (rf"({_BEFORE_RE})re(?=s?$)", r"\1er"),
        (r"^((?:de|epi|re)?cent)r(?=ed$|ing$)", r"\1er"),
        (r"^grey(?!hound|lag)", "gray"),
        (r"^(re|s)?mould", r"\1mold"),
        (r"^moult", "molt"),
        (r"plough", "plow"),
        (r"^sceptic", "skeptic"),
        (r"^ageing", "aging"),
        (r"(abridg|acknowledg|judg)ement", r"\1ment"),
        (r"^(def|off|pret)ence", r"\1ense"),
        (r"^licence", "license"),
        (r"gramme(?=s?$)", "gram"),
        (r"^(fulfil|enrol|instal)(?=s?$|ment)", r"\1l"),
        (r"^(distil|instil)(?=s?$)", r"\1l"),
        (r"^(un)?(skil|wil)ful", r"\1\2lful"),
        (r"^jewellery$", "jewelry"),
        (rf"^((?:mis|re|un)?(?:{_DOUBLING}))l(?=(?:ed|ers?|ings?|ors?)$)", r"\1"),
        (r"^marvellous", "marvelous"),
        (rf"((?:ana|cata|dia|electro|hemo|hydro|para)ly)s(?={_OF_VERBS})", r"\1z"),
        (rf"(?<=..)({_BEFORE_ISE})is(?=es$|{_OF_VERBS})", r"\1iz"),
        (rf"^((?:de|re|un)?(?:{_BEFORE_ISE_FIRST}))is(?=es$|{_OF_VERBS})", r"\1iz"),
    )
)

# Parts that some American writers keep: changed where the corpus shows that its writers do not.
_DOUBTFUL = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"^amoeb", "ameb"),
        (r"^archaeo", "archeo"),
        (r"^aesthet", "esthet"),
        (r"(ana|cata|homo)logue(?=s?$)", r"\1log"),
    )
)
_RARER_AT_MOST = 10

# Nouns in -is and their plurals, which look like verbs.
_NOUNS = re.compile(
    r"(?:amaryllis|chrysalis|clematis|clitoris|cullis|digitalis|itis|(?<!mono)polis|syphilis|"
    r"trellis)es$|(?:cullis|trellis)(?:ed|ing)$"
)


def american(word: str, counts: Mapping[str, int]) -> str:
    """Return the American spelling of a word, or the word itself where it has no other.

    The library that there is for this, breame 0.1.2, is a list of 1,730 words from 2021 that lacks
    oedema, ischaemia, uraemia, dyspnoea, caecum and catheterise, so these are rules of our own.
    They name the parts of words that are British, and where in a word they are: a word that no rule
    names stays, since a word that is changed wrongly is lost. The few parts that American writers
    use too (amoeba, catalogue) are changed where the corpus has the result, and has it at least a
    tenth as often. Plurals such as analyses stay. The word is in lower case.
    """
    if _NOUNS.search(word):
        return word
    word = _without_british_parts(word)
    for part, instead in _DOUBTFUL:
        changed = part.sub(instead, word)
        if counts.get(changed, 0) * _RARER_AT_MOST >= max(counts.get(word, 0), 1):
            word = changed
    return word


@lru_cache(maxsize=1 << 16)  # a word is asked for again in every corpus and terminology
def _without_british_parts(word: str) -> str:
    for part, instead in _BRITISH:
        word = part.sub(instead, word)
    return word


_CLASSES = {  # by the names that taggers give them, or how these begin
    "NOUN": re.compile(r"n|noun.*|nn.*|propn"),
    "VERB": re.compile(r"v|verb.*|vb.*"),
    "ADJ": re.compile(r"a|adj.*|jj.*"),
    "ADV": re.compile(r"r|adv.*|rb.*"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The forms of words of one class: which stand for the same word.

    Attributes:
        counts: how often the corpus has each word and lemma of the class.
        given: lemmas by word, as the corpus has them.
        lemma_of: returns the lemma of a word where none is given.
    """

    counts: Mapping[str, int]
    given: Mapping[str, str]
    lemma_of: Callable[[str], str]

    def of(self, word: str) -> str:
        """Return the American spelling of a word's lemma; the form of a form is the form itself.

        A lemma is made of the American spelling, so that labelled has the lemma of labeled.
        """
        return last_lemma(word, self._lemma)

    def _lemma(self, word: str) -> str:
        if word in self.given:
            return american(self.given[word], self.counts)
        return american(self.lemma_of(american(word, self.counts)), self.counts)

    def with_lemmas_of(self, rows: pl.DataFrame) -> Forms:
        """Return the forms with the lemmas that another table has of words that are not here."""
        others = _given(_lemmas(rows)).items()
        own = {word: lemma for word, lemma in others if word not in self.counts}
        return replace(self, given={**own, **self.given})


def forms_of(rows: pl.DataFrame, *, make_lemmas: bool = True) -> Forms:
    """Return the forms of the words of a frequency table.

    Where the table has lemmas, they are taken and none is made. Of several lemmas of a word the one
    that is counted most stands, then the first by text.

    Raises:
        OptionError: lemmas must be made, and the extra words is not installed or the class unknown.
    """
    lemmas = _lemmas(rows)
    given = _given(lemmas)
    counted = pl.concat([rows.select("word", "count"), lemmas.select(word="lemma", count="count")])
    most = counted.group_by("word").agg(pl.col("count").max())
    counts = dict(most.iter_rows())
    make_lemmas &= not given
    lemma_of = _lemmatiser(rows["class"][0], counts) if make_lemmas else str
    return Forms(counts=counts, given=given, lemma_of=lemma_of)


def _lemmas(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the lemma of each word that has one, and how often it is counted."""
    return (
        rows.drop_nulls("lemma")
        .group_by("word", "lemma")
        .agg(pl.col("count").sum())
        .sort("count", "lemma", descending=[True, False])
        .unique("word", keep="first", maintain_order=True)
    )


def _given(lemmas: pl.DataFrame) -> dict[str, str]:
    return dict(lemmas.select("word", "lemma").iter_rows())


def _lemmatiser(word_class: str, counts: Mapping[str, int]) -> Callable[[str], str]:
    """Return a function that makes the lemma of an English word of a class.

    LemmInflect's dictionary is made of the SPECIALIST Lexicon, which medicine uses. A base form of
    the class stays as it is, as the noun swelling does; only a plural noun goes to its singular
    even where the dictionary has it as a noun of its own (bacteria). Of several lemmas the one that
    is counted most is taken: of axes, axis where the corpus is of anatomy. Of a word that the
    dictionary lacks the lemma is guessed, and taken only if the class has it.
    """
    try:
        from lemminflect import getLemma  # noqa: PLC0415 — an extra
    except ImportError as error:
        raise OptionError(
            "the frequency table has no lemmas, and making them needs LemmInflect: install medsim "
            "with its extra words, add a column lemma, or add `no_lemmas`"
        ) from error
    tag = next((tag for tag, names in _CLASSES.items() if names.fullmatch(word_class.lower())), "")
    if not tag:
        raise OptionError(
            f"lemmas can be made of nouns, verbs, adjectives and adverbs, not of the class "
            f"{word_class!r}; add a column lemma to the frequency table, or add `no_lemmas`"
        )
    spellings = {american(word, counts) for word in counts}

    def lemma_of(word: str) -> str:
        if lemmas := getLemma(word, tag, lemmatize_oov=False):
            bases = lemmas[:1] if tag == "NOUN" else lemmas
            others = (one for one in lemmas if one != word)
            return word if word in bases else max(others, key=lambda one: counts.get(one, 0))
        return next((guess for guess in getLemma(word, tag) if guess in spellings), word)

    return lemma_of
