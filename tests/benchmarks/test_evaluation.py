"""The benchmarks of `medsim eval` at small sizes: both sides agree, and errors are noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import TERMS, write_encoder, write_modules

from benchmarks import bootstrap, encode, load_words, retrieval, separation, similarities
from benchmarks.harness import MismatchError
from benchmarks.harness.embedded import Sizes
from benchmarks.harness.plain_metrics import OF_VECTORS, OF_WORDS
from benchmarks.harness.word_files import write_words
from medsim.embeddings.metrics import METRICS
from medsim.statistics import significance

pytestmark = pytest.mark.slow

SIZES = Sizes(n_pairs=300, n_terms=200, n_words=80, n_dimensions=12)
JOB = similarities.Job(sizes=SIZES, plain_seconds=0.02, rounds=1, threads=1)
INTERVAL = significance.Test(method="bca", statistic=0.5, p=0.01, low=0.4, high=0.6)


def test_similarities_agree_with_the_plain_way_and_do_not_depend_on_threads() -> None:
    for race, names in ((similarities.race_words, OF_WORDS), (similarities.race_terms, OF_VECTORS)):
        single, double = race(JOB), race(replace(JOB, threads=2))
        assert [speed.metric for speed in single] == list(names)
        assert [speed.digest for speed in single] == [speed.digest for speed in double]
        assert len({speed.digest for speed in single}) == len(names)
        assert min(speed.seconds for speed in single) > 0
        assert min(speed.ratio for speed in single) > 0


@pytest.mark.parametrize("value", [0.2504, 0.2496, np.nan])
def test_a_similarity_that_differs_is_noticed(value: float) -> None:
    expected = np.array([0.5, 0.25])
    similarities.check("cos", np.array([0.5, 0.2502]), expected)
    with pytest.raises(MismatchError, match=r"cos: pair 1 is .*, and 0\.250000 the plain way"):
        similarities.check("cos", np.array([0.5, value]), expected)


def test_separation_agrees_with_all_triples_and_does_not_depend_on_threads() -> None:
    job = separation.Job(n_terms=60, n_beside=20, n_plain=5, n_words=80, n_dimensions=12, threads=1)
    for name in ("avg_kendall", "fuzzy_jaccard"):
        single, double = (separation.race(replace(job, threads=n), name) for n in (1, 2))
        assert single.digest == double.digest
        assert min(single.seconds, single.ratio) > 0

    job = replace(job, n_terms=9, n_beside=9, n_plain=9)
    metric, bags = METRICS.get("avg_cos"), job.bags()
    result = separation.separate(metric, bags, job, 1)
    counts = separation.counted_plainly(metric, bags, job, 9)
    separation.check("avg_cos", result, counts)
    with pytest.raises(MismatchError, match=r"avg_cos: errors .* in the plain way"):
        separation.check("avg_cos", result, [counts[0], counts[1] + 1, counts[2]])


@pytest.mark.parametrize("binary", [True, False])
def test_readers_find_the_same_words_in_a_file(tmp_path: Path, *, binary: bool) -> None:
    path = tmp_path / "words"
    write_words(path, 500, binary=binary)
    file = load_words.File(path=path, binary=binary, n_words=500, n_wanted=120)

    ours, plain = load_words.load(file, "medsim"), load_words.load(file, "plain loop")

    assert ours.peak_mib > 0
    load_words.check({"medsim": ours, "plain loop": plain})
    with pytest.raises(MismatchError, match="the vectors of plain loop differ from"):
        load_words.check({"medsim": ours, "plain loop": replace(plain, fingerprint="cd34")})


def test_intervals_agree_with_those_of_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_RESAMPLES", 400)
    monkeypatch.setattr(bootstrap, "_FEW", 150)
    job = bootstrap.Job(n_pairs=400, n_plain=2, rounds=2, threads=2)

    seen = bootstrap.race(job)

    assert seen.fingerprint == bootstrap.race(replace(job, rounds=1, threads=1)).fingerprint
    assert len(seen.turns) == 2
    assert seen.median(lambda turn: turn.scipy) > 0


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (replace(INTERVAL, statistic=0.500001), "the difference is 0.500001, but 0.500000 by"),
        (replace(INTERVAL, low=0.359), "the lower end is 0.359000, but 0.400000 by SciPy"),
        (replace(INTERVAL, high=0.641), "the upper end is 0.641000, but 0.600000 by SciPy"),
        (replace(INTERVAL, high=np.nan), "the upper end is nan"),
    ],
)
def test_an_interval_that_differs_by_more_than_chance_is_noticed(
    other: significance.Test, says: str
) -> None:
    bootstrap.check(replace(INTERVAL, low=0.361, high=0.639), INTERVAL)
    with pytest.raises(MismatchError, match=says):
        bootstrap.check(other, INTERVAL)


def test_padded_batches_give_the_vectors_of_medsim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")
    model = write_encoder(tmp_path / "model")
    write_modules(model, ("Transformer", {}), ("Pooling", {}), ("Normalize", {}))
    monkeypatch.setattr(encode, "_BATCH", 3)
    terms = TERMS[::-1]

    new = encode.encode(model, terms, tmp_path / "kept", 2)
    again = encode.encode(model, terms, tmp_path / "kept", 1)
    batched = encode.encode_in_batches(model, terms, 1)

    encode.check(new.vectors, again.vectors, batched.vectors)
    assert np.allclose(new.vectors, batched.vectors, atol=1e-6)


def test_vectors_that_differ_are_noticed() -> None:
    new, near, far = np.array([np.eye(3)] * 3, np.float32)
    near[1] = (0.14, 1, 0)  # cosine 0.9903
    far[1] = (0.15, 1, 0)  # cosine 0.9889
    encode.check(new, new, near)
    with pytest.raises(MismatchError, match=r"term 1: cosine 0\.9889"):
        encode.check(new, new, far)
    with pytest.raises(MismatchError, match="from the cache"):
        encode.check(new, near, new)


def test_terms_that_are_looked_up_have_the_ranks_of_brute_force() -> None:
    job = retrieval.Job(n_terms=900, n_queries=60, n_plain=20, n_dimensions=8, threads=2)
    flat, approximate = retrieval.look_up(job, "flat"), retrieval.look_up(job, "ivf")
    _, ranks = retrieval.look_up_plainly(job)

    assert flat.ranks.head(20).to_list() == ranks.tolist()
    assert flat.ranks.max() > 10
    assert flat.recall is None
    assert approximate.recall is not None
    assert 0 < approximate.recall <= 1
