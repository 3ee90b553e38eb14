"""Tests that the oracle and the invented releases give what was worked out by hand."""

import hashlib
from pathlib import Path

import pytest
from fixtures.release import (
    Release,
    ReleaseType,
    edge_release,
    random_release,
    small_release,
)
from oracles.datasets import (
    SET_ORDER,
    Pair,
    Rows,
    SetKey,
    check_negatives,
    cosine,
    difficulty,
    farness,
    greedy_levenshtein,
    greedy_nearest,
    mean_vector,
    one_direction,
    parse_obo,
    positive_sets,
    positives,
    positives_obo,
    read_release,
    single,
)

SIGMA = "\u039f\u0394\u039f\u03a3"
SMALL_FSN_SYN = {
    ("Grelb swelling", "Swelling of grelb", "100010", "100010"),
    ("Grelb swelling", "Grelb bulge", "100010", "100010"),
    ("Promoted part", "Part promoted", "100060", "100060"),
    ("Torvane", "Torvan", "100020", "100020"),
    ("Brindel pox", "Pox of brindle", "100021", "100021"),
    ("Marn or (velp)", "Marn and velp", "100040", "100040"),
    ("Marn & (drusk)", "Drusk with marn", "100041", "100041"),
    ("Sorrel (& tammet)", "Sorrel with tammet", "100042", "100042"),
    ("Plim (left (upper))", "Upper left plim", "100043", "100043"),
    ("Fenn (outer", "Inner fenn", "100044", "100044"),
    ("Dask unbracketed", "Dask", "100045", "100045"),
    ("Hulm(ailment)", "Hulm", "100046", "100046"),
    ("[D]Murn", "Murn state", "100050", "100050"),
    ("Revived orl", "Orl revived", "100071", "100071"),
    ("Kesp fever of spring", "Spring kesp", "100072", "100072"),
    ("Tolm Ache", "Ache of tolm", "100073", "100073"),
    ("Tolm sting", "Tolm pain", "100074", "100074"),
    ("Tolm sting", "tolm pain", "100074", "100074"),
    ("Zarn", "Zarn rash", "100080", "100080"),
    ("Rash of vell", "Vell rash", "100082", "100082"),
    ("Borp", "Yorp", "100085", "100085"),
    ("Cold mist", "Mistling", "100090", "100090"),
    ("Thin ether", "mistling", "100091", "100091"),
    ("Mull", "Zed mull", "100092", "100092"),
    ("Mull", "arc mull", "100092", "100092"),
    (SIGMA, "\u03bf\u03b4\u03bf\u03c3", "100100", "100100"),
    ("\u0130lgin", "ilgin", "100101", "100101"),
    ("Cr\u00e8me velp", "Creme velp", "100102", "100102"),
    ("Tarn \U0001d4b3", "Tarn X", "100103", "100103"),
    ('"Quoted" nurl', 'Nurl "so called"', "100110", "100110"),
    ('"Quoted" nurl', '"Nurl', "100110", "100110"),
    ("Olt", "Olt state", "100111", "100111"),
    ("Padded drelling", "Drelling, padded", "100112", "100112"),
}
SMALL = {
    "fsn_syn": SMALL_FSN_SYN,
    "syn_syn": SMALL_FSN_SYN
    | {
        ("Grelb bulge", "Swelling of grelb", "100010", "100010"),
        ("Zed mull", "arc mull", "100092", "100092"),
        ('"Nurl', 'Nurl "so called"', "100110", "100110"),
    },
    "same_as": {
        ("Wexing", "Grelb swelling", "200010", "100010"),
        ("Chain one", "Chain two", "200020", "200021"),
        ("Chain two", "Chain three", "200021", "200022"),
        ("Doubled mawk", "Marn or (velp)", "200027", "100040"),
    },
    "replaced_by": {
        ("Lorn spasm", "Torvane", "200011", "100020"),
        ("Murn spasm", "Murn", "200031", "100050"),
        ("Chain three", "Grelb swelling", "200022", "100010"),
        ("Askel", "Beskel", "200028", "200029"),
    },
    "possibly_equivalent_to": {
        ("Doubtful pox", "Brindel pox", "200023", "100021"),
        ("Doubtful pox", "Torvane", "200023", "100020"),
        ("Doubled mawk", "Marn or (velp)", "200026", "100040"),
    },
}


@pytest.fixture
def release() -> Release:
    return Release()


def rows_of(release: Release, folder: Path, release_type: ReleaseType = "Full") -> Rows:
    return read_release(release.write_folder(folder, release_type))


def found_in(
    release: Release, folder: Path, language: str = "en", as_of: str | None = None
) -> dict[str, set[Pair]]:
    return positives(rows_of(release, folder), language, as_of)


def pairs(*terms: tuple[str, str]) -> list[Pair]:
    return [Pair(term1, term2, "1", "1") for term1, term2 in terms]


def no_hash(_term: str, _candidate: str) -> int:
    return 0


# Releases as files


def test_small_release_gives_the_pairs_worked_out_by_hand(tmp_path: Path) -> None:
    assert found_in(small_release(), tmp_path) == SMALL


# Rules 1 to 4


# Rules 5 and 6


def test_a_pair_stays_in_its_smaller_direction_with_the_smallest_concepts_of_it() -> None:
    assert one_direction(
        [
            Pair("b", "a", "1", "1"),
            Pair("a", "b", "5", "2"),
            Pair("a", "b", "4", "9"),
            Pair("B", "a", "1", "1"),
            Pair("x", "X", "1", "1"),
            Pair("d", "c", "3", "3"),
            Pair("", "c", "3", "3"),
        ]
    ) == {("a", "b", "4", "9"), ("B", "a", "1", "1"), ("d", "c", "3", "3")}


def test_readings_where_the_contract_is_open(tmp_path: Path) -> None:
    found = found_in(edge_release(), tmp_path)
    assert found["fsn_syn"] == {
        # Ids are compared as text.
        ("Ullage", "Ull", "1000010", "1000010"),
        ("Tenth prawl", "Prawl", "110000", "110000"),
        # An empty FSN gives way to an older one.
        ("Older skell", "Skell", "110001", "110001"),
        # What is before the bracket is looked at as it stands.
        ("Mab or", "Mab", "110002", "110002"),
        ("Thorn bleck", "Bleck of thorn", "110011", "110011"),
    }
    assert found["same_as"] == {
        # Only the association's own module counts, and a name suffices.
        ("Model varn", "Active varn", "110003", "110004"),
        # "[D]" is dropped once at each end; a name that nothing is left of is none.
        ("Both gorm", "Active varn", "110006", "110004"),
        ("[D]Twice gorm", "Active varn", "110007", "110004"),
        # syn_syn has it in other case only.
        ("bleck of thorn", "Thorn bleck", "110012", "110011"),
    }
    assert found["replaced_by"] == {
        ("Active varn", "Model varn", "110004", "110003"),
        # "Namespace" is not "namespace"; a tag counts.
        ("Both gorm", "Namespace quorl", "110006", "110009"),
    }
    assert found["possibly_equivalent_to"] == {("Rowless varn", "Active varn", "110005", "110004")}


# OBO

OBO = """format-version: 1.2
synonymtypedef: layperson "layperson term" EXACT
ontology: invented

[Term]
id: X:1
name: Alder (red)
synonym: "Alderling" EXACT layperson [X:a, "b"]
synonym: "alder (RED)" EXACT []
synonym: "Alder \\"Red\\"" EXACT []
synonym: "Erle" RELATED []
synonym: "Alders" BROAD EXACT []
alt_id: X:9
is_a: X:2 ! Birch

[Term]
id: X:2
name: Birch

[Term]
id: X:3
name: OBSOLETE Cedar
synonym: "Cedarling" EXACT []
is_obsolete: true
replaced_by: X:1 ! Alder (red)
consider: X:2
consider: X:9
consider: X:4

[Term]
id: X:4
is_obsolete: true

[Term]
id: X:5
name: obsolete alderling
is_obsolete: true
replaced_by: X:1

[Term]
id: X:6
name: obsolete in name only
synonym: "  Padded  " EXACT []

[Typedef]
id: X:7
name: part of
synonym: "portion of" EXACT []
"""


def test_obo_positives_follow_the_same_rules() -> None:
    found = positives_obo(parse_obo(OBO))
    assert found["fsn_syn"] == {
        ("Alder (red)", "Alderling", "X:1", "X:1"),
        ("Alder (red)", 'Alder "Red"', "X:1", "X:1"),
        ("obsolete in name only", "Padded", "X:6", "X:6"),
    }
    assert found["syn_syn"] == found["fsn_syn"] | {('Alder "Red"', "Alderling", "X:1", "X:1")}
    assert found["same_as"] == set()
    # syn_syn has "Alderling", not "alderling".
    assert found["replaced_by"] == {
        ("Cedar", "Alder (red)", "X:3", "X:1"),
        ("alderling", "Alder (red)", "X:5", "X:1"),
    }
    assert found["possibly_equivalent_to"] == {("Cedar", "Birch", "X:3", "X:2")}


# Difficulty


@pytest.mark.parametrize(
    ("term1", "term2", "expected"),
    [
        ("alder", "alderABCDE", "easy"),
        ("alder", "alderABCDEF", "hard"),
        ("ALDERS", "alder", "easy"),
        ("\u00e9\u00e9\u00e9\u00e9\u00e9", "eeeee", "easy"),
        # A dotted capital I becomes two code points: six to insert.
        ("x", "x\u0130\u0130\u0130", "hard"),
    ],
)
def test_difficulty_turns_at_five(term1: str, term2: str, expected: str) -> None:
    assert difficulty(Pair(term1, term2, "1", "1")) == expected


# Negatives

BATS = pairs(("bat", "bats"), ("cat", "cats"), ("cot", "cots"))


def test_greedy_takes_the_nearest_that_is_left_and_breaks_ties_by_hash() -> None:
    # bat: cat 1. cat: bat is taken, cot 1. cot: cat is taken, bat and cats tie at 2.
    key = ("fsn_syn", "easy")
    assert greedy_levenshtein({key: BATS}, no_hash) == {
        key: [("bat", "cat"), ("cat", "cot"), ("cot", "bat")]
    }
    assert greedy_levenshtein(
        {key: BATS}, lambda term, candidate: 0 if (term, candidate) == ("cot", "cats") else 1
    ) == {key: [("bat", "cat"), ("cat", "cot"), ("cot", "cats")]}


def test_greedy_remembers_earlier_sets_but_syn_syn_passes_over_fsn_syn() -> None:
    sets: dict[SetKey, list[Pair]] = {
        ("syn_syn", "easy"): BATS,
        ("fsn_syn", "easy"): BATS,
        ("same_as", "easy"): BATS,
    }
    taken = greedy_levenshtein(sets, no_hash)
    assert taken["same_as", "easy"] == [("bat", "cat"), ("cat", "cot"), ("cot", "bat")]
    # bat: cat and cot were taken, cats 2. cat: bat and cot were, bats and cots tie at 2.
    assert taken["fsn_syn", "easy"] == [("bat", "cats"), ("cat", "bats"), ("cot", "cats")]
    assert taken["syn_syn", "easy"] == taken["fsn_syn", "easy"]


@pytest.mark.parametrize(
    ("negatives", "problems"),
    [
        ([("bat", "cots"), ("cat", "bats"), ("cot", "bats")], []),
        (
            [("bat", "cots"), ("cat", "bats")],
            ["'cot' has 0 negatives for 1 positives though 'bat' is left"],
        ),
        (
            [("bat", "cots"), ("cat", "cats"), ("cot", "bats")],
            ["'cat' and 'cats' are linked"],
        ),
        (
            [("bat", "cots"), ("cat", "cat"), ("cot", "bats")],
            ["'cat' and 'cat' are equal when case is ignored"],
        ),
        (
            [("bat", "cat"), ("cat", "bat"), ("cot", "bats")],
            ["'cat' and 'bat' are repeated"],
        ),
        (
            [("bat", "cots"), ("cat", "dog"), ("cot", "bats")],
            ["'dog' is no term of the pool"],
        ),
        (
            [("bat", "cots"), ("bat", "cats"), ("cat", "bats"), ("cot", "bats")],
            ["'bat' has 2 negatives for 1 positives"],
        ),
        (
            [("bat", "cots"), ("cats", "bats"), ("cat", "bats"), ("cot", "bats")],
            [
                "'cats' is no first term of a positive",
                "'cats' has 1 negatives for 0 positives",
            ],
        ),
    ],
)
def test_check_finds_what_is_wrong_within_a_set(
    negatives: list[tuple[str, str]], problems: list[str]
) -> None:
    key = ("fsn_syn", "easy")
    assert check_negatives({key: BATS}, {key: negatives}, "random") == [
        f"fsn_syn/easy: {problem}" for problem in problems
    ]


def test_check_replays_the_greedy_choice_whatever_the_ties() -> None:
    key = ("fsn_syn", "easy")
    either_tie = [
        [("bat", "cat"), ("cat", "cot"), ("cot", "bat")],
        [("cot", "cats"), ("cat", "cot"), ("bat", "cat")],
    ]
    for negatives in either_tie:
        assert check_negatives({key: BATS}, {key: negatives}, "levenshtein") == []
    passed_over = [("bat", "cat"), ("cat", "cots"), ("cot", "bat")]
    assert check_negatives({key: BATS}, {key: passed_over}, "levenshtein") == [
        "fsn_syn/easy: 'cat' passed over 'cot' at 1 for one at 2",
        "fsn_syn/easy: 'cot' passed over 'cat' at 1 for one at 2",
    ]
    too_few = [("bat", "cat"), ("cot", "cat")]
    assert check_negatives({key: BATS}, {key: too_few}, "levenshtein") == [
        "fsn_syn/easy: 'cat' has 0 negatives for 1 positives though 'bats' is left"
    ]


def test_cosines_and_means_are_what_can_be_worked_out_by_hand() -> None:
    assert cosine([3, 4], [4, 3]) == pytest.approx(0.96, abs=1e-7)
    assert cosine([3, 4], [4, 3]) == cosine([0.3, 0.4], [40, 30]) != 0.96
    assert cosine([0, 0], [1, 0]) == 0
    assert mean_vector([[1, 0], [0, 1], [0, 0]]) == [single(1 / 3)] * 2
    assert mean_vector([]) is None


def test_check_replays_the_choice_of_the_most_similar() -> None:
    key = ("fsn_syn", "easy")
    vectors = {"bat": [1, 0], "bats": None, "cat": [1, 1], "cats": [-1, 0], "cot": [0, 1]}
    greedy = greedy_nearest({key: BATS}, farness(vectors), lambda _, __: 0)
    assert greedy == {key: [("bat", "cat"), ("cat", "cot"), ("cot", "bat")]}
    assert check_negatives({key: BATS}, greedy, "embedding", vectors=vectors) == []
    passed_over = [("bat", "cat"), ("cat", "bats"), ("cot", "cats")]
    assert check_negatives({key: BATS}, {key: passed_over}, "embedding", vectors=vectors) == [
        "fsn_syn/easy: 'cat' and 'bats' cannot be compared",
        "fsn_syn/easy: 'cot' passed over 'cat' at -0.7071067690849304 for one at -0.0",
    ]


# Random releases


@pytest.mark.parametrize("seed", range(3))
def test_random_release_fills_every_set_and_the_oracle_agrees_with_itself(
    tmp_path: Path, seed: int
) -> None:
    release = random_release(seed, 100)
    rows = rows_of(release, tmp_path / "full")
    found = positives(rows)
    assert found == positives(rows_of(release, tmp_path / "snapshot", "Snapshot"))
    assert found != positives(rows, as_of="20190731")
    sets = positive_sets(found)
    assert all(sets[key] for key in SET_ORDER)

    def tie_hash(term: str, candidate: str) -> int:
        digest = hashlib.sha256(f"{seed}\t{term}\t{candidate}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    taken = greedy_levenshtein(sets, tie_hash)
    assert check_negatives(sets, taken, "levenshtein") == []
    assert check_negatives(sets, taken, "random") == []
    assert sum(map(len, taken.values())) > 0.8 * sum(map(len, sets.values()))
