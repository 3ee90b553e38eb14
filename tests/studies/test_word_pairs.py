"""Choosing word pairs: from files to four equal quarters."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import polars as pl
import pytest
from fixtures.studies import put
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import MedsimError, OptionError, OutputError
from medsim.core.manifest import Skipped
from medsim.studies.output import WORD_PAIRS

pytestmark = pytest.mark.slow

SIGNS = ("fever", "chill", "nausea", "rash", "cough", "edema", "pallor", "itch")
ORGANS = ("heart", "lung", "liver", "kidney", "spleen", "colon")
SYNONYMS = {"fever": "pyrexia", "itch": "pruritus", "edema": "dropsy"}
BIOMEDICAL = (*SIGNS, *ORGANS, *SYNONYMS.values(), "sign", "organ")
GENERAL = ("house", "door", "window", "garden", "tree", "apple", "bread", "butter", "king", "queen")
NORMS = [*pairwise(GENERAL), ("king", "house"), ("heart", "king")]


def words_table(words: dict[str, int]) -> str:
    rows = [f"{word},noun,{count}" for word, count in words.items()]
    return "\n".join(["word,class,count", *rows, "run,verb,50", ""])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a build, a frequency table, norms and a list of biomedical words."""
    place = tmp_path_factory.mktemp("words")
    ids = {name: f"X:{at:02d}" for at, name in enumerate(["sign", "organ", *SIGNS, *ORGANS])}
    stanzas = ["format-version: 1.2\nontology: invented\n"]
    for name, concept_id in ids.items():
        lines = ["[Term]", f"id: {concept_id}", f"name: {name.title()}"]
        if name in SYNONYMS:
            lines.append(f'synonym: "{SYNONYMS[name]}" EXACT []')
        if name in (*SIGNS, *ORGANS):
            lines.append(f"is_a: {ids['sign' if name in SIGNS else 'organ']}")
        stanzas.append("\n".join(lines) + "\n")
    medsim.build(
        put(place, "invented.obo", "\n".join(stanzas)), place / "build", negatives=["random"]
    )
    counts = {word: 10 + at for at, word in enumerate((*BIOMEDICAL, *GENERAL))}
    put(place, "words.csv", words_table({**counts, "il-2": 9, "fevers": 7, "rare": 1}))
    norms = "".join(f"{a},{b},20,.2,.1\n" for a, b in NORMS)
    one_way = "house,queen,20,.2,\nbread,king,10,.2,.1\n"
    put(place, "norms.csv", "cue,target,#G,FSG,BSG\n" + norms + one_way)
    put(place, "list.txt", "\n".join(BIOMEDICAL))
    return place


def chosen(folder: Path, words: str = "words.csv", **changes) -> medsim.WordPairs:
    options = {"word_class": "noun", **paths_in(folder), "size": 24}
    return medsim.choose_pairs(folder / words, **{**options, **changes})


@pytest.fixture(scope="module")
def usual(folder: Path) -> medsim.WordPairs:
    return chosen(folder)


def paths_in(folder: Path) -> dict[str, Path]:
    """Return the options that name files of the folder."""
    names = {"terminology": "build", "norms": "norms.csv", "biomedical": "list.txt"}
    return {option: folder / name for option, name in names.items()}


def known_to_the_terminology() -> dict[frozenset[str], str]:
    """Return the pairs that the invented ontology relates, with their relation."""
    concept = {word: word for word in BIOMEDICAL} | {b: a for a, b in SYNONYMS.items()}
    parent = {**dict.fromkeys(SIGNS, "sign"), **dict.fromkeys(ORGANS, "organ")}
    relations = {}
    for a, b in combinations(BIOMEDICAL, 2):
        first, second = concept[a], concept[b]
        if first == second:
            relations[frozenset((a, b))] = "synonyms"
        elif parent.get(first) and parent.get(first) == parent.get(second):
            relations[frozenset((a, b))] = "siblings"
        elif parent.get(first) == second or parent.get(second) == first:
            relations[frozenset((a, b))] = "above"
    return relations


def test_forms_of_a_word_are_not_paired_and_their_norms_are_kept(tmp_path: Path) -> None:
    counts = {"bacterium": 50, "bacteria": 150, "cough": 10, "fever": 10}
    general = {"span": 50, "spans": 10, "bridge": 50, "table": 50, "window": 50}
    words = put(tmp_path, "words.csv", words_table({**counts, **general}))
    listed = put(tmp_path, "list.txt", "bacteria\ncough\nfever\n")
    norms = put(tmp_path, "norms.csv", "cue,target,#G,FSG,BSG\nspan,bridge,20,.2,.1\n")

    result = medsim.choose_pairs(
        words, word_class="noun", biomedical=listed, norms=norms, size=4, per_word=9
    )

    assert result.frame.filter("associated").select("term1", "term2", "count2").rows() == [
        ("bridge", "span", 60)
    ]
    chosen_words = {*result.frame["term1"], *result.frame["term2"]}
    assert chosen_words <= {"bacterium", "cough", "fever", "span", "bridge", "table", "window"}


def test_quarters_are_equal_and_pairs_have_the_stated_relation(usual: medsim.WordPairs) -> None:
    result = usual

    assert result.frame.schema == pl.Schema(WORD_PAIRS.dtypes)
    assert result.warnings == ()
    assert result.quarters().select("domain", "associated", "pairs").rows() == [
        ("biomedical", True, 6),
        ("biomedical", False, 6),
        ("general", True, 6),
        ("general", False, 6),
    ]
    related = known_to_the_terminology()
    in_norms = {frozenset(pair) for pair in NORMS}
    failing = {frozenset(("house", "queen")), frozenset(("bread", "king"))}
    for row in result.frame.iter_rows(named=True):
        pair = frozenset((row["term1"], row["term2"]))
        assert row["class"] == "noun"
        assert pair <= set(BIOMEDICAL if row["domain"] == "biomedical" else GENERAL)
        if not row["associated"]:
            assert row["reason"] == "random"
            assert pair not in related
            assert pair not in in_norms | failing
        elif row["domain"] == "biomedical":
            assert row["reason"].split()[0] == related[pair]
        else:
            assert pair in in_norms
            assert row["reason"].startswith("norm: ")
    pairs = [frozenset(pair) for pair in result.frame.select("term1", "term2").iter_rows()]
    assert {len(pair) for pair in pairs} == {2}
    assert len(set(pairs)) == len(pairs)
    uses = Counter(word for pair in pairs for word in pair)
    assert max(uses.values()) <= 3


def test_counts_include_all_forms_and_results_depend_on_the_seed_and_not_on_threads(
    folder: Path, usual: medsim.WordPairs
) -> None:
    first = usual.frame

    ends = [first.select(f"term{side}", f"count{side}").rows() for side in (1, 2)]
    assert dict(ends[0] + ends[1])["fever"] == 10 + 7
    left_out = {skipped.reason: skipped.n_rows for skipped in usual.left_out if skipped.n_rows}
    assert left_out == {"a symbol, or a hyphen": 1, "a count below 5": 1}
    assert chosen(folder, threads=3).frame.equals(first)
    assert not chosen(folder, seed=2).frame.equals(first)
    runs = first["reason"].ne(first["reason"].shift(1)).sum()
    assert runs > 8  # quarters are mixed
    listed = chosen(folder, biomedical=folder / "build")  # its names are the list
    assert listed.frame.equals(first)


@pytest.fixture(scope="module")
def without_terminology(folder: Path) -> medsim.WordPairs:
    return chosen(folder, terminology=None)


@settings(max_examples=8)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    folder: Path, without_terminology: medsim.WordPairs, rng: random.Random
) -> None:
    for name in ("words.csv", "norms.csv"):
        header, *lines = (folder / name).read_text().splitlines()
        rng.shuffle(lines)
        put(folder, f"shuffled-{name}", "\n".join([header, *lines]))

    norms = [folder / "shuffled-norms.csv"]
    result = chosen(folder, "shuffled-words.csv", terminology=None, norms=norms)

    assert result.frame.equals(without_terminology.frame)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of another ontology, with words of the first and others."""
    place = tmp_path_factory.mktemp("other")
    terms = {"Y:1": "House", "Y:2": "Door", "Y:3": "Cough"}
    lines = [f"[Term]\nid: {key}\nname: {name}\nis_a: Y:9\n" for key, name in terms.items()]
    lines.append('[Term]\nid: Y:7\nname: Fever\nsynonym: "Lung" EXACT []\n')
    lines.append('[Term]\nid: Y:8\nname: Itch\nsynonym: "Pallor" EXACT []\n')
    text = "\n".join(["format-version: 1.2\nontology: other\n", *lines, "[Term]\nid: Y:9\n"])
    source = put(place, "other.obo", text + "name: Top\n")
    return medsim.build(source, place / "build", negatives=["random"]).folder


def reasons(pairs: medsim.WordPairs) -> dict[frozenset[str], str]:
    """Return the reasons of associated biomedical pairs."""
    rows = pairs.frame.filter(domain="biomedical", associated=True)
    return {frozenset(row[:2]): row[2] for row in rows.select("term1", "term2", "reason").rows()}


def test_reason_comes_from_the_first_terminology_that_associates_a_pair(
    folder: Path, other: Path
) -> None:
    builds = [folder / "build", other]
    both = chosen(folder, terminology=builds, per_word=40, size=40)
    alone = chosen(folder, terminology=[other], per_word=9, size=8)

    # The first has fever and lung apart, itch and pallor as siblings; the second synonyms.
    of_second = {pair for pair, why in reasons(both).items() if "Y:" in why}
    assert of_second <= {frozenset(("fever", "lung"))}
    assert reasons(alone) == {
        frozenset(("fever", "lung")): "synonyms of Y:7",
        frozenset(("itch", "pallor")): "synonyms of Y:8",
    }
    unassociated = both.frame.filter(associated=False).select("term1", "term2").rows()
    assert ("door", "house") not in unassociated


def test_only_confirmed_pairs_of_several_terminologies_remain(
    folder: Path, other: Path, tmp_path: Path
) -> None:
    rows = ("term1,term2", "Livers,spleen", "lung,fever", "heart,fever")
    confirmed = put(tmp_path, "confirmed.csv", "\n".join(rows))

    result = chosen(folder, terminology=[folder / "build", other], confirmed=confirmed, size=8)

    assert reasons(result) == {
        frozenset(("liver", "spleen")): "siblings under X:01",
        frozenset(("lung", "fever")): "synonyms of Y:7",
    }
    assert result.warnings == ()


def test_frequencies_in_two_corpora_are_correlated_if_a_list_has_the_domains(
    folder: Path, usual: medsim.WordPairs, tmp_path: Path
) -> None:
    rng = random.Random(5)  # noqa: S311 — no secret
    counts = {word: rng.randrange(40) for word in (*BIOMEDICAL, *GENERAL) if word != "heart"}
    other = put(tmp_path, "other.csv", words_table({**counts, "elsewhere": 90, "fevers": 4}))

    actual = chosen(folder, general=other)

    assert actual.frame.equals(usual.frame)
    here = {word: 10 + at for at, word in enumerate((*BIOMEDICAL, *GENERAL))}
    here["fever"] += 7
    counts["fever"] += 4
    sides = [list(here.values()), [counts.get(word, 0) for word in here]]
    assert actual.frequency_correlation == pytest.approx(stats.spearmanr(*sides).statistic)
    domains = [f"{word},biomedical" for word in BIOMEDICAL] + [f"{w},general" for w in GENERAL]
    table = put(tmp_path, "domains.csv", "\n".join(["word,domain", *domains]))
    sorted_by_people = chosen(folder, biomedical=None, domains=table, general=other)
    assert sorted_by_people.frame.equals(actual.frame)
    assert sorted_by_people.frequency_correlation == actual.frequency_correlation
    result = run(folder, tmp_path / "pairs.csv", "--general", str(other))
    assert "Spearman's correlation of word frequencies in both corpora" in result.stderr


def test_pairs_have_the_topics_of_the_documents_of_their_words(
    folder: Path, tmp_path: Path
) -> None:
    topics = dict.fromkeys(BIOMEDICAL, "a;b") | dict.fromkeys(GENERAL, "c")
    rows = [f"{word},noun,9,{documents}" for word, documents in topics.items()]
    put(tmp_path, "words.csv", "\n".join(["word,class,count,documents", *rows]))
    table = "document,topics\na,Cardiology\nb,Cardiology;Surgery\nc,Botany\n"

    result = chosen(tmp_path, documents=put(tmp_path, "table.csv", table), **paths_in(folder)).frame

    columns = ["domain", "topics1", "topic1", "topics2", "topic2"]
    assert result.select(columns).unique().sort("domain").rows() == [
        ("biomedical", 2, "Cardiology", 2, "Cardiology"),
        ("general", 1, "Botany", 1, "Botany"),
    ]


def test_two_corpora_can_decide_domains(folder: Path) -> None:
    spoken = dict.fromkeys(BIOMEDICAL, 1) | dict.fromkeys(GENERAL, 900)
    other = put(folder, "other.csv", words_table(spoken | {"heart": 250}))

    result = chosen(folder, biomedical=None, general=other, ratio=1.5)

    used = {*result.frame["term1"], *result.frame["term2"]}
    assert "heart" not in used
    assert result.left_out[-1] == Skipped(reason="similar frequency in both corpora", n_rows=1)
    for row in result.frame.iter_rows(named=True):
        expected = BIOMEDICAL if row["domain"] == "biomedical" else GENERAL
        assert {row["term1"], row["term2"]} <= set(expected)
    with pytest.raises(OptionError, match="a `ratio` below 1000 leaves more words; no size"):
        chosen(folder, biomedical=None, general=other, ratio=1000)


def test_a_quarter_without_a_source_is_missing_with_a_warning(
    folder: Path, without_terminology: medsim.WordPairs
) -> None:
    result = chosen(folder, norms=None)
    assert result.frame.height == 18
    assert result.frequency_correlation is None
    assert "no associated general pairs without `norms`" in result.warnings[0]
    warning = without_terminology.warnings[0]
    assert "no associated biomedical pairs without `terminology`" in warning


def test_too_few_pairs_are_an_error_that_names_a_size_that_works(folder: Path) -> None:
    with pytest.raises(OptionError) as raised:
        chosen(folder, size=200)
    message = str(raised.value)
    assert "`size` 200 needs 50 pairs per quarter" in message
    assert "general associated" in message
    size = int(message.rsplit("`size` ", maxsplit=1)[-1].split(maxsplit=1)[0])
    assert chosen(folder, size=size).frame.height == size
    with pytest.raises(OptionError, match="no size would work"):
        chosen(folder, biomedical=put(folder, "none.txt", "absent"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 10}, "`size` 10 must be a multiple of 4, such as 8"),
        ({"word_class": "nuon"}, "did you mean noun"),
        ({"general": "nowhere.csv"}, "nowhere.csv cannot be read"),
        ({"lexicon": "nowhere"}, "nowhere is not from the SPECIALIST Lexicon"),
        ({"documents": "nowhere.csv"}, "nowhere.csv cannot be read"),
        ({"domains": "domains.csv"}, "`biomedical` and `domains` contradict each other"),
        ({"biomedical": None}, "say which words are biomedical: add `biomedical`"),
        ({"terminology": (), "norms": None}, "say which words are associated"),
        ({"terminology": "nowhere"}, "there is no folder nowhere"),
        ({"norms": "nowhere.txt"}, "nowhere.txt cannot be read"),
    ],
)
def test_impossible_options_are_errors(folder: Path, changes: dict, message: str) -> None:
    with pytest.raises(MedsimError, match=message):
        chosen(folder, **changes)


def run(folder: Path, out: Path, *more: str):
    arguments = ["study", "pairs", folder / "words.csv", "-o", out, "--class", "noun"]
    arguments += ["--biomedical", folder / "list.txt", "--terminology", folder / "build"]
    arguments += ["--norms", folder / "norms.csv"]
    return CliRunner().invoke(app, [*map(str, arguments), "--size", "24", *more])


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.parquet"])
def test_command_writes_pairs_and_replaces_no_file_by_default(
    folder: Path, usual: medsim.WordPairs, tmp_path: Path, name: str
) -> None:
    out = put(tmp_path, name, "mine")

    refused = run(folder, out)
    assert (refused.exit_code, out.read_text()) == (1, "mine")
    assert "is there already; add --overwrite" in refused.stderr
    assert refused.stderr.count("\n") == 1
    result = run(folder, out, "--format", "csv", "--overwrite")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "domain,associated,pairs,words"
    assert "left out, a symbol, or a hyphen: 1" in result.stderr
    reader = pl.read_csv if name.endswith("csv") else pl.read_parquet
    assert reader(out).cast(dict(WORD_PAIRS.dtypes)).equals(usual.frame)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is a folder"),
        ("pairs.xlsx", "must end in .csv or .parquet"),
        ("nowhere/pairs.csv", "there is no folder"),
    ],
)
def test_invalid_output_path_is_an_error(
    usual: medsim.WordPairs, tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(OutputError, match=message):
        usual.write(tmp_path / name)
