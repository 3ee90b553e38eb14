"""Tests that the oracle and the invented releases give what was worked out by hand."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from fixtures.release import (
    MODEL,
    NameStyle,
    Release,
    ReleaseType,
    edge_release,
    random_release,
    small_release,
)
from oracles.datasets import (
    SET_ORDER,
    OboTerm,
    Pair,
    Rows,
    SetKey,
    check_negatives,
    components,
    cosine,
    difficulty,
    drop_mark,
    drop_tag,
    farness,
    greedy_levenshtein,
    greedy_nearest,
    levenshtein,
    mean_vector,
    one_direction,
    parse_obo,
    positive_sets,
    positives,
    positives_obo,
    read_obo,
    read_release,
    single,
    state_as_of,
    terminology_pool,
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


@pytest.mark.parametrize("release_type", ["Full", "Snapshot", ""])
@pytest.mark.parametrize("name_style", ["plain", "x", "mono", "uk", "odd"])
def test_every_file_name_and_type_is_read(
    tmp_path: Path, release_type: ReleaseType, name_style: NameStyle
) -> None:
    folder = small_release().write_folder(tmp_path, release_type, name_style=name_style)
    assert positives(read_release(folder)) == SMALL


def test_mark_order_line_ends_and_zip_do_not_matter(tmp_path: Path) -> None:
    release = small_release()
    plain = read_release(release.write_folder(tmp_path / "plain"))
    other = release.write_folder(tmp_path / "other", bom=True, shuffle_seed=3, newline="\n")
    with zipfile.ZipFile(release.write_zip(tmp_path / "release.zip")) as archive:
        archive.extractall(tmp_path / "zip")
    assert read_release(other) == plain
    assert read_release(tmp_path / "zip") == plain


def test_editions_side_by_side_are_read_together(tmp_path: Path) -> None:
    first = Release()
    first.named("1", "Alder (thing)", "Alderling")
    second = Release()
    second.description("1", "Aldertree", "synonym", id="599999")
    first.write_folder(tmp_path)
    second.write_folder(tmp_path, namespace="XX1000099")
    assert positives(read_release(tmp_path))["fsn_syn"] == {
        ("Alder", "Alderling", "1", "1"),
        ("Alder", "Aldertree", "1", "1"),
    }


def test_release_files_look_like_rf2(release: Release) -> None:
    release.named("1", "Alder (thing)")
    release.association("1", "2")
    files = release.files(bom=True)
    assert sorted(files) == [
        "Full/Refset/Content/der2_cRefset_AssociationFull_INT_20200131.txt",
        "Full/Refset/Language/der2_cRefset_LanguageFull-en_INT_20200131.txt",
        "Full/Terminology/sct2_Concept_Full_INT_20200131.txt",
        "Full/Terminology/sct2_Description_Full-en_INT_20200131.txt",
        "Full/Terminology/sct2_Relationship_Full_INT_20200131.txt",
        "Readme_en_20200131.txt",
    ]
    assert files["Full/Terminology/sct2_Concept_Full_INT_20200131.txt"] == (
        b"\xef\xbb\xbfid\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\r\n"
        b"1\t20200131\t1\t900000000000207008\t900000000000074008\r\n"
    )
    assert files["Full/Refset/Content/der2_cRefset_AssociationFull_INT_20200131.txt"] == (
        b"\xef\xbb\xbfid\teffectiveTime\tactive\tmoduleId\trefsetId\treferencedComponentId"
        b"\ttargetComponentId\r\n00000000-0000-4000-8000-000000000001\t20200131\t1"
        b"\t900000000000207008\t900000000000527005\t1\t2\r\n"
    )


@pytest.mark.parametrize(
    ("name_style", "release_type", "names"),
    [
        ("x", "Snapshot", ["xder2_cRefset_AssociationSnapshot_INT", "xsct2_Concept_Snapshot_INT"]),
        ("mono", "", ["MONOder2_cRefset_Association_INT", "MONOsct2_Concept_INT"]),
        (
            "uk",
            "Snapshot",
            ["der2_cRefset_AssociationMONOSnapshot_GB", "sct2_Concept_MONOSnapshot_GB"],
        ),
        ("odd", "Snapshot", ["der2_AssociationReferenceSnapshot_INT", "sct2_Concept_Snapshot_INT"]),
    ],
)
def test_file_names_follow_the_publisher(
    name_style: NameStyle, release_type: ReleaseType, names: list[str]
) -> None:
    files = Release().files(release_type, name_style=name_style)
    found = [Path(path).name for path in files if "Association" in path or "Concept" in path]
    assert sorted(found) == [f"{name}_20200131.txt" for name in names]


def test_snapshot_holds_the_newest_row_of_each_id(release: Release) -> None:
    release.concept("1", time="20200131", active=False)
    release.concept("1", time="20190131")
    release.concept("2", time="20190731")
    snapshot = release.files("Snapshot")[
        "Snapshot/Terminology/sct2_Concept_Snapshot_INT_20200131.txt"
    ]
    assert [line.split("\t")[:3] for line in snapshot.decode().splitlines()[1:]] == [
        ["1", "20200131", "0"],
        ["2", "20190731", "1"],
    ]


def test_release_refuses_two_rows_of_one_day(release: Release) -> None:
    release.concept("1")
    with pytest.raises(ValueError, match="concept 1 already has a row of 20200131"):
        release.concept("1", active=False)


def test_oracle_refuses_two_rows_of_one_day(tmp_path: Path) -> None:
    first, second = Release(), Release()
    first.concept("1")
    second.concept("1", active=False)
    first.write_folder(tmp_path)
    second.write_folder(tmp_path, namespace="XX1000099")
    with pytest.raises(ValueError, match="two different rows of 1 take effect on 20200131"):
        state_as_of(read_release(tmp_path))


def test_state_is_the_newest_row_not_after_the_day(release: Release, tmp_path: Path) -> None:
    release.concept("1", time="20190131")
    release.concept("1", time="20190731", active=False)
    release.concept("1", time="20200131")
    rows = rows_of(release, tmp_path)
    assert [row.active for row in state_as_of(rows, "20190730").concepts] == [True]
    assert [row.active for row in state_as_of(rows, "20190731").concepts] == [False]
    assert [row.time for row in state_as_of(rows).concepts] == ["20200131"]
    assert state_as_of(rows, "20181231").concepts == frozenset()


def test_a_term_is_cut_at_line_feeds_only(release: Release, tmp_path: Path) -> None:
    release.named("1", "Alder (thing)", "Alder\u2028two\x85three")
    assert found_in(release, tmp_path)["fsn_syn"] == {
        ("Alder", "Alder\u2028two\x85three", "1", "1"),
    }


# Rules 1 to 4


def test_concept_must_be_active_and_outside_the_model_module(
    release: Release, tmp_path: Path
) -> None:
    release.named("1", "Alder (thing)", "Alderling")
    release.named("2", "Birch (thing)", "Birchling", active=False)
    release.named("3", "Cedar (thing)", "Cedarling", time="20190731")
    release.concept("3", module=MODEL)
    release.description("4", "Dogwood (thing)")
    release.description("4", "Dogwoodling", "synonym")
    found = found_in(release, tmp_path)
    assert found["fsn_syn"] == {("Alder", "Alderling", "1", "1")}
    assert found["syn_syn"] == {("Alder", "Alderling", "1", "1")}


def test_names_are_those_of_the_day(release: Release, tmp_path: Path) -> None:
    release.concept("1", time="20190131")
    fsn = release.description("1", "Alder (thing)", time="20190131")
    synonym = release.description("1", "Alderling", "synonym", time="20190131")
    release.description("1", "Alder tree (thing)", id=fsn, time="20190731")
    release.description("1", "Alderling", "synonym", id=synonym, active=False, time="20200131")
    rows = rows_of(release, tmp_path)
    assert positives(rows, as_of="20190131")["fsn_syn"] == {("Alder", "Alderling", "1", "1")}
    assert positives(rows, as_of="20191231")["fsn_syn"] == {("Alder tree", "Alderling", "1", "1")}
    assert positives(rows)["fsn_syn"] == set()


def test_newest_active_fsn_wins_then_the_smallest_id(release: Release, tmp_path: Path) -> None:
    release.concept("1")
    release.description("1", "Alder (thing)", time="20190131", id="11")
    release.description("1", "Alder tree (thing)", time="20190731", id="13")
    release.description("1", "Alder wood (thing)", time="20190731", id="12")
    release.description("1", "Alder leaf (thing)", time="20200131", id="10", active=False)
    release.description("1", "Alderling", "synonym")
    assert found_in(release, tmp_path)["fsn_syn"] == {("Alder wood", "Alderling", "1", "1")}


@pytest.mark.parametrize(
    ("fsn", "term"),
    [
        ("Alder (thing)", "Alder"),
        ("Alder", "Alder"),
        ("Alder (thing) tree", "Alder (thing) tree"),
        ("Alder(thing)", "Alder(thing)"),
        ("(thing)", "(thing)"),
        ("Alder (red) (thing)", "Alder (red)"),
        ("Alder (red (dark))", "Alder (red"),
        ("Alder or (birch)", "Alder or (birch)"),
        ("Color (thing)", "Color"),
        ("Alder & (birch)", "Alder & (birch)"),
        ("Alder&/or (birch)", "Alder&/or"),
        ("Alder (& birch)", "Alder (& birch)"),
        ("Alder (birch & cedar)", "Alder"),
        ("Alder or (birch) (thing)", "Alder or (birch)"),
        ("  Alder  (thing) ", "Alder"),
        ("Alder\u00a0(thing)", "Alder\u00a0(thing)"),
        ("Alder (thing)\u00a0", "Alder"),
    ],
)
def test_tag_is_dropped(fsn: str, term: str) -> None:
    assert drop_tag(fsn) == term


def test_names_are_active_synonyms_in_the_language_that_differ_from_the_fsn(
    release: Release, tmp_path: Path
) -> None:
    release.named("1", "Alder Tree (thing)", "ALDER tree", "alder", " Alder\u00a0", "", "  ")
    release.description("1", "Alderling", "synonym", active=False)
    release.description("1", "What an alder is", "definition")
    release.description("1", "Al", "synonym", language="sv")
    release.description("1", "Altr\u00e4d (sak)", language="sv")
    rows = rows_of(release, tmp_path)
    assert positives(rows)["fsn_syn"] == {
        ("Alder Tree", "alder", "1", "1"),
        ("Alder Tree", "Alder", "1", "1"),
    }
    assert positives(rows, language="sv")["fsn_syn"] == {("Altr\u00e4d", "Al", "1", "1")}


def test_syn_syn_pairs_every_two_names_fsn_first_then_by_text(
    release: Release, tmp_path: Path
) -> None:
    release.named("1", "Larch (thing)", "Zirbe", "Arve", "\u00c4rve", "arve")
    assert found_in(release, tmp_path)["syn_syn"] == {
        ("Larch", "Arve", "1", "1"),
        ("Larch", "arve", "1", "1"),
        ("Larch", "Zirbe", "1", "1"),
        ("Larch", "\u00c4rve", "1", "1"),
        ("Arve", "Zirbe", "1", "1"),
        ("Arve", "\u00c4rve", "1", "1"),
        ("Zirbe", "arve", "1", "1"),
        ("arve", "\u00c4rve", "1", "1"),
        ("Zirbe", "\u00c4rve", "1", "1"),
    }


# Rules 5 and 6


def test_association_needs_an_active_newest_row_outside_the_model_module(
    release: Release, tmp_path: Path
) -> None:
    release.named("1", "Alder (thing)", active=False)
    release.named("2", "Birch (thing)")
    release.named("3", "Cedar (thing)", active=False)
    ended = release.association("1", "2", "same_as", time="20190131")
    release.association("1", "2", "same_as", active=False, id=ended)
    release.association("1", "2", "replaced_by", module=MODEL)
    release.association("1", "2", "moved_to")
    release.association("1", "3", "possibly_equivalent_to")
    release.association("1", "4", "possibly_equivalent_to")
    rows = rows_of(release, tmp_path)
    found = positives(rows)
    assert found["same_as"] == set()
    assert found["replaced_by"] == set()
    assert found["possibly_equivalent_to"] == {("Alder", "Cedar", "1", "3")}
    # A name of 2020 does not name a concept in 2019.
    assert positives(rows, as_of="20190131")["same_as"] == set()


@pytest.mark.parametrize(
    ("term", "left"),
    [
        ("[D]Alder", "Alder"),
        ("[D] Alder", "Alder"),
        ("Alder [D]", "Alder"),
        ("Alder[D]", "Alder"),
        ("Alder [D] tree", "Alder [D] tree"),
        ("[d]Alder", "[d]Alder"),
        ("[D]Alder[D]", "Alder"),
        ("[D]", ""),
    ],
)
def test_mark_is_dropped(term: str, left: str) -> None:
    assert drop_mark(term) == left


def test_namespace_counts_in_the_target_only(release: Release, tmp_path: Path) -> None:
    release.named("1", "Alder namespace (thing)", active=False)
    release.named("2", "Birch (thing)", active=False)
    release.association("1", "2", "same_as")
    release.association("2", "1", "same_as")
    release.association("2", "1", "replaced_by")
    found = found_in(release, tmp_path)
    assert found["same_as"] == {("Alder namespace", "Birch", "1", "2")}
    assert found["replaced_by"] == set()


def test_association_that_syn_syn_has_is_left_out(release: Release, tmp_path: Path) -> None:
    release.named("1", "Alder (thing)", "Alderling", "Erle")
    release.named("2", "Alderling (thing)", active=False)
    release.named("3", "Erle (thing)", active=False)
    release.association("2", "1", "same_as")
    release.association("2", "3", "replaced_by")
    release.association("3", "2", "possibly_equivalent_to")
    found = found_in(release, tmp_path)
    assert found["same_as"] == set()
    assert found["replaced_by"] == set()
    assert found["possibly_equivalent_to"] == set()


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


def test_directions_are_settled_within_a_dataset_and_not_across(
    release: Release, tmp_path: Path
) -> None:
    release.named("1", "Alder (thing)", active=False)
    release.named("2", "Birch (thing)", active=False)
    release.association("2", "1", "same_as")
    release.association("1", "2", "replaced_by")
    found = found_in(release, tmp_path)
    assert found["same_as"] == {("Birch", "Alder", "2", "1")}
    assert found["replaced_by"] == {("Alder", "Birch", "1", "2")}


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


def test_obo_is_read(tmp_path: Path) -> None:
    (tmp_path / "invented.obo").write_text(OBO, encoding="utf-8", newline="\r\n")
    terms = read_obo(tmp_path / "invented.obo")
    assert terms == parse_obo(OBO)
    assert [term.id for term in terms] == ["X:1", "X:2", "X:3", "X:4", "X:5", "X:6"]
    assert terms[0] == OboTerm(
        id="X:1",
        name="Alder (red)",
        exact_synonyms=("Alderling", "alder (RED)", 'Alder "Red"'),
    )
    assert terms[2] == OboTerm(
        id="X:3",
        name="OBSOLETE Cedar",
        obsolete=True,
        exact_synonyms=("Cedarling",),
        replaced_by=("X:1",),
        consider=("X:2", "X:9", "X:4"),
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("name: Alder", "Alder"),
        ("name:Alder ! a tree", "Alder"),
        ('name: Alder {source="X:1"}', "Alder"),
        ("name: Alder\\, red \\{dark\\}", "Alder, red {dark}"),
        ("name: Alder! red: dark", "Alder! red: dark"),
    ],
)
def test_obo_name_loses_comment_qualifiers_and_escapes(line: str, name: str) -> None:
    assert parse_obo(f"[Term]\nid: X:1\n{line}\n")[0].name == name


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


# Distance, difficulty, components


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("kitten", "sitting", 3),
        ("sunday", "saturday", 3),
        ("ab", "ba", 2),
        ("\u00e9", "e", 1),
        ("e\u0301", "e", 1),
        ("e\u0301", "\u00e9", 2),
        ("\u0130", "i", 1),
        ("\u0130".lower(), "i", 1),
        (SIGMA.lower(), "\u03bf\u03b4\u03bf\u03c3", 1),
        ("\U0001d4b3", "x", 1),
        ("stra\u00dfe", "strasse", 2),
        ("Alder", "alder", 1),
    ],
)
def test_levenshtein_counts_code_points(a: str, b: str, distance: int) -> None:
    assert levenshtein(a, b) == distance
    assert levenshtein(b, a) == distance


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


def test_positive_sets_are_ten_in_the_stated_order() -> None:
    sets = positive_sets({"fsn_syn": set(pairs(("b", "c"), ("a", "b"), ("a", "abcdefgh")))})
    assert list(sets) == [
        ("possibly_equivalent_to", "easy"),
        ("possibly_equivalent_to", "hard"),
        ("replaced_by", "easy"),
        ("replaced_by", "hard"),
        ("same_as", "easy"),
        ("same_as", "hard"),
        ("fsn_syn", "easy"),
        ("fsn_syn", "hard"),
        ("syn_syn", "easy"),
        ("syn_syn", "hard"),
    ]
    assert sets["fsn_syn", "easy"] == pairs(("a", "b"), ("b", "c"))
    assert sets["fsn_syn", "hard"] == pairs(("a", "abcdefgh"))


def test_components_join_terms_over_datasets_and_case() -> None:
    found = {
        "same_as": pairs(("A", "b"), ("x", "y")),
        "fsn_syn": pairs(("B", "c"), ("C", "d"), ("m", "n")),
    }
    expected = {"a": 0, "b": 0, "c": 0, "d": 0, "m": 1, "n": 1, "x": 2, "y": 2}
    assert components(found) == expected


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


def test_greedy_gives_fewer_where_candidates_run_out() -> None:
    key = ("fsn_syn", "easy")
    positives_of = pairs(("bat", "bats"), ("bat", "batt"), ("bat", "bath"), ("cat", "cats"))
    taken = greedy_levenshtein({key: positives_of}, no_hash)
    assert taken == {key: [("bat", "cat"), ("bat", "cats"), ("cat", "bath")]}
    assert check_negatives({key: positives_of}, taken, "levenshtein") == []
    assert check_negatives({key: positives_of}, taken, "random") == []


def test_greedy_takes_two_spellings_as_two_candidates() -> None:
    key = ("fsn_syn", "easy")
    positives_of = pairs(("Bat", "bats"), ("Bat", "batt"), ("cat", "cats"), ("Cat", "cath"))
    # Cat and cat, both at distance 1 of Bat, are served on their own, Cat first; to each, bats
    # and batt tie at 2.
    assert greedy_levenshtein({key: positives_of}, no_hash) == {
        key: [("Bat", "Cat"), ("Bat", "cat"), ("Cat", "bats"), ("cat", "bats")]
    }


def test_greedy_refuses_terms_linked_through_another_set() -> None:
    sets: dict[SetKey, list[Pair]] = {
        ("same_as", "hard"): pairs(("Cats", "bats")),
        ("fsn_syn", "easy"): pairs(("bat", "bats"), ("cat", "cats"), ("cot", "cots")),
    }
    # same_as has one component and so no candidate. bat and cat may only take cot and cots: cot.
    # cot: bat and cat were taken, cats 2.
    assert greedy_levenshtein(sets, no_hash) == {
        ("same_as", "hard"): [],
        ("fsn_syn", "easy"): [("bat", "cot"), ("cat", "cot"), ("cot", "cats")],
    }


def test_greedy_draws_from_the_shared_pool_where_there_is_one() -> None:
    sets: dict[SetKey, list[Pair]] = {("same_as", "hard"): pairs(("cat", "feline"))}
    pool = ["bat", "cat", "CAT", "feline", "rats"]
    assert greedy_levenshtein(sets, no_hash, pool) == {("same_as", "hard"): [("cat", "bat")]}
    negatives: dict[SetKey, list[tuple[str, str]]] = {("same_as", "hard"): [("cat", "rats")]}
    assert check_negatives(sets, negatives, "random", pool) == []
    assert check_negatives(sets, negatives, "levenshtein", pool) == [
        "same_as/hard: 'cat' passed over 'bat' at 1 for one at 2"
    ]
    assert check_negatives(sets, negatives, "random", pool[:4]) == [
        "same_as/hard: 'rats' is no term of the pool"
    ]


def test_the_pool_of_the_terminology_is_what_the_terminology_links(tmp_path: Path) -> None:
    release = Release()
    release.named("100001", "Blue velp (ailment)", "Velp, blue", "BLUE VELP")
    release.named("100002", "Green velp (ailment)")
    release.named("100003", "[D]Red velp (ailment)", "Velp in red", active=False)
    release.named("100004", "Lone velp (ailment)", "Velp alone", active=False)
    release.concept("100005", module=MODEL)
    release.description("100005", "Model velp (metadata)")
    release.association("100003", "100002", "replaced_by")
    release.write_folder(tmp_path, "Full")
    assert terminology_pool(read_release(tmp_path)) == {
        *("Blue velp", "Velp, blue", "Green velp"),
        "Red velp",  # of a positive, without the mark; the retired concept's synonym is not
    }


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


def test_check_finds_repeats_across_sets_but_not_from_fsn_syn_to_syn_syn() -> None:
    negatives = [("bat", "cots"), ("cat", "bats"), ("cot", "bats")]
    sets: dict[SetKey, list[Pair]] = {("fsn_syn", "easy"): BATS, ("syn_syn", "easy"): BATS}
    assert check_negatives(sets, dict.fromkeys(sets, negatives), "random") == []
    sets = {("same_as", "easy"): BATS, ("syn_syn", "easy"): BATS}
    mirrored = [("bat", "cats"), ("cat", "cots"), ("cot", "bats")]
    assert check_negatives(
        sets,
        {("same_as", "easy"): negatives, ("syn_syn", "easy"): mirrored},
        "random",
    ) == ["syn_syn/easy: 'cot' and 'bats' are repeated"]


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


def test_check_refuses_unknown_sets_and_strategies() -> None:
    key = ("fsn_syn", "easy")
    assert check_negatives({}, {key: []}, "random") == [
        "fsn_syn/easy: there are negatives and no positive set"
    ]
    with pytest.raises(ValueError, match="'nearest', not random, levenshtein or embedding"):
        check_negatives({}, {}, "nearest")
    with pytest.raises(ValueError, match="are no positive sets"):
        check_negatives({("fsn_syn", "medium"): []}, {}, "random")


# Random releases


def test_random_release_depends_on_its_arguments_only() -> None:
    assert random_release(5, 30).files() == random_release(5, 30).files()
    assert random_release(5, 30).files() != random_release(6, 30).files()


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
