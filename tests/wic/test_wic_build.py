"""Benchmarks of words in context are built from corpora, and follow all rules."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from fixtures.corpora import invented_names, write_corpus
from fixtures.umls import Metathesaurus

from medsim.core.errors import InputError, OptionError
from medsim.core.kinds import WIC_COLUMNS
from medsim.corpora import CORPUS_SPLITS
from medsim.wic import build
from medsim.wic.build import build_wic
from medsim.wic.output import CHOSEN_MENTION, INSTANCE, read_instances
from medsim.wic.rules import label_ratio
from medsim.wic.verify import verify_wic as verify

if TYPE_CHECKING:
    from medsim.wic.output import Benchmark

pytestmark = pytest.mark.slow

NAMES = invented_names(3, 120)


@pytest.fixture(scope="module")
def inputs(shared_benchmark: Benchmark) -> tuple[list[Path], Path]:
    folder = shared_benchmark.folder.parent
    return [folder / "one.txt", folder / "two.txt"], folder / "velpish.obo"


@pytest.fixture(scope="module")
def built(shared_benchmark: Benchmark) -> Benchmark:
    return shared_benchmark


def test_every_rule_holds_for_a_built_benchmark(built: Benchmark, inputs) -> None:
    opened, named = verify(built), verify(built.folder, terminology=str(inputs[1]))
    for outcome in (opened, named):
        assert outcome.breaches.height == 0
        assert outcome.holds


def test_similar_labels_are_those_above_the_chosen_ratio(inputs, tmp_path: Path) -> None:
    more = build_wic(*inputs, tmp_path / "more", label_similarity=0.6)

    assert verify(more).holds
    pairs = [
        row
        for row in more.instances().select("term1", "term2", "cat").iter_rows()
        if row[2] == "label_similarity" and label_ratio(*row[:2]) <= Fraction(3, 4)
    ]
    assert pairs
    assert all(label_ratio(*row[:2]) > Fraction(6, 10) for row in pairs)
    alone = [verify(more.folder / f"{split}.json").broken for split in CORPUS_SPLITS]
    assert ["similarity"] in alone  # without the limit in the manifest


def test_tables_of_the_terminology_are_compared_with_it(
    built: Benchmark, inputs, tmp_path: Path
) -> None:
    _, source = inputs
    text = source.read_text(encoding="utf-8")
    other = tmp_path / "other.obo"
    first, second = NAMES["D900001"][0], NAMES["D900000"][0]
    renamed = text.replace(f"name: {first}\n", f"name: {second}\n")
    other.write_text(renamed.replace("is_a: V:0002", "is_a: V:0001"), encoding="utf-8")
    assert verify(built.folder, terminology=str(other)).broken == ["names", "related"]
    other.write_text(text.replace("id: V:0000", "id: V:9999"), encoding="utf-8")
    assert "concepts" in verify(built.folder, terminology=str(other)).broken
    with pytest.raises(OptionError, match=r"`extensions` other\.zip: .* takes only mappings"):
        verify(built.folder, terminology=str(other), extensions=["other.zip"])


@pytest.mark.some(1)
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_order_threads_and_a_second_run_do_not_change_a_byte(
    built: Benchmark, inputs, tmp_path: Path, threads: int
) -> None:
    corpora, source = inputs
    shuffled = []
    for path in reversed(corpora):
        documents = path.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
        other = tmp_path / path.name
        other.write_text("\n\n".join(documents[::-1]) + "\n", encoding="utf-8")
        shuffled.append(other)
    again = build_wic(shuffled, source, tmp_path / "wic", threads=threads)
    for path in ("train.json", "dev.json", "test.json"):
        assert (again.folder / path).read_bytes() == (built.folder / path).read_bytes()
    for path in ("instances.parquet", "mentions.parquet", "relations/name.parquet"):
        assert again.read(path).equals(built.read(path))


def test_broader_concepts_at_any_depth_are_left_out_on_request(inputs, tmp_path: Path) -> None:
    _, source = inputs
    few = write_corpus(tmp_path, NAMES, "few", 1, n_documents=40)
    chain = source.read_text(encoding="utf-8")
    for number in range(3, 120, 7):  # the parent gets a parent
        chain = chain.replace(
            f"xref: MSH:D{900000 + number - 1}",
            f"xref: MSH:D{900000 + number - 1}\nis_a: V:{number - 2:04}",
        )
    path = tmp_path / "chain.obo"
    path.write_text(chain, encoding="utf-8")
    excluded = {}
    for broader in ("direct", "any"):
        benchmark = build_wic([few], path, tmp_path / broader, broader=broader, threads=1)
        related = benchmark.read("relations/related.parquet")
        excluded[broader] = set(related.select("concept1", "concept2").iter_rows())
    assert ("V:0001", "V:0002") in excluded["direct"]
    assert ("V:0001", "V:0003") not in excluded["direct"]
    assert ("V:0001", "V:0003") in excluded["any"]


def mentioning(code: str, name: str, number: int) -> str:
    start = len(f"Case {number}: ")
    line = f"{number}\t{start}\t{start + len(name)}\t{name}\tDisease\t{code}\n"
    return f"{number}|t|Case {number}: {name}.\n{number}|a|\n{line}"


def test_codes_of_mesh_and_omim_link_to_concepts_of_umls(tmp_path: Path) -> None:
    umls = Metathesaurus()
    for cui, name, code in (
        ("C0000001", "velp ache", "D000001"),
        ("C0000002", "velp ache", "D000002"),
        ("C0000003", "velp bloat", "D000003"),
        ("C0000004", "velp ache of age", "D000003"),  # the code now stands for two concepts
        ("C0000005", "velp aches", "D000005"),
        ("C0000006", "velp ached", "D000006"),
    ):
        umls.atom(cui, name, code=code)
    umls.atom("C0000001", "ACHE OF VELP", sab="OMIM", code="100100")
    umls.atom("C0000005", "velp itch", sab="SNOMEDCT_US", code="77")
    umls.atom("C0000001", "velp itch", sab="SNOMEDCT_US", code="77")
    umls.relation("C0000002", "SY", "C0000005")
    umls.relation("C0000006", "RB", "C0000001")
    codes = ["D000001", "OMIM:100100", "D000002", "MESH:D000003", "UMLS:C0000005", "D000006"]
    codes.append("OMIM:999999")  # no concept has it
    text = "\n".join(
        mentioning(code, "velp ache", 10 * at + n)
        for at, code in enumerate(codes)
        for n in range(4)
    )
    path = tmp_path / "cases.txt"
    path.write_text(text, encoding="utf-8")

    benchmark = build_wic([path], umls.write(tmp_path / "META"), tmp_path / "wic", threads=1)

    mentions = benchmark.mentions()["concept_id"].value_counts().sort("concept_id")
    expected = {"C0000001": 8, "C0000002": 4, "C0000005": 4, "C0000006": 4}
    assert dict(mentions.iter_rows()) == expected
    skipped = {row["reason"]: row["n_rows"] for row in benchmark.manifest.skipped}
    assert skipped["mention has a code of several concepts"] == 4
    assert skipped["mention has a code that the terminology does not know"] == 4
    assert benchmark.read("relations/related.parquet").rows() == [
        ("C0000001", "C0000005", "shared_code"),
        ("C0000001", "C0000006", "broader"),
        ("C0000002", "C0000005", "synonymous"),
    ]
    pairs = set(benchmark.instances().select("concept1", "concept2").iter_rows())
    assert not pairs & {("C0000001", "C0000005"), ("C0000006", "C0000001")}
    assert verify(benchmark.folder).holds


def spanish(tmp_path: Path) -> tuple[Path, Path]:
    """Return a corpus and a release of UMLS with names in Spanish and in English."""
    umls = Metathesaurus()
    for number, (name, other) in enumerate(
        (("enfermedad crónica", "chronic velp"), ("kiria", "kir"))
    ):
        umls.atom(f"C000000{number}", name, lat="SPA", sab="MSHSPA")
        umls.atom(f"C000000{number}", other, code=f"D00000{number}")
    documents = []
    for at in range(24):
        name = ("enfermedad crónica", "enfermedades crónicas")[at % 2]
        code = f"C000000{at % 3 // 2}"
        title = f"El Dr. Orl vio {name} {at}."
        start = title.index(name)
        line = f"{at}\t{start}\t{start + len(name)}\t{name}\tT047\t{code}\n"
        documents.append(f"{at}|t|{title}\n{at}|a|No vio {name}.\n{line}")
    path = tmp_path / "casos.txt"
    path.write_text("\n".join(documents), encoding="utf-8")
    return path, umls.write(tmp_path / "META")


def test_sentences_and_lemmas_follow_the_language_option(tmp_path: Path) -> None:
    corpus, source = spanish(tmp_path)

    benchmark = build_wic([corpus], source, tmp_path / "wic", language="es", threads=1)

    assert set(benchmark.instances()["cat"]) == {"term_identity"}  # of the singular and the plural
    assert benchmark.mentions()["sentence"].str.starts_with("El Dr. Orl vio enfermedad").all()
    assert benchmark.manifest.options["language"] == "es"
    assert verify(benchmark.folder, terminology=str(source)).holds


def test_a_language_without_sentences_or_lemmas_is_refused(tmp_path: Path) -> None:
    corpus, source = spanish(tmp_path)
    for unknown in ("ja", "xx"):
        with pytest.raises(OptionError, match=rf"`language` {unknown}, .*both have ar, .*, es, "):
            build_wic([corpus], source, tmp_path / "wic", language=unknown)


def test_files_have_their_columns_and_terms_of_use(built: Benchmark) -> None:
    assert built.instances().schema == pl.Schema(INSTANCE.dtypes)
    assert built.mentions().schema == pl.Schema(CHOSEN_MENTION.dtypes)
    for split in CORPUS_SPLITS:
        instances = built.instances(split).select(list(WIC_COLUMNS))
        assert read_instances(built.folder / f"{split}.json").equals(instances)
    for path in built.manifest.outputs:
        if path.endswith(".parquet"):
            facts = pl.read_parquet_metadata(built.folder / path)
            assert facts["terms_of_use"].startswith("those of the corpora, and of the terminology")
            assert json.loads(facts["redistributable"]) is None
            assert json.loads(facts["corpora"]) == ["one", "two"]


def test_both_mentions_of_an_instance_are_kept_with_their_concepts(built: Benchmark) -> None:
    mentions = set(built.mentions().rows())
    names = [name.removesuffix("_id") for name in CHOSEN_MENTION.dtypes]
    for side in (1, 2):
        rows = built.instances().select(f"{name}{side}" for name in names).rows()
        assert rows
        assert mentions.issuperset(rows)


def test_the_manifest_lists_corpora_and_skipped_mentions(built: Benchmark) -> None:
    manifest = built.manifest
    assert [item["name"] for item in manifest.corpora] == ["one", "two"]
    reasons = {item["reason"] for item in manifest.skipped}
    assert "mention is not in the text at its offsets" in reasons
    assert manifest.quotas["test"]["term_identity"] * 2 == (
        built.instances("test").filter(pl.col("cat") == "term_identity").height
    )
    (warning,) = (line for line in manifest.warnings if "fewer instances than BioWiC" in line)
    assert "in test" in warning


def test_a_terminology_without_any_code_is_refused_before_sentences_are_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "read_mentions", lambda *_, **__: pytest.fail("cuts sentences"))
    few = write_corpus(tmp_path, NAMES, "few", 1, n_documents=3)
    other = tmp_path / "other.obo"
    other.write_text("format-version: 1.2\n\n[Term]\nid: X:1\nname: velp\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"to a concept of other\.obo; .* codes of MSH, so"):
        build_wic([few], other, tmp_path / "wic", threads=1)
    assert not (tmp_path / "wic").exists()


def test_ids_of_mesh_in_an_ontology_link_mentions(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, NAMES, "corpus", 1, n_documents=60)
    terms = (
        f"[Term]\nid: MESH:{code}\nname: {names[0]}\n"
        + "".join(f'synonym: "{name}" EXACT []\n' for name in names[1:])
        for code, names in NAMES.items()
    )
    source = tmp_path / "mesh.obo"
    source.write_text("format-version: 1.2\n\n" + "\n".join(terms), encoding="utf-8")

    built = build_wic([corpus], source, tmp_path / "wic", threads=1)

    concepts = built.sql("select distinct concept_id from mention")["concept_id"]
    assert concepts.len() > 0
    assert set(concepts) <= {f"MESH:{code}" for code in NAMES}


def test_one_sentence_is_not_enough_for_a_benchmark(inputs, tmp_path: Path) -> None:
    _, source = inputs
    name = NAMES["D900000"][0]
    text = f"1|t|On {name}.\n1|a|\n1\t3\t{3 + len(name)}\t{name}\tDisease\tD900000\n"
    path = tmp_path / "one.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no two sentences make an instance"):
        build_wic([path], source, tmp_path / "wic", threads=1)
