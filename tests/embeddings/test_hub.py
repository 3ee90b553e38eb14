"""Models on a hub: the files that are fetched and read, with a stand-in for huggingface_hub."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import TERMS, asked, hidden_of, tokens_of, write_encoder
from safetensors.numpy import save

from medsim.builds.build import location_of
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import FileSource, identify, open_source
from medsim.embeddings.options import parse_embedding

library = pytest.importorskip("huggingface_hub", reason="medsim[hub] is not installed")

MODEL = "group/model"
CONFIG = json.dumps({"model_type": "bert", "architectures": ["BertModel"]}).encode()
Files = dict[str, bytes]
FILES: Files = {
    "README.md": b"# a model",
    "checkpoint-1/model.safetensors": b"other weights",
    "config.json": CONFIG,
    "model.safetensors": save({"table": np.zeros((3, 1), np.float32)}),
    "onnx/model_quantized.onnx": b"other weights",
    "pytorch_model.bin": b"\x80pickle",
    "tokenizer.json": b"{}",
}
NEEDED = ["config.json", "model.safetensors", "tokenizer.json"]


class Hub:
    """The commits of one model; the last is on its branch main.

    Attributes:
        fetched: the files that were fetched so far, in order.
        fault: raised in place of an answer.
    """

    def __init__(self, cache: Path) -> None:
        self.commits: dict[str, Files] = {}
        self.fetched: list[str] = []
        self.fault: Exception | None = None
        self._cache = cache

    def commit(self, files: Files) -> str:
        """Return the hash of a new commit with these files."""
        content = repr(sorted(files.items())).encode()
        commit = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        self.commits[commit] = files
        return commit

    def snapshot_download(
        self, name: str, *, revision: str | None, allow_patterns: list[str]
    ) -> str:
        """Return the folder of a commit, with the files that fit a pattern."""
        assert name == MODEL
        if self.fault:
            raise self.fault
        commit = [*self.commits][-1] if revision in {None, "main"} else str(revision)
        files = self.commits[commit]
        for file in library.utils.filter_repo_objects(files, allow_patterns=allow_patterns):
            path = self._cache / commit / file
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files[file])
                self.fetched.append(file)
        return str(self._cache / commit)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub without a model, and an empty cache."""
    fake = Hub(tmp_path / "cache")
    monkeypatch.setattr(library, "snapshot_download", fake.snapshot_download)
    return fake


def opened(text: str) -> FileSource:
    source = open_source(parse_embedding(f"own={text}"))
    assert isinstance(source, FileSource)
    return source


def test_only_needed_files_are_fetched_once(hub: Hub, tmp_path: Path) -> None:
    commit = hub.commit(FILES)

    source = opened(f"hf:{MODEL}@main")
    again = opened(f"hf:{MODEL}@{commit}")

    assert source.location == again.location == f"hf:{MODEL}@{commit}"
    assert source.format_name == "transformers"
    assert sorted(hub.fetched) == NEEDED
    (tmp_path / "own").mkdir()
    for name in NEEDED:
        (tmp_path / "own" / name).write_bytes(FILES[name])
    digest = opened(str(tmp_path / "own")).fingerprint()
    assert source.fingerprint() == again.fingerprint() == digest
    (source.path / "model.onnx").write_bytes(b"of another program, which does not matter")
    assert opened(f"hf:{MODEL}").format_name == "transformers"
    assert opened(f"hf:{MODEL}").fingerprint() == digest


@pytest.mark.parametrize("weights", [None, "model.onnx_data"])
def test_a_model_in_onnx_gives_the_vectors_of_its_folder(
    hub: Hub, tmp_path: Path, weights: str | None
) -> None:
    pytest.importorskip("onnxruntime", reason="medsim[onnx] is not installed")
    folder = write_encoder(tmp_path / "own")
    if weights:
        onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
        external = {"save_as_external_data": True, "location": weights, "size_threshold": 64}
        onnx.save_model(onnx.load(folder / "model.onnx"), str(folder / "model.onnx"), **external)
    files = {f"onnx/{file.name}": file.read_bytes() for file in folder.glob("model.onnx*")}
    files["tokenizer.json"] = (folder / "tokenizer.json").read_bytes()
    others = {"onnx/model_O4.onnx": b"other", "onnx/other.bin": b"other"}
    hub.commit({**files, **others, "config.json": CONFIG})

    source = opened(f"hf:{MODEL}")
    result = source.read(asked(TERMS))

    assert source.format_name == "onnx"
    expected = [hidden_of(tokens_of(term)).mean(axis=0) for term in TERMS]
    assert np.allclose(result.vectors, expected, atol=1e-6)
    assert not others.keys() & set(hub.fetched)


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"config.json": b'{"model_type": "model2vec"}', "model.safetensors": b""}, "model2vec"),
        (FILES | {"modules.json": b"[]"}, "sentence-transformers"),
        ({"modules.json": b"[]", "2_Dense/model.safetensors": b""}, "sentence-transformers"),
        ({"config.json": CONFIG, "model-00001-of-00002.safetensors": b""}, "transformers"),
    ],
)
def test_the_format_follows_from_the_files_on_the_hub(hub: Hub, files: Files, name: str) -> None:
    hub.commit(files)

    assert opened(f"hf:{MODEL}").format_name == name


def test_without_a_revision_the_newest_is_read_and_a_warning_names_it(hub: Hub) -> None:
    first = hub.commit(FILES)
    spec, named = parse_embedding(f"own=hf:{MODEL}"), parse_embedding(f"own=hf:{MODEL}@{first}")
    progress = Progress()
    result = identify(spec, progress)
    assert location_of(result) == {"path": f"hf:{MODEL}@{first}", "format": "transformers"}
    assert [f"hf:{MODEL}@{first}" in warning for warning in progress.warnings] == [True]

    second = hub.commit({**FILES, "tokenizer.json": b"[]"})

    assert identify(spec, Progress()).source.location == f"hf:{MODEL}@{second}"
    progress = Progress()
    assert identify(named, progress).source.location == f"hf:{MODEL}@{first}"
    assert progress.warnings == []


def test_an_error_of_the_library_is_one_line_that_says_what_to_check(hub: Hub) -> None:
    hub.fault = OSError("404 Client Error.\n\nRepository Not Found for url: https://x")

    with pytest.raises(InputError) as caught:
        opened(f"hf:{MODEL}")

    assert str(caught.value) == (
        f"hf:{MODEL} cannot be read as a model on a hub (404 Client Error. Repository Not Found "
        "for url: https://x); check its name and terms of use, log in with `hf auth login`, or "
        "run it again"
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["config.json", "pytorch_model.bin"], r"in Python: SentenceTransformer\('group/model'\)"),
        (["README.md"], "has neither model.safetensors nor model.onnx"),
        (["a.onnx", "config.json"], "fetch an ONNX file of another name yourself"),
        (["config.json", "model.safetensors"], "has no tokenizer"),
    ],
)
def test_a_model_that_cannot_be_read_is_refused(hub: Hub, names: list[str], expected: str) -> None:
    hub.commit({name: FILES.get(name, b"\x80") for name in names})

    with pytest.raises(InputError, match=expected):
        opened(f"hf:{MODEL}").fingerprint()
    assert "pytorch_model.bin" not in hub.fetched


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "all_proxy"])
def test_a_hub_on_this_machine_is_not_asked_through_a_proxy(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    hub.commit(FILES)
    for name in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv(variable, "http://proxy.invalid:3128")
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://localhost:8080")

    with pytest.raises(OptionError, match=r"HF_ENDPOINT .* add localhost to NO_PROXY$"):
        opened(f"hf:{MODEL}")
    assert not hub.fetched

    monkeypatch.setenv("NO_PROXY", "localhost")
    opened(f"hf:{MODEL}")


@pytest.mark.parametrize("text", ["hf:", "hf:a/b/c", "hf:a@", "hf:a b", "hf:a/b@../c"])
def test_a_text_of_another_form_is_refused(hub: Hub, text: str) -> None:
    with pytest.raises(OptionError, match=r"hf:"):
        opened(text)
    assert not hub.fetched


@pytest.mark.parametrize(
    ("path", "suggested"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", "hf:sentence-transformers/all-MiniLM-L6-v2"),
        ("BAAI/bge-small-en-v1.5@main", "hf:BAAI/bge-small-en-v1.5@main"),
        *((path, None) for path in ("nowhere/vectors.txt", "model", "a/b/c", "here/model")),
    ],
)
def test_a_missing_path_that_may_name_a_model_suggests_the_hub(
    tmp_path: Path, monkeypatch, path: str, suggested: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    hint = f"; if it is a model on a hub, name it as {suggested}" if suggested else ""

    with pytest.raises(InputError) as raised:
        open_source(parse_embedding(f"mine={path}"))

    assert str(raised.value) == f"{path} does not exist{hint}"
