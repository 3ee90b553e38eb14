"""Association norms, as they are passed around."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from fixtures.studies import put

from medsim.core.errors import InputError
from medsim.studies.words.forms import Forms
from medsim.studies.words.norms import associated, read_norms

FORMS = Forms(counts={}, given={"cats": "cat"}, lemma_of=str)
WORDS = pl.DataFrame(
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


def pairs(*paths: Path) -> list[tuple[int, int, str]]:
    return associated(read_norms(paths), FORMS, WORDS).rows()


def test_the_files_of_the_university_of_south_florida_are_read(tmp_path: Path) -> None:
    content = USF.replace("\n", "\r\n").encode("latin-1")
    assert pairs(put(tmp_path, "usf.txt", content)) == [
        (0, 2, "norm: dog → cat, FSG 0.653"),  # the stronger of two directions
        (1, 3, "norm: color → fox, FSG 0.013"),
    ]


def test_a_plain_table_is_read_with_or_without_strengths(tmp_path: Path) -> None:
    plain = put(tmp_path, "plain.csv", "cue,target\nfox,Cats\ncats,dog\n")
    strong = put(tmp_path, "strong.tsv", "Cue\tTarget\tStrength\ncat\tdog\t12\ndog\tfox\t\n")
    assert pairs(plain) == [(0, 2, "norm: cat → dog"), (0, 3, "norm: fox → cat")]
    assert pairs(plain, strong) == [
        (0, 2, "norm: cat → dog, strength 12"),
        (0, 3, "norm: fox → cat"),
        (2, 3, "norm: dog → fox"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cue,target,FSG\na,b,often\n", "line 2: fsg 'often' is no number such as 0.42"),
        ("cue,target,strength\na,b,1\nb,c,nan\n", "line 3: strength 'nan' is no number"),
        ("cue,target\n,cat\ndog,\n", "line 2: cue '' is empty; give a word"),
        ("cue,target\ncat,fox\ndog,\n", "line 3: target '' is empty; give a word"),
        ("word,target\na,b\n", "no column 'cue'"),
    ],
)
def test_what_is_wrong_in_norms_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        read_norms([put(tmp_path, "norms.csv", text)])
