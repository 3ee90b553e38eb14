"""Relations of words by terminologies, the SPECIALIST Lexicon and association norms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.studies import put
from fixtures.tables import put as put_rows
from fixtures.tables import put_terms

from medsim.core.errors import InputError
from medsim.studies.relations import (
    Lexicon,
    associated,
    read_lexicon,
    read_norms,
    relations,
    single_words,
)
from medsim.studies.words import Forms

if TYPE_CHECKING:
    from medsim.core.store import Store


FORMS = Forms(counts={"anemia": 1}, lemmas={"chills": "chill"}, lemma_of=str)


def named(store: Store, **concepts: str) -> dict[str, int]:
    """Fill term and name with the names of concepts, and return each lower-cased term's node."""
    names = [(concept, term) for concept, terms in concepts.items() for term in terms.split("|")]
    put_terms(store, *sorted({term for _, term in names}))
    rows = {term: (row, node) for row, term, _, node in store.table("term").rows()}
    put_rows(store, "name", *((concept, *rows[term], False) for concept, term in names))
    return {term.lower(): node for term, (_, node) in rows.items()}


def related(
    store: Store,
    words: list[str],
    components: dict[int, int] | None = None,
    lexicon: Lexicon | None = None,
):
    """Return associated pairs with their reasons, and related pairs, as words."""
    ids = pl.DataFrame(
        {"word": words, "word_id": range(len(words))},
        schema={"word": pl.String, "word_id": pl.Int32},
    )
    linked = pl.DataFrame(
        list((components or {}).items()),
        schema={"node_id": pl.Int32, "component": pl.Int32},
        orient="row",
    )
    result = relations(store, single_words(store, FORMS, lexicon), ids, linked)
    associated = {(words[a], words[b]): why for a, b, why in result[0].iter_rows()}
    return associated, {(words[a], words[b]) for a, b in result[1].iter_rows()}


def test_synonyms_are_single_words_of_one_concept_and_spellings_are_not(
    store: Store,
) -> None:
    named(
        store, c2="Fever|Pyrexia|High fever", c1="fever|Pyrexia", c3="Chills", c4="Anaemia|Anemia"
    )
    put_rows(store, "is_a")

    associated, near = related(store, ["anemia", "chill", "fever", "pyrexia"])

    assert near == {("fever", "pyrexia")}  # and nothing of anemia
    assert associated == {("fever", "pyrexia"): "synonyms of c1"}


def test_siblings_are_names_of_two_concepts_under_one_parent(store: Store) -> None:
    named(store, c1="Fever", c2="Chills", c3="Pain|Fever", p1="Sign", p2="Finding")
    put_rows(store, "is_a", ("c1", "p2"), ("c2", "p2"), ("c1", "p1"), ("c2", "p1"), ("c3", "p2"))

    associated, _ = related(store, ["chill", "fever", "finding", "pain", "sign"])

    assert associated == {
        ("chill", "fever"): "siblings under p1",
        ("chill", "pain"): "siblings under p2",
        ("fever", "pain"): "synonyms of c3",  # siblings as well
    }


def test_all_ancestors_of_a_word_are_related_even_in_a_cycle(store: Store) -> None:
    named(store, c1="Fever", c2="many words", c3="Sign", c4="Leg")
    put_rows(store, "is_a", ("c1", "c2"), ("c2", "c3"), ("c3", "c5"), ("c5", "c3"))

    associated, above = related(store, ["fever", "leg", "sign"])

    assert associated == {}
    assert above == {("fever", "sign")}


def test_variants_of_names_are_related_like_the_names(store: Store) -> None:
    named(store, c1="Phosphorylation|Kinase activity", c2="Oxidation", c3="Binding", p1="Process")
    put_rows(store, "is_a", ("c1", "p1"), ("c2", "p1"))
    lexicon = Lexicon(
        nominalisations={
            "phosphorylation": {"phosphorylate"},
            "oxidation": {"oxidize", "oxidate"},
            "binding": {"bind"},
        }
    )
    verbs = ["bind", "oxidate", "oxidize", "phosphorylate"]

    associated, near = related(store, verbs, lexicon=lexicon)

    assert related(store, verbs) == ({}, set())
    assert associated == {
        ("oxidate", "phosphorylate"): "siblings under p1",
        ("oxidize", "phosphorylate"): "siblings under p1",
    }
    assert near == {("oxidate", "oxidize")}  # two forms of one name


def test_words_that_positives_link_are_related(store: Store) -> None:
    node = named(store, c1="Fever", c2="Pyrexia", c3="Leg")
    put_rows(store, "is_a")
    components = {node["fever"]: 4, node["pyrexia"]: 4, node["leg"]: 1}

    assert related(store, ["fever", "leg", "pyrexia"], components) == ({}, {("fever", "pyrexia")})


LRAGR = """E01|phosphorylates|verb|pres(thr_sing)|phosphorylate|phosphorylate|
E01|phosphorylate|verb|infinitive|phosphorylate|phosphorylate|
E02|Phosphorylations|noun|count(thr_plur)|phosphorylation|phosphorylation|
E03|heart attacks|noun|count(thr_plur)|heart attack|heart attack|
"""
LRNOM = """E02|phosphorylation|noun|E01|phosphorylate|verb|
E05|dephosphorylation|noun|E04|dephosphorylate|verb|
"""
LRSPL = "E06|localise|localize|\nE07|oedema|edema|\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, "LRAGR", LRAGR)
    put(tmp_path, "LRNOM.txt", LRNOM.replace("\n", "\r\n"))
    put(tmp_path, "lrspl.RRF", LRSPL)
    put(tmp_path, "LRFLD", "no|concern|of ours")
    return tmp_path


@pytest.mark.parametrize(
    ("word", "variants"),
    [
        ("phosphorylation", "phosphorylates phosphorylate phosphorylations phosphorylation"),
        ("phosphorylates", "phosphorylates phosphorylate phosphorylations phosphorylation"),
        ("dephosphorylate", "dephosphorylate dephosphorylation"),
        ("localize", "localise localize"),
        ("oedema", "oedema edema"),
        ("heart", "heart"),
    ],
)
def test_variants_are_forms_of_bases_and_of_their_nominalisations(
    folder: Path, word: str, variants: str
) -> None:
    assert read_lexicon([folder]).variants(word) == {*variants.split()}
    nominal = read_lexicon([folder / "LRNOM.txt", folder / "lrspl.RRF"])  # named as single files
    assert nominal.variants("phosphorylate") == {"phosphorylate", "phosphorylation"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("LRNOM", "E02|phosphorylation|noun|\n", "line 1 has 4 fields .* LRNOM has 6"),
        ("words.txt", "a|b|c", "words.txt is not from the SPECIALIST Lexicon; give LRAGR"),
        ("LRSPL", "", "LRSPL is empty"),
        ("LRSPL", b"E1|\xe9|e|\n", "LRSPL is not in UTF-8: byte 4 is 0xe9"),
    ],
)
def test_files_not_of_the_lexicon_are_refused(
    tmp_path: Path, name: str, text: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_lexicon([put(tmp_path, name, text)])
    (tmp_path / "empty").mkdir(exist_ok=True)
    with pytest.raises(InputError, match="cannot be read"):
        read_lexicon([tmp_path / "LRAGR"])
    with pytest.raises(InputError, match=re.escape("empty is not from the SPECIALIST")):
        read_lexicon([tmp_path / "empty"])


NORM_FORMS = Forms(counts={}, lemmas={"cats": "cat"}, lemma_of=str)
NORM_WORDS = pl.DataFrame(
    {"word": ["cat", "color", "dog", "fox"], "word_id": [0, 1, 2, 3]},
    schema={"word": pl.String, "word_id": pl.Int32},
)
USF = """<HTML>
<BODY>
<pre>
CUE, TARGET, NORMED?, #G, #P, FSG, BSG
DOG, CAT, YES, 150, 98, .653, .512
CAT, DOG, YES, 148, 76, .512, .653
CAFÉ, COFFEE, NO, 150, 9, .06, \xa5
COLOUR, FOX, NO, 150, 2, .013, \xa5
DOG, DOG, NO, 150, 2, .013, \xa5

</pre>
</BODY>
</HTML>
"""


ANY = {"participants": 0, "one_way": True}
OF_THE_PAPER = {"participants": 11, "one_way": False}


def pairs(*paths: Path, rule: dict = ANY) -> list[tuple[int, int, str]]:
    result = associated(read_norms(paths, **rule)[0], NORM_FORMS, NORM_WORDS)
    return result.filter("counts").drop("counts").rows()


def test_files_of_the_university_of_south_florida_are_read(tmp_path: Path) -> None:
    content = USF.replace("\n", "\r\n").encode("latin-1")
    assert pairs(put(tmp_path, "usf.txt", content)) == [
        (0, 2, "norm: dog → cat, FSG 0.653"),  # the stronger of two directions
        (1, 3, "norm: color → fox, FSG 0.013"),
    ]


@pytest.mark.parametrize(
    ("participants", "one_way", "counting"),
    [
        (11, False, {(0, 2)}),
        (11, True, {(0, 2), (1, 3)}),
        (150, False, {(0, 2)}),
        (151, True, set()),
    ],
)
def test_norms_need_enough_participants_and_both_directions(
    tmp_path: Path, participants: int, *, one_way: bool, counting: set
) -> None:
    rule = {"participants": participants, "one_way": one_way}
    norms, warnings = read_norms([put(tmp_path, "usf.txt", USF.encode("latin-1"))], **rule)

    result = associated(norms, NORM_FORMS, NORM_WORDS)

    assert warnings == ()
    assert {tuple(pair) for *pair, _, counts in result.iter_rows() if counts} == counting
    assert result.select("word1_id", "word2_id").rows() == [(0, 2), (1, 3)]
    for answers, n_counting in ((2, 5), (3, 3), (77, 1), (99, 0)):  # of the column #P
        path = put(tmp_path, "usf.txt", USF.encode("latin-1"))
        assert read_norms([path], **ANY, answers=answers)[0]["counts"].sum() == n_counting
    for backward in ("", "0", "\xa5", ".000"):  # none
        rows = f"cat,dog,11,.2,{backward}\ndog,fox,10,.2,.1\ncat,fox,11,.1,.1\n"
        path = put(tmp_path, "norms.csv", "cue,target,#G,FSG,BSG\n" + rows)
        assert [pair[:2] for pair in pairs(path, rule=OF_THE_PAPER)] == [(0, 3)]


def test_strengths_may_have_decimal_commas(tmp_path: Path) -> None:
    rows = "cat;dog;11;0,2;0,1\ndog;fox;11;0,2;0,0\ncat;fox;11;0,0;0,1\n"

    norms, _ = read_norms(
        [put(tmp_path, "norms.csv", "cue;target;#G;FSG;BSG\n" + rows)], **OF_THE_PAPER
    )

    assert norms["strength"].to_list() == [0.2, 0.2, 0.0]
    assert norms["counts"].to_list() == [True, False, False]


def test_all_rows_of_a_plain_table_count_with_warnings(tmp_path: Path) -> None:
    path = put(tmp_path, "plain.csv", "cue,target\nfox,Cats\ncats,dog\n")

    norms, (of_people, of_ways) = read_norms([path], **OF_THE_PAPER)

    assert norms["counts"].all()
    assert of_people.startswith("plain.csv has no column #G")
    assert "`norm_participants` 11" in of_people
    assert of_ways.startswith("plain.csv has no column BSG")
    assert read_norms([path], **ANY)[1] == ()
    of_answers = "plain.csv has no column #P, so `norm_answers` 2 is not applied"
    assert read_norms([path], **ANY, answers=2)[1] == (of_answers,)
    strong = put(tmp_path, "strong.tsv", "Cue\tTarget\tStrength\ncat\tdog\t12\ndog\tfox\t\n")
    assert pairs(path) == [(0, 2, "norm: cat → dog"), (0, 3, "norm: fox → cat")]
    assert pairs(path, strong) == [
        (0, 2, "norm: cat → dog, strength 12"),
        (0, 3, "norm: fox → cat"),
        (2, 3, "norm: dog → fox"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cue,target,FSG\na,b,often\n", "line 2: fsg 'often' is not a finite number"),
        ("cue,target,strength\na,b,1\nb,c,nan\n", "line 3: strength 'nan' is not a finite number"),
        ("cue,target\n,cat\ndog,\n", "line 2: cue '' is empty; give a word"),
        ("cue,target\ncat,fox\ndog,\n", "line 3: target '' is empty; give a word"),
        ("cue,target,#G\na,b,some\n", "line 2: #g 'some' is not a finite number"),
        ("word,target\na,b\n", "no column 'cue'"),
    ],
)
def test_errors_in_norms_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_norms([put(tmp_path, "norms.csv", text)], **OF_THE_PAPER)
