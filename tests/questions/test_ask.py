"""Language models, embeddings and baselines on multiple-choice questions."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from fixtures.questions import asked_in, questions_of, reply_with, write_questions
from fixtures.services import Handler, LocalService, says
from oracles.rules import Rules, chosen_by
from rapidfuzz.distance import Levenshtein
from scipy.stats import chi2
from typer.testing import CliRunner

import medsim
from medsim.cli import app
from medsim.core.errors import InputError, OptionError, ServiceError
from medsim.questions.answers import INSTRUCTIONS, parse_choice
from medsim.questions.output import AFFIRMED
from medsim.questions.scores import affirmed_of, answer_sentences
from medsim.statistics.estimates import clustered_mean
from medsim.statistics.significance import holm, marginal_homogeneity, mcnemar

pytest.importorskip("httpx2", reason="medsim[api] is not installed")

LETTERS = "ABCDEFGH"
ROWS = questions_of(60, 1)
TRAIN = questions_of(6, 2)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "mcq", train=TRAIN, test=ROWS)


def run(
    service: LocalService, questions: Path, out: Path, *options: str, **others: Any
) -> medsim.Answers:
    llms = [f"m{at}=api:{service.url},model=m{at}{text}" for at, text in enumerate(options)]
    embeddings = others.pop("embeddings", {})
    others = {"cache": out.parent / "cache"} | others
    return medsim.evaluate(questions, embeddings, out, llms=llms, **others)


def scores(answers: medsim.Answers, model: str = "m0", **where: str) -> dict[str, Any]:
    rows = answers.results().filter(model=model, **({"by": "all"} | where))
    return rows.row(0, named=True)


def often_right(row: dict[str, Any]) -> str:
    """Answer four of five questions, with the right letter or the next one."""
    number = int(row["id"][-2:])
    if number % 5 == 0:
        return "I'm sorry, I cannot answer that."
    if number % 7 == 0:
        return "Perhaps."
    return LETTERS[(row["answer"] + (number % 3 == 0)) % 4]


def test_a_language_model_is_added_to_earlier_answers(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = reply_with(often_right, ROWS)
    both = run(service, questions, tmp_path / "both", "", ",ask=pairs")
    first = [f"m0=api:{service.url},model=m0"]
    medsim.evaluate(questions, {}, tmp_path / "out", llms=first, cache="none")
    n_requests = len(service.requests)

    second = [f"m1=api:{service.url},model=m1,ask=pairs"]
    added = medsim.evaluate(questions, {}, tmp_path / "out", llms=second, cache="none")

    assert len(service.requests) == n_requests + 4 * len(ROWS)
    key = ["input", "ask", "model", "by", "group"]
    assert added.results().sort(key).equals(both.results().sort(key))
    assert {*added.manifest.models} == {"m0", "m1"}
    shown = CliRunner().invoke(app, ["compare", str(tmp_path / "out"), "--format", "csv"])
    assert shown.stdout == added.results().write_csv()
    other = [f"m0=api:{service.url},model=m9"]
    with pytest.raises(OptionError, match="another model named m0; choose another name, or add"):
        medsim.evaluate(questions, {}, tmp_path / "out", llms=other, cache="none")
    with pytest.raises(OptionError, match="another model named m0"):
        medsim.evaluate(questions, {"m0": {"name": [1.0, 2.0]}}, tmp_path / "out")
    with pytest.raises(OptionError, match="other questions or with other options"):
        run(service, questions, tmp_path / "out", "", sample=3)
    vectors = {"e": {"name": [1.0, 2.0]}}
    run(service, questions, tmp_path / "mixed", "", embeddings=vectors)
    with pytest.raises(OptionError, match="give e too; only replies of language models are kept"):
        run(service, questions, tmp_path / "mixed", "", ",ask=pairs")


def test_known_answers_have_the_known_accuracy(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = reply_with(often_right, ROWS)

    answers = run(service, questions, tmp_path / "out", "")

    said = [often_right(row) for row in ROWS]
    right = np.array([letter == row["label"] for letter, row in zip(said, ROWS, strict=True)])
    clusters = np.array([int(row["concept1"][1:]) for row in ROWS])
    found = scores(answers)
    assert found["accuracy"] == right.mean()
    assert (found["refused"], found["unclear"]) == (12, sum(s == "Perhaps." for s in said))
    assert (found["prompt_tokens"], found["completion_tokens"]) == (6000, 120)
    estimate = clustered_mean(right.astype(float), clusters)
    assert (found["low"], found["high"]) == (estimate.low, estimate.high)
    assert (found["n_asked"], found["n_concepts"], found["chance"]) == (60, 30, 0.25)
    for by, key in (("tier", "tier"), ("negatives", "negatives")):
        for group in {question[key] for question in ROWS}:
            expected = right[[question[key] == group for question in ROWS]].mean()
            assert scores(answers, by=by, group=group)["accuracy"] == expected
    kind = [
        any(k == "number" for at, k in enumerate(q["differences"]) if at != q["answer"])
        for q in ROWS
    ]
    expected = right[kind].mean()
    assert scores(answers, by="difference", group="number")["accuracy"] == expected
    bodies = [body for _, _, body in service.requests]
    assert all(body["messages"][0]["content"].startswith(INSTRUCTIONS["choice"]) for body in bodies)
    assert {asked_in(body, ROWS)["id"] for body in bodies} == {row["id"] for row in ROWS}


def test_a_sample_is_asked_with_a_prompt_of_the_user_and_too_many_tokens_are_refused(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = reply_with(often_right, ROWS)
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Welcher Name passt?\n", encoding="utf-8")
    options = {"prompt": prompt, "sample": 7, "max_tokens_total": 200}

    with pytest.raises(OptionError, match=r"an estimated \d{3} tokens, .* 200; add `yes`"):
        run(service, questions, tmp_path / "out", "", **options)
    assert service.requests == []
    answers = run(service, questions, tmp_path / "out", "", **options, yes=True)

    assert scores(answers)["n_asked"] == scores(answers, "nearest")["n_asked"] == 7
    texts = [body["messages"][0]["content"] for _, _, body in service.requests]
    assert len(texts) == 7
    assert all(text.startswith("Welcher Name passt?\n\n") for text in texts)
    again = run(service, questions, tmp_path / "again", "", **options)  # replies are cached
    assert again.results().equals(answers.results())


def best_rule(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return whether the rule that is right most often is right, by its name."""
    answers = np.array([row["answer"] for row in rows])
    right = {rule: chosen == answers for rule, chosen in by_rules(rows).items()}
    best = max(right, key=lambda rule: right[rule].mean())
    return {best: right[best]}


def by_rules(rows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Return the chosen names by each rule."""
    names = {name.lower() for row in rows for name in (row["term"], *row["choices"])}
    rules = Rules(sorted(names))
    chosen = [
        {
            rule: chosen_by(scores)
            for rule, scores in rules.scores(
                row["term"].lower(), [name.lower() for name in row["choices"]], row["spelling"]
            ).items()
        }
        for row in rows
    ]
    return {rule: np.array([each[rule] for each in chosen]) for rule in chosen[0]}


def nearest_by_letters(rows: list[dict[str, Any]]) -> np.ndarray:
    distance = Levenshtein.normalized_distance
    return np.array(
        [
            np.argmin([distance(row["term"], name.lower()) for name in row["choices"]])
            for row in rows
        ]
    )


def test_the_nearest_name_is_that_of_the_smallest_normalised_distance(
    service: LocalService, tmp_path: Path
) -> None:
    rows = questions_of(40, 3)
    for at, row in enumerate(rows):  # the last letters, and the length, decide
        row["choices"] = [f"TERM 3-{(at + step) % 40}{'x' * (3 - step)}" for step in range(4)]
    answers = run(service, write_questions(tmp_path / "mcq", train=rows), tmp_path / "out", "")

    nearest = nearest_by_letters(rows)
    expected = np.mean([at == row["answer"] for at, row in zip(nearest, rows, strict=True)])
    assert scores(answers, "nearest")["accuracy"] == expected
    assert len(set(nearest)) > 1


@pytest.mark.parametrize("n_names", [2, 4])
def test_every_rule_of_spelling_answers_as_it_says(
    service: LocalService, tmp_path: Path, n_names: int
) -> None:
    rows = questions_of(60, 5, n_names)
    words = ["red", "blue", "left", "knee", "kneecap", "bluish"]
    rng = np.random.default_rng(6)
    for row in rows:
        texts = [" ".join(rng.choice(words, rng.integers(1, 4))) for _ in range(n_names + 1)]
        row["term"] = f"{texts[0]} a"
        row["choices"] = [
            f"{text.upper()} {end}" for text, end in zip(texts[1:], "abcd", strict=False)
        ]
    service.chat = lambda _: says("A")

    answers = run(service, write_questions(tmp_path / "mcq", train=rows), tmp_path / "out", "")

    chosen = by_rules(rows)
    right = np.array([row["answer"] for row in rows])
    for rule, by_rule in chosen.items():
        assert scores(answers, rule)["accuracy"] == (by_rule == right).mean(), rule
    assert {*answers.results()["model"]} == {"m0", *chosen}
    (best,) = best_rule(rows)
    assert f"Of the 11 rules of spelling, {best} is right most often (" in str(
        answer_sentences(answers.results())
    )
    with_p = answers.results().filter(by="all").drop_nulls("p")["model"]
    assert {*with_p} < {"m0", best}


def test_a_model_that_always_says_a_has_that_position_bias(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = lambda _: says("A")

    answers = run(service, questions, tmp_path / "out", "")

    n_right = Counter(row["answer"] for row in ROWS)
    for at in range(4):
        group = scores(answers, by="answer", group=LETTERS[at])
        assert (group["accuracy"], group["n_asked"]) == (float(at == 0), n_right[at])
    found = scores(answers)
    assert found["accuracy"] == n_right[0] / 60
    assert found["position_p"] < 1e-9
    result = CliRunner().invoke(app, ["report", str(answers.folder), "-o", f"{tmp_path}/r.html"])
    assert result.exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "m0 has a position bias (p &lt; 0.001)" in page or "bias (p < 0.001)" in page


def test_no_model_leads_below_the_accuracy_of_guessing(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = reply_with(
        lambda row: LETTERS[(row["answer"] + (int(row["id"][-2:]) % 6 > 0)) % 4], ROWS
    )

    says = answer_sentences(run(service, questions, tmp_path / "out", "").results())

    leader, best = says
    assert leader.startswith("No model is significantly better than guessing (0.25) on the 60 ")
    assert "questions of mcq: word_overlap has the highest accuracy, 0.317 (" in leader
    assert best == "Of the 11 rules of spelling, word_overlap is right most often (0.317)."


def test_an_unbiased_model_shows_no_position_bias(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = reply_with(lambda row: row["label"], ROWS)
    answers = run(service, questions, tmp_path / "out", "")
    assert scores(answers)["position_p"] == 1
    assert answers.affirmed().is_empty()


def test_affirmed_names_list_models_in_alphabetical_order() -> None:
    replies = pl.DataFrame({"model": ["b", "a", "c", "a"], "name": ["x", "x", "x", "y"]})
    replies = replies.with_columns(
        term=pl.lit("t"), concept1=pl.lit("C1"), is_correct=False, prediction=pl.lit("A")
    )

    assert affirmed_of(replies)["models"].to_list() == ["a|b|c"]


def test_pairs_are_asked_one_by_one(service: LocalService, questions: Path, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> object:
        row = asked_in(body, ROWS)
        name = body["messages"][-1]["content"].rpartition("term2: ")[2]
        at = row["choices"].index(name)
        says_yes = at == row["answer"] or (row["tier"] == "1" and at == 0)
        return says("YES" if says_yes else "No.")

    service.chat = reply
    answers = run(service, questions, tmp_path / "out", ",ask=pairs,shots=3")

    wrong = [row for row in ROWS if row["tier"] == "1" and row["answer"] != 0]
    found = scores(answers)
    assert found["accuracy"] == 1 - len(wrong) / 240
    assert scores(answers, by="answer", group="yes")["accuracy"] == 1
    specificity = scores(answers, by="answer", group="no")["accuracy"]
    assert specificity == pytest.approx(1 - len(wrong) / 180)
    assert (found["chance"], found["position_p"]) == (0.75, None)
    assert {*answers.results()["model"]} == {"m0"}
    pairs = {(row["term"], row["choices"][0]) for row in wrong}
    assert {*answers.affirmed().select("term1", "term2").iter_rows()} == pairs
    assert len(service.requests) == 240
    messages = service.requests[0][2]["messages"]
    assert messages[0]["content"].startswith(INSTRUCTIONS["pairs"])
    assert [message["content"] for message in messages[1:-1:2]] == ["YES", "NO", "YES"]
    for shot, question, is_right in zip(
        messages[:-1:2], TRAIN[:3], (True, False, True), strict=True
    ):
        name = shot["content"].rpartition("term2: ")[2]
        assert f"term1: {question['term']}\n" in shot["content"]
        assert (name == question["choices"][question["answer"]]) == is_right


def test_models_are_compared_on_the_same_questions(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = lambda body: says(
        often_right(asked_in(body, ROWS)) if body["model"] == "m0" else "B"
    )

    answers = run(service, questions, tmp_path / "out", "", "", ",ask=pairs")

    replies = answers.read("replies.parquet").filter(ask="choice")
    correct = {
        name: replies.filter(model=name)["is_correct"].to_numpy() for name in ("m0", "m1")
    } | best_rule(ROWS)
    clusters = np.array([int(row["concept1"][1:]) for row in ROWS])
    best, *others = sorted(correct, key=lambda name: -correct[name].mean())
    tests = holm(np.array([mcnemar(correct[best], correct[a], clusters).p for a in others]))
    assert scores(answers, best)["p"] is None
    assert [scores(answers, name)["p"] for name in others] == tests.tolist()
    assert scores(answers, best)["accuracy"] == correct[best].mean()
    affirmed = answers.affirmed()
    both = [row for row in ROWS if row["label"] != "B" and often_right(row) == "B"]
    assert {*affirmed["term1"]} == {row["term"] for row in both}
    assert {*affirmed["models"]} == {"m0|m1"}
    assert affirmed.schema == pl.Schema(AFFIRMED.dtypes)
    study = CliRunner().invoke(
        app, ["study", "sample", f"{answers.folder}/affirmed.csv", "-o", f"{tmp_path}/study"]
    )
    assert study.exit_code == 0, study.output
    items = medsim.Study(tmp_path / "study").items()
    assert {*items["term2"]} == {row["choices"][1] for row in both}


def test_an_embedding_chooses_the_nearest_name(tmp_path: Path) -> None:
    rows = questions_of(12, 4)
    questions = write_questions(tmp_path / "mcq", train=rows)
    place = {row["term"]: 0.0 for row in rows}
    place |= {
        name: 0.1 * (1 + (at - row["answer"]) % 4) + (int(row["id"][-2:]) % 4 == 3 and at == 0)
        for row in rows
        for at, name in enumerate(row["choices"])
    }
    unknown = {rows[0]["term"], *rows[1]["choices"], rows[2]["choices"][rows[2]["answer"]]}
    vectors = {
        text: np.array([np.cos(angle), np.sin(angle)])
        for text, angle in place.items()
        if text not in unknown
    }
    own = medsim.Embedding(vectors, keys="terms")

    answers = medsim.evaluate(questions, {"own": own}, tmp_path / "out", cache="none")

    expected = []
    for row in rows:
        known = {name: place[name] for name in row["choices"] if name not in unknown}
        is_known = row["term"] not in unknown and known
        best = min(known, key=known.__getitem__) if is_known else None
        expected.append(best == row["choices"][row["answer"]])
    assert scores(answers, "own")["accuracy"] == np.mean(expected)
    assert scores(answers, "own")["unclear"] == 2
    assert 0 < sum(expected) < 10


def test_an_interrupted_run_continues_and_asks_nothing_twice(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = reply_with(often_right, ROWS)

    def refuse(handler: Handler, _body: object) -> None:
        handler.reply({"error": {"message": "no more credit"}}, 402)

    faults = [lambda handler, body: handler.reply(service.chat(body))] * 20 + [refuse] * 9
    service.faults.extend(faults)
    with pytest.raises(ServiceError, match="no more credit"):
        run(service, questions, tmp_path / "out", "")
    service.faults.clear()
    before = {json.dumps(body["messages"]) for _, _, body in service.requests[:20]}
    n_failed = len(service.requests)
    first = run(service, questions, tmp_path / "out", "")

    later = [json.dumps(body["messages"]) for _, _, body in service.requests[n_failed:]]
    assert len(later) == 40
    assert not before & {*later}
    again = run(service, questions, tmp_path / "again", "")
    assert len(service.requests) == n_failed + 40
    assert again.results().equals(first.results())


def test_the_command_prints_the_result(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = lambda _: says("A")
    llm = f"m0=api:{service.url},model=m"
    arguments = [
        "eval",
        str(questions),
        "--llm",
        llm,
        "-o",
        str(tmp_path / "out"),
        "--cache",
        "none",
    ]

    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 0, result.output
    assert "On the same questions" in result.output or "the 60 questions of mcq" in result.output
    assert "m0 has a position bias (p < 0.001)" in " ".join(result.output.split())
    assert re.search(r"position_p", result.output)


CUT = "m0: tokens=16 cuts 60 of 60 replies before an answer; raise it"
UNCLEAR = "m0: no clear answer in 60 of 60 replies, such as 'Perhaps.'; try shots=5, or another"
REFUSED = "m0: no clear answer in 60 of 60 replies, such as 'Not \\x1b allowed.'; try shots=5"


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("reply", "warning"),
    [
        (lambda _: says("<think>The names are all", finish="length"), CUT),
        (lambda _: says(None, finish="length"), CUT),
        (lambda _: says("Perhaps."), UNCLEAR),
        (lambda _: says("Perhaps." * 99), f"such as {'Perhaps.' * 7 + 'Perh'!r}; try"),
        (lambda _: says("", refusal="Not \x1b allowed."), REFUSED),
        (lambda _: says(None), "such as an empty one; try shots=5, or another model (all replies"),
        (lambda _: says("A, because the names are", finish="length"), None),
        (reply_with(lambda row: "A" if int(row["id"][-2:]) % 2 else "Perhaps.", ROWS), None),
        (
            reply_with(lambda row: "A" if int(row["id"][-2:]) % 3 == 0 else "Perhaps.", ROWS),
            "m0: no clear answer in 40 of 60 replies",
        ),
    ],
)
def test_replies_without_an_answer_end_with_a_hint(
    service: LocalService, questions: Path, tmp_path: Path, reply: Any, warning: str | None
) -> None:
    service.chat = reply
    call = ["eval", str(questions), "--llm", f"m0=api:{service.url},model=m", "--cache", "none"]

    result = CliRunner().invoke(app, [*call, "-o", f"{tmp_path}/out"])

    assert result.exit_code == 0, result.output
    assert ("warning: m0: " in result.stderr) == (warning is not None)
    assert warning is None or warning in result.stderr
    recorded = medsim.Answers(tmp_path / "out").manifest.warnings
    assert len(recorded) == (warning is not None)


def test_a_single_reply_that_was_cut_is_reported(
    service: LocalService, questions: Path, tmp_path: Path
) -> None:
    service.chat = lambda body: (
        says("A") if asked_in(body, ROWS) != ROWS[7] else says("The", finish="length")
    )

    (warning,) = run(service, questions, tmp_path / "out", ",tokens=2").manifest.warnings

    assert warning.startswith("m0: tokens=2 cuts 1 of 60 replies before an answer")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"retrieval": True}, "`retrieval` does not apply to questions; leave it out"),
        ({"seed": 9}, "`seed` does not apply"),
        ({"metrics": ["cos"]}, "`metrics` does not apply"),
        ({"llms": ["m=here,model=m"]}, "is not a service"),
        ({"llms": ["m=api:http://localhost:1,model=m,ask=aloud"]}, "unknown ask 'aloud'"),
        (
            {"llms": ["m=api:http://localhost:1,model=m,shots=7"]},
            "needs as many questions",
        ),
        ({"llms": ["nearest=api:http://localhost:1,model=m"]}, "named 'nearest'"),
        ({"llms": []}, "name at least one of `embeddings`"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    questions: Path, tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    options = {"llms": ["m=api:http://localhost:1,model=m"]} | given
    with pytest.raises(OptionError, match=re.escape(message)):
        medsim.evaluate(questions, {}, tmp_path / "out", **options)


def test_inputs_are_all_questions_or_none(questions: Path, tmp_path: Path) -> None:
    rated = tmp_path / "rated.csv"
    rated.write_text("term1,term2,rating\na,b,1\n", encoding="utf-8")
    llms = ["m=api:http://localhost:1,model=m"]
    with pytest.raises(InputError, match=r"rated\.csv has no questions; make some"):
        medsim.evaluate([questions, rated], {}, tmp_path / "out", llms=llms)
    with pytest.raises(OptionError, match="`llms` are asked questions"):
        medsim.evaluate(rated, {}, tmp_path / "out", llms=llms)


@pytest.mark.parametrize(
    "change",
    [
        {"answer": 4},
        {"differences": None},
        {"term": None},
        {"choices": ["a", "a", "b", "c"]},
        {"choices": ["a"]},
        {"id": "1-0000"},
        {"answer": "B"},
        {"answer": 0.5},
        {"answer": True},
    ],
)
def test_a_damaged_question_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    questions = write_questions(tmp_path / "mcq", test=[ROWS[0], ROWS[1] | change])
    with pytest.raises(InputError, match=r"question 2 is damaged|cannot be read as questions"):
        medsim.evaluate(questions, {}, tmp_path / "out", llms=["m=api:http://localhost:1,model=m"])


@pytest.mark.parametrize(
    "lines",
    [
        '{"query": "fever", "pos": ["pyrexia"], "neg": ["rigor"], "pair_id": "1", "distance": 5}\n',
        '{"text": "fever"}\n{"text": "rigor"}\n',
        "\n",
    ],
)
def test_an_export_of_pairs_is_not_a_damaged_question(tmp_path: Path, lines: str) -> None:
    pairs = write_questions(tmp_path / "pairs") / "test.jsonl"
    pairs.write_text(lines, encoding="utf-8")
    call = ["eval", str(pairs.parent), "--llm", "m=api:http://localhost:1,model=m"]

    result = CliRunner().invoke(app, [*call, "-o", f"{tmp_path}/out"])

    assert result.exit_code == 1
    assert "test.jsonl has pairs or other rows, not multiple-choice questions; " in result.output
    assert "give the build" in result.output
    assert "medsim export --for jsonl and --choices" in result.output


def test_a_line_of_questions_that_was_cut_is_named(tmp_path: Path) -> None:
    questions = write_questions(tmp_path / "mcq", test=ROWS[:2])
    path = questions / "test.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"test\.jsonl: line 2 is not JSON"):
        medsim.evaluate(questions, {}, tmp_path / "out", llms=["m=api:http://localhost:1,model=m"])


NAMES = ["cold", "common cold", "C. difficile colitis", "allergic rhinitis", "b"]


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        (" **B**\n", "B"),
        ("(B) common cold", "B"),
        ("B. common cold", "B"),
        ("B: since it is the same", "B"),
        ("The answer is B.", "B"),
        ("Answer: B", "B"),
        ("Thus \\boxed{B}", "B"),
        ("The correct option is (D), allergic rhinitis", "D"),
        ("common cold", "B"),
        ("Common cold.", "B"),
        ("cold", "A"),
        ("C. difficile colitis", "C"),
        ("Acute nasopharyngitis means the same as common cold.", "B"),
        ("scolding", None),
        ("cold or allergic rhinitis", None),
        ("It is either a common cold or allergic rhinitis", None),
        ("It is not the common cold", None),
        ("The answer is A or B", None),
        ("option A, option B", None),
        ("F", None),
        ("A good question.", None),
        ("None of these", None),
        ("", None),
    ],
)
def test_choices_are_found_in_texts(text: str, letter: str | None) -> None:
    assert parse_choice(text, "acute nasopharyngitis", NAMES) == letter


@pytest.mark.parametrize("text", ["M\u00e9ni\u00e8re", "It is me\u0301nie\u0300re."])
def test_names_in_replies_match_in_any_form_of_unicode(text: str) -> None:
    for name in ("M\u00e9ni\u00e8re", "Me\u0301nie\u0300re"):
        assert parse_choice(text, "vertigo", ["deafness", name]) == "B"


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_marginal_homogeneity_is_the_test_of_stuart_and_maxwell(n_classes: int) -> None:
    counts = np.random.default_rng(n_classes).integers(1, 30, (n_classes, n_classes))
    differences = (counts.sum(axis=0) - counts.sum(axis=1))[:-1]
    covariance = np.diag(counts.sum(axis=0) + counts.sum(axis=1)) - counts - counts.T
    statistic = differences @ np.linalg.solve(covariance[:-1, :-1], differences)

    test = marginal_homogeneity(counts)

    assert test.statistic == pytest.approx(statistic)
    assert test.p == pytest.approx(chi2.sf(statistic, n_classes - 1))
