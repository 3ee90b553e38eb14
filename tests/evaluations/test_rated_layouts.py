"""Tests that files of published datasets are recognised and read in their usual formats."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from medsim.core.errors import InputError
from medsim.evaluations.layouts import LAYOUTS, RatedColumns
from medsim.evaluations.ratings import COLUMNS_AS_NAMED, RatedPairs, read_rated

FOLDER = os.environ.get("MEDSIM_DATA")
published = pytest.mark.skipif(FOLDER is None, reason="MEDSIM_DATA is not set")

HLIAOUTAKIS = "term 1,term 2,mesh 1,mesh 2,score\nArmache,Beinweh,D1,D2,0.25\nArm,Bein,D3,D4,1\n"
PEDERSEN = "Term 1,Term 2,MeSH 1,MeSH 2,Physician,Coder\nArmache,Beinweh,D1,D2,3,2.5\n"
MINI_MAYO = (
    '"Physicians","Coders","CUI1","CUI2","TERM1","TERM2","MESH1","MESH2"\r\n'
    '"3","1.5","C1","C2","Armache","Ache, arm","D1","D2"\r\n'
)
MAYO = '"Mean","CUI1","CUI2","TERM1","TERM2"\r\n"9.5","C1","C2","Armache","Beinweh"\r\n'
UMNSRS = "Mean,Stdev,Term1,Term2,CUI1,CUI2\r1200.5,12.25,Armache,Beinweh,C1,C2"
EHR_REL = (
    "snomed_id_1\tsnomed_label_1\tsnomed_id_2\tsnomed_label_2\trater_A\trater_B\trater_C\trater_D\t"
    "rater_E\tmean_rating\tCUI_1\tCUI_2\n1\tArmache\t2\tBeinweh\t\t1.0\t\t2.0\t\t1.5\tC1\t\n"
)
BIOSSES = (
    "sentence_id\tsentence_1\tsentence_2\tannotator_a\tannotator_b\tannotator_c\tannotator_d\t"
    "annotator_e\n1\tArmache\tBeinweh\t4\t3\t3\t4\t3\n"
)
STS = "index\tgenre\tsentence1\tsentence2\tscore\n0\tmain-news\tArmache\tBeinweh\t3.250\n"
STS_BENCHMARK = (
    "main-news\tinvented\t2012test\t0001\t3.250\tArmache\tBeinweh\n"
    "main-forums\tinvented\t2012test\t0002\t5\tEin Arm.\tEin Bein.\thttps://a\thttps://b\n"
)
JSON_LINES = (
    '{"split":"dev","score":3.25,"sentence1":"Armache","sentence2":"Beinweh","more":[{"a":1}]}\n'
    '\n{"sentence2":"\\u00e4chen","sentence1":" arm\\nleg ","score":"4","split":null}\n'
)
UMNSRS_PLAIN = "Armache\tBeinweh\t417.25\nachen\theilen\t9\n"
SIMVERB = "Armache\tBeinweh\tV\t7.25\tSYNONYMS\nachen\theilen\tV\t0.00\tNONE\n"
BIO_SIMLEX = "Armache\tBeinweh\t7.25\nachen\theilen\t0.00"


def read(folder: Path, text: str, name: str = "pairs.csv") -> RatedPairs:
    path = folder / name
    path.write_bytes(text.encode())
    return read_rated(path)


@pytest.mark.parametrize(
    ("text", "layout", "scale", "row"),
    [
        (HLIAOUTAKIS, "Hliaoutakis", (0, 1), {"score": 0.25}),
        (PEDERSEN, "Pedersen", (1, 4), {"physicians": 3.0, "coders": 2.5, "mean": 2.75}),
        (
            MINI_MAYO,
            "MiniMayoSRS",
            (1, 4),
            {"term2": "Ache, arm", "physicians": 3.0, "coders": 1.5, "mean": 2.25},
        ),
        (MAYO, "MayoSRS", (1, 10), {"mean": 9.5}),
        (UMNSRS, "UMNSRS", (0, 1600), {"mean": 1200.5}),
        (UMNSRS_PLAIN, "UMNSRS without a header", (0, 1600), {"mean": 417.25}),
        (SIMVERB, "SimVerb-3500", (0, 10), {"mean": 7.25}),
        (BIO_SIMLEX, "Bio-SimLex", (0, 10), {"mean": 7.25}),
        (EHR_REL, "EHR-Rel", (0, 3), {"mean": 1.5}),
        (BIOSSES, "BIOSSES", (0, 4), {"mean": 3.4}),
        (STS, "STS", None, {"score": 3.25}),
        (STS_BENCHMARK, "STS benchmark", (0, 5), {"score": 3.25}),
        (JSON_LINES, "STS", None, {"score": 3.25}),
    ],
)
def test_each_layout_is_recognised_and_its_ratings_are_named_with_their_mean(
    tmp_path, text, layout, scale, row
):
    rated = read(tmp_path, text)

    assert (rated.name, rated.layout) == ("pairs", layout)
    assert rated.range == (scale and [*scale])
    assert rated.pairs.row(0, named=True) == {"term1": "Armache", "term2": "Beinweh", **row}
    assert set(rated.pairs.dtypes[2:]) == {pl.Float64}
    assert rated.higher_is_similar
    assert rated.skipped == rated.warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        HLIAOUTAKIS.replace("term 1,term 2", "TERM1,TERM2"),
        HLIAOUTAKIS.replace("mesh 1,mesh 2,score", " MeSH_1 , mesh-2 , Score "),
        HLIAOUTAKIS.replace("term 1,", '"term 1",'),
        *(HLIAOUTAKIS.replace(",", separator) for separator in "\t;|"),
    ],
)
def test_headers_match_in_any_case_with_any_spaces_and_separator(tmp_path, text):
    rated = read(tmp_path, text)

    assert rated.layout == "Hliaoutakis"
    assert rated.pairs.height == 2


@pytest.mark.parametrize(
    "text",
    [
        HLIAOUTAKIS.replace("mesh 1", "Term 1"),
        HLIAOUTAKIS.replace("mesh 1", "other"),
        HLIAOUTAKIS.replace("score", "score,Score").replace("0.25", "0.25,1"),
        "a\tb\t1\tC1\n",
        "a\tb\tone\n",
        "a\tb\tX\t7.25\tSYNONYMS\n",
        "a\tb\t417.25\t1\n",
        "a,b,1\n",
    ],
)
def test_files_that_only_resemble_a_layout_are_refused(tmp_path, text):
    with pytest.raises(InputError, match="is in no known layout"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Left  arm \t \u00e4rm-ache\t1\n", [("Left  arm", "\u00e4rm-ache", 1)]),
        (
            MAYO.replace('"Armache"', '"Ache, ""left""\r\narm"'),
            [('Ache, "left"\r\narm', "Beinweh", 9.5)],
        ),
        ("a\tb\t0\nc\td\t10\n", [("a", "b", 0), ("c", "d", 10)]),
    ],
    ids=["trimmed", "quoted", "at the ends of the scale, in the order of the file"],
)
def test_terms_and_ratings_are_read_as_in_the_file(tmp_path, text, rows):
    assert read(tmp_path, text).pairs.rows() == rows


@pytest.mark.parametrize("value", ["10.01", "-0.5"])
def test_a_rating_outside_the_scale_is_refused_with_its_line_and_value(tmp_path, value):
    with pytest.raises(
        InputError, match=rf"line 2: rating '{value}' is outside 0 to 10, .*Bio-Sim"
    ):
        read(tmp_path, f"a\tb\t1\nc\td\t{value}\n")


@pytest.mark.parametrize(
    ("text", "ratings", "scale"),
    [
        (MAYO, (1.5,), (1, 10)),
        (MINI_MAYO, (2.0, 3.5, 2.75), (1, 4)),
        ("term1,term2,rating\nx,y,2\nu,v,0\n", (-2.0,), None),
    ],
    ids=["a mean", "raters before their mean", "of no known scale"],
)
def test_a_user_can_reverse_ratings(tmp_path, text, ratings, scale):
    (tmp_path / "mayo.csv").write_text(text)

    rated = read_rated(tmp_path / "mayo.csv", RatedColumns(higher_is_similar=False))

    assert rated.pairs.row(0)[2:] == ratings
    assert rated.range == (scale and [*scale])
    assert not rated.higher_is_similar
    assert rated.warnings == ("ratings were reversed, since higher means less similar",)


def test_layouts_differ_in_name_and_have_a_scale_and_a_source():
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS)
    assert COLUMNS_AS_NAMED not in {layout.name for layout in LAYOUTS}
    for layout in LAYOUTS:
        assert layout.scale is None or layout.scale[0] < layout.scale[1]
        assert layout.ratings or layout.raters
        assert layout.source
        columns = {layout.term1, layout.term2, *layout.ratings.values()}
        assert not layout.header or columns <= set(layout.header)
        assert set(layout.raters) <= set(layout.header)


@published
@pytest.mark.parametrize(
    ("name", "layout", "n_pairs", "n_contradictory"),
    [
        ("Hliaoutakis2005_mesh.csv", "Hliaoutakis", 36, 0),
        ("Pedersen2007_mesh.csv", "Pedersen", 30, 0),
        ("MiniMayoSRS_mesh.csv", "MiniMayoSRS", 29, 0),
        ("MayoSRS_mesh.csv", "MayoSRS", 101, 0),
        ("UMNSRS_sim_mesh.csv", "UMNSRS", 566, 14),
        ("UMNSRS_rel_mesh.csv", "UMNSRS", 587, 12),
        ("UMNSRS_sim_mod_mesh.csv", "UMNSRS", 449, 5),
        ("UMNSRS_rel_mod_mesh.csv", "UMNSRS", 458, 3),
        ("UMNSRS_similarity_mod449_word2vec.csv", "UMNSRS", 449, 5),
        ("UMNSRS_relatedness_mod458_word2vec.csv", "UMNSRS", 458, 3),
        ("Bio-SimLex.txt", "Bio-SimLex", 988, 0),
        ("Bio-SimVerb.txt", "Bio-SimLex", 1000, 0),
    ],
)
def test_published_files_are_read_completely(name, layout, n_pairs, n_contradictory):
    rated = read_rated(Path(FOLDER) / "ratings" / name)

    assert (rated.layout, rated.pairs.height, rated.skipped) == (layout, n_pairs, ())
    assert rated.pairs.null_count().sum_horizontal().item() == 0
    assert len(rated.warnings) == (n_contradictory > 0)
    assert all(sentence.startswith(f"{n_contradictory} pairs have") for sentence in rated.warnings)


@published
@pytest.mark.parametrize("other", ["UMNSRS_sim_mesh.csv", "UMNSRS_rel_mesh.csv"])
def test_high_ratings_mean_related_in_mayosrs_as_in_umnsrs(other):
    mayo, umnsrs = (
        {frozenset((a.lower(), b.lower())): mean for a, b, mean in read_rated(path).pairs.rows()}
        for path in (Path(FOLDER) / "ratings" / name for name in ("MayoSRS_mesh.csv", other))
    )

    shared = mayo.keys() & umnsrs.keys()

    assert len(shared) == 1
    for pair in shared:
        assert mayo[pair] > np.quantile(list(mayo.values()), 2 / 3)
        assert umnsrs[pair] > np.quantile(list(umnsrs.values()), 2 / 3)
