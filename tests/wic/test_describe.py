"""Tables and figures of the paper, counted again from single instances."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.typed import TYPES, typed_benchmark
from hypothesis import given
from hypothesis import strategies as st

from medsim import build_wic, describe_wic
from medsim.core.errors import OptionError
from medsim.core.kinds import WIC_COLUMNS
from medsim.corpora import CORPUS_SPLITS
from medsim.wic import GROUPS
from medsim.wic.describe import GROUP_OF, n_words
from medsim.wic.output import read_instances

if TYPE_CHECKING:
    from medsim.wic.output import Benchmark

DATA = os.environ.get("MEDSIM_DATA")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Return a benchmark of terms of UMLS; each term stands for any of three concepts."""
    return typed_benchmark(tmp_path_factory.mktemp("described"))


def sides(rows: list[dict[str, object]], column: str) -> list[str]:
    return [str(row[f"{column}{side}"]) for row in rows for side in (1, 2)]


def test_table_3_counts_the_instances_of_the_files(built: Benchmark) -> None:
    table = describe_wic(built)

    assert table["split"].to_list() == [*CORPUS_SPLITS, "all"]
    for split, row in zip((*CORPUS_SPLITS, None), table.to_dicts(), strict=True):
        rows = built.instances(split).to_dicts()
        assert row["all"] == len(rows) > 0
        for group in GROUPS:
            assert row[group.replace("_", " ")] == sum(each["cat"] == group for each in rows)
        sentences, concepts = sides(rows, "sentence"), set(sides(rows, "concept"))
        assert row["characters per sentence"] == sum(map(len, sentences)) / len(sentences)
        assert row["unique sentences"] == len(set(sentences))
        pairs = {frozenset(each[f"term{n}"].lower() for n in (1, 2)) for each in rows}
        assert row["unique term pairs"] == len(pairs)
        assert row["unique concepts"] == len(concepts)
        types = {type_id for concept in concepts for type_id, _ in TYPES[concept]}
        assert row["unique semantic types"] == len(types)
        assert row["unique semantic groups"] == len({GROUP_OF[type_id] for type_id in types})


def test_table_1_describes_the_corpora(built: Benchmark) -> None:
    assert describe_wic(built, table="1").to_dicts() == [
        {
            "corpus": "cases",
            "ontologies": "MSH",
            "semantic types": "T047",
            "documents": 120,
            "sentences": 240,
            "sentences with a mention": 120,
            "sentences with a concept": 120,
            "mentions": 120,
        }
    ]


def test_table_4_counts_the_tokens_of_terms_at_white_space(tmp_path: Path, built) -> None:
    instances = built.instances("train").select(list(WIC_COLUMNS)).head(2)
    terms = pl.DataFrame({"term1": ["a-b", "a b  c d"], "term2": ["a b", "a b c d e"]})
    (tmp_path / "train.json").write_text(
        instances.drop("term1", "term2").hstack(terms).write_json(), encoding="utf-8"
    )

    table = describe_wic(tmp_path, table="4")

    assert table.rows() == [("1", 1, 25), ("2", 1, 25), ("3", 0, 0), ("4+", 2, 50), ("all", 4, 100)]


def test_table_5_counts_instances_with_a_term_in_train(built: Benchmark) -> None:
    in_train = {term.lower() for term in sides(built.instances("train").to_dicts(), "term")}
    expected = dict.fromkeys([*GROUPS, "all"], (0, 0, 0, 0))
    for row in built.instances("test").to_dicts():
        n_seen = (row["term1"].lower() in in_train) + (row["term2"].lower() in in_train)
        flags = (n_seen > 0, n_seen == 0, n_seen == 2, 1)
        for group in (row["cat"], "all"):
            expected[group] = tuple(map(sum, zip(expected[group], flags, strict=True)))

    table = describe_wic(built, table="5")

    counts = table.select("seen", "unseen", "both seen", "all").rows()
    assert counts == list(expected.values())
    assert table["seen %"].last() == 100 * table["seen"].last() / table["all"].last()
    test = built.folder / "test.json"
    with pytest.raises(OptionError, match=r"table 5 needs train\.json, which test\.json lacks"):
        describe_wic(test, table="5")


def test_figure_4_ranks_the_types_and_groups_of_terms(built: Benchmark) -> None:
    concepts = sides(built.instances().to_dicts(), "concept")
    names: dict[tuple[str, str], set[str]] = {}
    for concept in set(concepts):
        for type_id, name in TYPES[concept]:
            names.setdefault(("semantic type", name), set()).add(concept)
            names.setdefault(("semantic group", GROUP_OF[type_id]), set()).add(concept)

    table = describe_wic(built, table="figure-4")

    assert table.height == len(names) == 5
    for row in table.to_dicts():
        concepts_of = names[row["of"], row["name"]]
        assert row["concepts"] == len(concepts_of)
        assert row["target terms"] == sum(concept in concepts_of for concept in concepts)
        assert row["target terms %"] == pytest.approx(100 * row["target terms"] / len(concepts))
        assert row["concepts %"] == pytest.approx(100 * len(concepts_of) / len(set(concepts)))
    first = table.filter(of="semantic type")
    assert first["target terms"].is_sorted(descending=True)


def test_figure_3_matches_builds_with_each_limit(built: Benchmark, tmp_path: Path) -> None:
    curve = describe_wic(built, table="figure-3", threads=1)

    assert curve["repeats"].to_list()[:4] == [1, 2, 5, 10]
    assert curve["repeats"].to_list()[-1] == 200
    corpus = built.folder.parent / "cases.txt"
    for repeats in (1, 100):
        benchmark = build_wic(
            [corpus],
            built.folder.parent / "META",
            tmp_path / str(repeats),
            threads=1,
            max_train=60,
            max_repeats=repeats,
        )
        rows = benchmark.instances("train").to_dicts()
        concepts = set(sides(rows, "concept"))
        n_types = len({type_id for concept in concepts for type_id, _ in TYPES[concept]})
        row = curve.filter(repeats=repeats).row(0)
        assert row == (repeats, len(rows), len(concepts), n_types)
    assert curve["instances"][0] < curve["instances"][-1]


def test_files_without_a_manifest_have_fewer_columns(built: Benchmark, tmp_path: Path) -> None:
    for split in ("train", "dev"):
        path = tmp_path / f"{split}.json"
        path.write_bytes((built.folder / path.name).read_bytes())

    table = describe_wic(tmp_path)

    assert table["split"].to_list() == ["train", "dev", "all"]
    whole = describe_wic(built)
    assert whole[:2].select(table.columns).equals(table[:2])
    assert set(whole.columns) - set(table.columns) == {
        *("unique concepts", "unique semantic types", "unique semantic groups")
    }
    for name in ("1", "figure-3", "figure-4"):
        with pytest.raises(OptionError, match="medsim wic build"):
            describe_wic(tmp_path, table=name)


def test_semantic_groups_are_the_fifteen_of_all_types() -> None:
    assert len(set(GROUP_OF.values())) == 15
    assert len(GROUP_OF) == 127 + 9  # with types of earlier versions
    assert GROUP_OF["T047"] == "Disorders"
    assert GROUP_OF["T116"] == "Chemicals & Drugs"


LETTERS = st.characters(max_codepoint=0x24FF, exclude_categories=("Cn",))


@given(st.text(LETTERS, max_size=20) | st.text("aß-1.é\u0301 \u4e00_±\u200b", max_size=20))
def test_words_are_those_of_berts_tokenizer(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="medsim[onnx] is not installed")
    normal = tokenizers.normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    splitter = tokenizers.pre_tokenizers.BertPreTokenizer()
    words = [word for word, _ in splitter.pre_tokenize_str(normal.normalize_str(text))]
    assert n_words(pl.Series([text])).item() == sum(any(map(str.isalnum, word)) for word in words)


@pytest.mark.skipif(DATA is None, reason="MEDSIM_DATA is not set")
def test_the_dev_split_of_biowic_has_the_published_numbers() -> None:
    path = Path(str(DATA), "wic", "biowic-dev.json")

    (row,) = describe_wic(path).to_dicts()
    tokens = describe_wic(path, table="4")

    assert [row[group.replace("_", " ")] for group in GROUPS] == [400, 100, 400, 100]
    assert (row["all"], row["unique sentences"]) == (1000, 1820)
    assert round(row["words per sentence"], 1) == 22.8
    assert row["unique term pairs"] == 853  # the paper has 821
    assert tokens["dev"].to_list() == [1385, 458, 118, 39, 2000]
    assert read_instances(path).height == 1000
