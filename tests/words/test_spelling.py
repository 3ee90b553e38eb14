"""American spellings of British words."""

from __future__ import annotations

import pytest

from medsim.words.spelling import american

MEDICAL = """
haemoglobin hemoglobin    methaemoglobin methemoglobin    oedema edema    tumours tumors
anaesthesia anesthesia    oesophagus esophagus            paediatric pediatric
leukaemia leukemia        ischaemic ischemic              foetus fetus    diarrhoea diarrhea
fibre fiber               millilitre milliliter           sulphur sulfur  dyspnoea dyspnea
catheterise catheterize   analysed analyzed               neutralisation neutralization
colour color              discoloured discolored          behaviour behavior
haematology hematology    orthopaedic orthopedic          gynaecology gynecology
caesarean cesarean        caecum cecum                    faeces feces    aetiology etiology
oestrogen estrogen        leucocyte leukocyte             manoeuvring maneuvering
"""
LOOK_BRITISH = [
    "poor",
    "hour",
    "four",
    "tour",
    "aerobic",
    "does",
    "poet",
    "shoe",
    "aloe",
    "rise",
    "exercise",
    "expertise",
    "treatise",
    "valise",
    "arise",
    "promise",
    "noise",
    "wise",
    "analyses",
    "haemophilus",
    "caecilian",
    "timbre",
    "acre",
    "hemoglobin",
    "tumor",
]


@pytest.mark.parametrize("at", range(0, len(MEDICAL.split()), 2))
def test_a_british_word_of_medicine_becomes_american(at: int) -> None:
    british, expected = MEDICAL.split()[at : at + 2]
    assert american(british, frozenset()) == expected
    assert american(expected, frozenset()) == expected


@pytest.mark.parametrize("word", LOOK_BRITISH)
def test_a_word_that_only_looks_british_stays(word: str) -> None:
    used = {"for", "tor", "pet", "she", "ale", "timber", "analyzes", "por", "rize", "des"}
    assert american(word, used) == word


@pytest.mark.parametrize(
    ("british", "expected"),
    [
        ("ionise", "ionize"),
        ("catalogue", "catalog"),
        ("licence", "license"),
        ("amoeba", "ameba"),
        ("archaeology", "archeology"),
        ("programme", "program"),
        ("sombre", "somber"),
    ],
)
def test_a_doubtful_word_changes_only_where_the_result_is_used(british: str, expected: str) -> None:
    assert american(british, {expected}) == expected
    assert american(british, {british}) == british
