"""Multiple-choice questions compared with a brute-force search over a plain reader of the files."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from pathlib import Path

import networkx as nx
import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml
from fixtures.cards import metadata_of, rows_in_table
from oracles.hashing import tie_hash
from rapidfuzz.distance import Levenshtein

import medsim
from medsim.core.errors import OptionError
from medsim.neighbours.difference import DifferenceClassifier

Question = dict[str, object]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
OBO = "format-version: 1.2\nproperty_value: http://purl.org/dc/terms/license {}\n"
FREE = "https://creativecommons.org/licenses/by/4.0/"


def same(name: str) -> str:
    """Return a name without case, accents, hyphens and spaces."""
    letters = unicodedata.normalize("NFKD", name.lower())
    return "".join(one for one in letters if not unicodedata.combining(one) and one not in " -")


class Brute:
    """The names of a build and their links, read only with Arrow."""

    def __init__(self, build: medsim.Build) -> None:
        files = (build.folder / "pairs").rglob("*.parquet")
        rows = [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]
        self.names = sorted({row[side] for row in rows for side in ("term1", "term2")})
        self.first = {same(name): name for name in reversed(self.names)}
        self.positives: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self.ids: dict[str, frozenset[str]] = {}
        for row in rows:
            if row["label"] == 1:
                pair = same(row["term1"]), same(row["term2"])
                self.ids[row["pair_id"]] = frozenset(pair)
                of_pair = self.positives.setdefault(pair, set())
                of_pair.add((row["concept1"], row["concept2"]))
        graph = nx.Graph([*self.positives])
        graph.add_nodes_from(self.first)
        linked = nx.connected_components(graph)
        self.group = {name: at for at, names in enumerate(linked) for name in names}

    def unlinked(self, term: str) -> list[str]:
        """Return the first of equal names that no chain links to a term."""
        group = self.group[same(term)]
        return [name for key, name in self.first.items() if self.group[key] != group]

    def nearest(self, term: str, n_wanted: int, seed: int) -> list[str]:
        """Return the nearest of them."""
        anchor = self.first[same(term)]

        def place(name: str) -> tuple[int, int, str]:
            distance = Levenshtein.distance(anchor.lower(), name.lower())
            return distance, tie_hash(seed, anchor, name), name

        return sorted(self.unlinked(term), key=place)[:n_wanted]


def lines_of(export: medsim.Exported, split: str = "train") -> list[Question]:
    text = (export.folder / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def tier_of(distance: int) -> str:
    return "1" if distance < 2 else "2-3" if distance < 4 else "4-5" if distance < 6 else "6+"


def check(rows: list[Question], build: medsim.Build, n_wrong: int, seed: int) -> None:
    """Compare all questions of a split with brute force."""
    brute = Brute(build)
    between = DifferenceClassifier([name.lower() for name in build.terms()["term"]]).between
    asked = set()
    for row in rows:
        term, choices, answer = str(row["term"]), [*row["choices"]], int(str(row["answer"]))
        wrong = [name for at, name in enumerate(choices) if at != answer]
        assert row["question"] == f'Which of these names means the same as "{term}"?'
        pair = same(term), same(choices[answer])
        assert (row["concept1"], row["concept2"]) in brute.positives[pair]
        assert brute.ids[row["id"]] == frozenset(pair)
        assert {term, *choices} <= set(brute.first.values())
        assert sorted(wrong) == sorted(brute.nearest(term, n_wrong, seed))
        assert len({same(name) for name in choices}) == n_wrong + 1
        assert row["label"] == LETTERS[answer]
        assert row["negatives"] == "levenshtein"
        to_term = [Levenshtein.distance(term.lower(), name.lower()) for name in choices]
        assert row["distance"] == to_term.pop(answer)
        assert row["tier"] == tier_of(min(to_term))
        kinds = [between(term.lower(), name.lower()).kind for name in choices]
        assert row["differences"] == kinds
        asked.add(frozenset(pair))
    assert asked == {frozenset(pair) for pair in brute.positives if pair[0] != pair[1]}
    assert len(rows) == len(asked) == len({row["id"] for row in rows})
    counts = [Counter(row["answer"] for row in rows if row["tier"] == tier) for tier in TIERS]
    for positions in (sum(counts, Counter()), *counts):
        n_each = [positions[at] for at in range(n_wrong + 1)]
        assert max(n_each) - min(n_each) <= 1


TIERS = ("1", "2-3", "4-5", "6+")


@pytest.fixture(scope="module")
def exported(shared_build: medsim.Build, tmp_path_factory: pytest.TempPathFactory):
    """Questions with three wrong names, with their own seed."""
    out = tmp_path_factory.mktemp("questions") / "out"
    options = {"choices": 3, "seed": 4, "private": True}
    return medsim.export(shared_build, out, "jsonl", negatives="levenshtein", **options)


def test_levenshtein_questions_are_those_of_version_0_3(exported: medsim.Exported) -> None:
    added = {"spelling", "relations", "concepts"}
    rows = [{key: row[key] for key in sorted(row.keys() - added)} for row in lines_of(exported)]

    assert hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16] == "168147315a947be8"


def test_wrong_names_are_the_nearest_unlinked_names(
    shared_build: medsim.Build, exported: medsim.Exported
) -> None:
    rows = lines_of(exported)

    check(rows, shared_build, 3, 4)
    assert len(rows) > 100
    assert exported.manifest.options["choices"] == 3
    wrong = [[name for at, name in enumerate(r["choices"]) if at != r["answer"]] for r in rows]
    by_distance = [
        [Levenshtein.distance(str(row["term"]).lower(), name.lower()) for name in names]
        for row, names in zip(rows, wrong, strict=True)
    ]
    is_first = [distances[0] == min(distances) for distances in by_distance]
    assert 0.2 < sum(is_first) / len(rows) < 0.8  # the nearest is not always the first


def test_each_split_has_its_own_questions(shared_splits: medsim.Splits, tmp_path: Path) -> None:
    options = {"choices": 2, "negatives": "levenshtein", "private": True}
    export = medsim.export(shared_splits, tmp_path / "out", "jsonl", **options)

    assert set(export.manifest.outputs) == {f"{name}.jsonl" for name in shared_splits.names}
    for name, build in shared_splits.builds.items():
        check(lines_of(export, name), build, 2, 0)


def test_questions_depend_on_the_seed_but_not_on_threads(
    shared_build: medsim.Build, exported: medsim.Exported, tmp_path: Path
) -> None:
    def again(seed: int, threads: int) -> medsim.Exported:
        out = tmp_path / f"{seed}-{threads}"
        options = {"choices": 3, "seed": seed, "threads": threads, "private": True}
        return medsim.export(shared_build, out, "jsonl", negatives="levenshtein", **options)

    assert again(4, 1).manifest.outputs == exported.manifest.outputs
    assert again(4, 2).manifest.outputs == exported.manifest.outputs
    rows, others = ({row["id"]: row for row in lines_of(one)} for one in (exported, again(5, 2)))
    assert rows.keys() == others.keys()
    assert [*rows] != [*others]
    assert sum(row["answer"] != others[one]["answer"] for one, row in rows.items()) > len(rows) / 2


def test_options_choose_the_questions_and_the_wrong_names(
    shared_build: medsim.Build, tmp_path: Path
) -> None:
    export = medsim.export(
        shared_build,
        tmp_path / "out",
        "jsonl",
        choices=25,
        negatives="random",
        datasets=["fsn_syn"],
        difficulty="hard",
        private=True,
    )

    brute, rows = Brute(shared_build), lines_of(export)
    chosen = shared_build.pairs("fsn_syn", "hard", "random").filter(pl.col("label") == 1)
    pairs = {(row["term"], row["choices"][row["answer"]]) for row in rows}
    positives = chosen.select("term1", "term2").rows()
    assert pairs <= {tuple(brute.first[same(name)] for name in pair) for pair in positives}
    assert {frozenset(pair) for pair in pairs} == {
        frozenset(brute.first[same(name)] for name in pair) for pair in positives
    }
    assert {row["negatives"] for row in rows} == {"random"}
    for row in rows:
        others = [name for at, name in enumerate(row["choices"]) if at != row["answer"]]
        assert len({same(name) for name in others}) == 25
        assert set(brute.unlinked(row["term"])).issuperset(others)


NAMES = """
[Term]\nid: A:1\nname: Valgus knee\nsynonym: "Knock knee" EXACT []
[Term]\nid: A:2\nname: Varus knee\nsynonym: "Bow leg" EXACT []\nsynonym: "Bow-leg" EXACT []
[Term]\nid: A:3\nname: Bowleg\nsynonym: "Outward bent limb" EXACT []
[Term]\nid: A:4\nname: Knack knee\nsynonym: "Knee knack" EXACT []
"""


def named(folder: Path, licence: str) -> medsim.Build:
    source = folder / "in.obo"
    source.write_text(OBO.format(licence) + NAMES, encoding="utf-8")
    return medsim.build(source, folder / "build", negatives=["random"])


@pytest.fixture(scope="module")
def legs(tmp_path_factory: pytest.TempPathFactory) -> medsim.Build:
    """A build of few concepts, two of which have the same name but for a hyphen."""
    return named(tmp_path_factory.mktemp("legs"), FREE)


def test_names_that_differ_by_case_hyphens_or_spaces_are_one_name(
    legs: medsim.Build, tmp_path: Path
) -> None:
    export = medsim.export(legs, tmp_path / "out", "jsonl", choices=4, negatives="levenshtein")

    rows = lines_of(export)
    right = [frozenset((same(row["term"]), same(row["choices"][row["answer"]]))) for row in rows]
    assert sorted(map(sorted, right)) == [
        ["bowleg", "outwardbentlimb"],
        ["bowleg", "varusknee"],
        ["knackknee", "kneeknack"],
        ["knockknee", "valgusknee"],
    ]
    names = {"Knack knee", "Knee knack", "Knock knee", "Valgus knee"}
    of_legs = [row for row in rows if row["concept1"] in {"A:2", "A:3"}]
    assert len(of_legs) == 2
    for row in of_legs:
        assert {name for at, name in enumerate(row["choices"]) if at != row["answer"]} == names


def test_datasets_have_the_questions_a_card_and_a_description(
    shared_build: medsim.Build, exported: medsim.Exported, tmp_path: Path
) -> None:
    options = {"choices": 3, "seed": 4, "private": True, "negatives": "levenshtein"}
    folder = medsim.export(shared_build, tmp_path / "out", "huggingface", **options).folder

    (config,) = metadata_of(folder)["configs"]
    (files,) = config["data_files"]
    rows = pl.read_parquet(folder / files["path"])
    assert rows.rows(named=True) == lines_of(exported)
    assert rows_in_table(folder) == {"questions": {"train": rows.height}}
    assert metadata_of(folder)["task_categories"] == ["multiple-choice", "question-answering"]
    described = json.loads((folder / "croissant.json").read_text("utf-8"))
    fields = [field["name"] for field in described["recordSet"][0]["field"]]
    assert fields == ["split", *rows.columns]


def test_tasks_have_the_questions_of_their_tier(
    shared_splits: medsim.Splits, tmp_path: Path
) -> None:
    options = {"private": True, "seed": 4}
    tasks = medsim.export(shared_splits, tmp_path / "tasks", "lm-eval", **options).folder
    lines = medsim.export(shared_splits, tmp_path / "lines", "jsonl", choices=3, **options)

    read = [yaml.safe_load(path.read_text("utf-8")) for path in sorted(tasks.glob("*.yaml"))]
    by_name = {task["task"]: task for task in read if "group" not in task}
    groups = {group["group"]: group["task"] for group in read if "group" in group}
    assert list(groups) == ["medsim_release_zip_letters", "medsim_release_zip_names"]
    for names in groups.values():
        of_tiers = [by_name.pop(name) for name in names]
        files = [task["dataset_kwargs"]["data_files"]["test"] for task in of_tiers]
        rows = [(tasks / file).read_text("utf-8").splitlines() for file in files]
        assert all(len({json.loads(line)["tier"] for line in part}) == 1 for part in rows)
        together = sorted(line for part in rows for line in part)
        assert together == sorted((lines.folder / "test.jsonl").read_text("utf-8").splitlines())
    assert not by_name


@pytest.mark.parametrize(
    ("tool", "options", "message"),
    [
        ("jsonl", {"choices": 26}, "`choices` 26 is out of range; 1 to 25 are accepted"),
        ("sapbert", {"choices": 3}, "`choices` does not apply to exports for sapbert"),
        ("jsonl", {"choices": 3, "n_negatives": 2}, "`n_negatives` does not apply"),
        ("huggingface", {"negatives": "random"}, "`negatives` does not apply"),
        ("jsonl", {"private": True}, "`private` does not apply"),
        ("jsonl", {"choices": 20}, "has no questions for these `datasets`"),
        ("lm-eval", {"datasets": ["same_as"]}, "has no questions for these `datasets`"),
    ],
)
def test_impossible_questions_are_rejected(
    legs: medsim.Build, tmp_path: Path, tool: str, options: dict, message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        medsim.export(legs, tmp_path / "out", tool, **options)


def test_the_licence_decides_whether_questions_are_exported(tmp_path: Path) -> None:
    build = named(tmp_path, "https://invented.example")

    for tool in ("jsonl", "huggingface", "lm-eval"):
        with pytest.raises(OptionError, match=r"in\.obo is not known to be free to pass on"):
            medsim.export(build, tmp_path / tool, tool, choices=2)
        medsim.export(build, tmp_path / tool, tool, choices=2, private=True)


def test_questions_are_in_the_first_language_unless_cross_language_is_chosen(
    tmp_path: Path,
) -> None:
    rows = [
        {"id": concept, "term": f"{start} {word}", "language": language}
        for language, starts in {"en": ("fever", "pain"), "es": ("fiebre", "dolor")}.items()
        for concept, word in enumerate(("alba", "bruna", "clara", "dura"))
        for start in starts
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "names.csv")
    build = medsim.build(tmp_path / "names.csv", tmp_path / "build", language="en,es")

    def terms(out: str, **options: object) -> set[str]:
        medsim.export(build, tmp_path / out, "jsonl", choices=1, private=True, **options)
        (file,) = (tmp_path / out).glob("*.jsonl")
        lines = file.read_text(encoding="utf-8").splitlines()
        questions = [json.loads(line) for line in lines]
        return {str(row["choices"][row["answer"]]).split()[0] for row in questions}

    assert terms("usual") <= {"fever", "pain"}
    assert terms("chosen", datasets=["cross_language"]) <= {"fiebre", "dolor"}
