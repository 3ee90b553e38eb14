"""American spellings of British words."""

from __future__ import annotations

import pytest

from medsim.studies.words import american

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
manoeuvred maneuvered     haem heme                       leucopenia leukopenia
leucoplakia leukoplakia   phaeochromocytoma pheochromocytoma
angiooedema angioedema    gastrooesophageal gastroesophageal
gastro-oesophageal gastro-esophageal                      transoesophageal transesophageal
lymphoedema lymphedema    papilloedema papilledema        antioestrogen antiestrogen
paraesthesia paresthesia  hyperaesthesia hyperesthesia    homoeopathy homeopathy
ileocaecal ileocecal      defaecation defecation          palaeolithic paleolithic
aluminium aluminum        gonadotrophin gonadotropin      ionise ionize
recognised recognized     randomised randomized           hydrolysed hydrolyzed
"""
GENERAL = """
grey gray         greyish grayish      mould mold          smouldering smoldering
plough plow       ageing aging         judgement judgment  acknowledgement acknowledgment
labelled labeled  travelled traveled   modelling modeling  counsellor counselor
sceptic skeptic   scepticism skepticism                    fulfil fulfill
skilful skillful  unskilful unskillful                     enrolment enrollment
defence defense   licence license      programme program   sombre somber
centred centered  artefact artifact    metres meters       distil distill
"""
BOTH_WAYS = """
catalogue catalog analogues analogs amoeba ameba archaeology archeology aesthetics esthetics
"""
LOOK_BRITISH = """
poor hour four tour aerobic does poet shoe aloe rise exercise expertise treatise valise arise
promise noise wise analyses haemophilus caecilian timbre acre angioedema gastroesophageal
tracheoesophageal retroesophageal proestrus shoestring cardioesophageal hypoestrogenic
phytoestrogen esophagus achaemenid asafoetida absence source fourth journal course surprise
mourning pouring scouring canoes court flour your courage resource compromise premise advise
practice science tyre cheque leucine leucovorin greyhound controlled filled chancellor fulfilled
trellises clitorises metropolises arthritises urinalyses onomatopoeia coenzyme phoenix
neurotrophin program programmed glamour detour hemoglobin tumor
"""


def paired(text: str) -> list[tuple[str, str]]:
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


def test_british_words_become_american() -> None:
    for british, expected in paired(MEDICAL + GENERAL):
        assert american(british, {}) == expected
        assert american(expected, {}) == expected


def test_words_that_only_look_british_stay() -> None:
    others = "for tor pet she ale timber analyzes por rize des absense sorce forth jornal corse "
    others += "surprize morning poring scoring canes cort flor scypho metropolizes"
    frequent = dict.fromkeys(others.split(), 10**6)
    words = LOOK_BRITISH.split()
    assert [american(word, frequent) for word in words] == words


@pytest.mark.parametrize(("british", "expected"), paired(BOTH_WAYS))
def test_what_americans_write_both_ways_changes_where_the_result_is_common(
    british: str, expected: str
) -> None:
    assert american(british, {expected: 1}) == expected
    assert american(british, {british: 100, expected: 10}) == expected
    assert american(british, {british: 101, expected: 10}) == british
    assert american(british, {british: 1}) == british
    assert american(british, {british: 0, expected: 0}) == british
