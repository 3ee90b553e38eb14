"""Models on a hub: what is fetched, what of it is read, and what goes wrong on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fixtures.encoders import TERMS, asked, hidden_of, tokens_of, write_encoder
from fixtures.hub import MODEL, Files, Hub, point_to, served
from safetensors.numpy import save

from medsim.builds.embedded import place_of
from medsim.core.errors import InputError, OptionError
from medsim.core.progress import Progress
from medsim.embeddings.embedded_terms import FileSource, identify, open_source
from medsim.embeddings.options import parse_embedding

pytest.importorskip("huggingface_hub", reason="medsim[hub] is not installed")

CONFIG = json.dumps({"model_type": "bert", "architectures": ["BertModel"]}).encode()
FILES: Files = {
    "README.md": b"# a model",
    "checkpoint-1/model.safetensors": b"other weights",
    "config.json": CONFIG,
    "model.safetensors": save({"table": np.zeros((300, 100), np.float32)}),
    "onnx/model_quantized.onnx": b"other weights",
    "pytorch_model.bin": b"\x80pickle",
    "tokenizer.json": b"{}",
}
NEEDED = ["config.json", "model.safetensors", "tokenizer.json"]


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    """A hub, which the tests of this file share."""
    with served() as hub:
        yield hub


@pytest.fixture
def hub(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub without a model, and an empty cache."""
    server.commits.clear()
    server.asked.clear()
    server.faults.clear()
    point_to(server, tmp_path / "cache", monkeypatch)
    return server


def opened(text: str) -> FileSource:
    source = open_source(parse_embedding(f"own={text}"))
    assert isinstance(source, FileSource)
    return source


def message_of(text: str) -> str:
    with pytest.raises(InputError) as caught:
        opened(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_read_is_fetched_once_and_no_more(hub: Hub) -> None:
    commit = hub.commit(FILES)

    source = opened(f"hf:{MODEL}@main")
    again = opened(f"hf:{MODEL}@{commit}")

    assert source.location == again.location == f"hf:{MODEL}@{commit}"
    assert source.format_name == "transformers"
    assert hub.files_asked() == NEEDED
    for name in NEEDED:
        assert (source.path / name).read_bytes() == FILES[name]
    assert source.fingerprint() == again.fingerprint()


def test_a_folder_and_the_same_on_a_hub_have_one_fingerprint(hub: Hub, tmp_path: Path) -> None:
    hub.commit(FILES)
    (tmp_path / "own").mkdir()
    for name in NEEDED:
        (tmp_path / "own" / name).write_bytes(FILES[name])

    assert opened(f"hf:{MODEL}").fingerprint() == opened(str(tmp_path / "own")).fingerprint()


def test_what_else_is_in_the_cache_does_not_matter(hub: Hub) -> None:
    hub.commit(FILES)
    source = opened(f"hf:{MODEL}")
    digest = source.fingerprint()
    (source.path / "model.onnx").write_bytes(b"of another program")
    (source.path / "adapter_model.safetensors").write_bytes(b"of another program")

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
    found = source.read(asked(TERMS))

    assert source.format_name == "onnx"
    expected = [hidden_of(tokens_of(term)).mean(axis=0) for term in TERMS]
    assert np.allclose(found.vectors, expected, atol=1e-6)
    assert not others.keys() & set(hub.files_asked())


def test_without_a_revision_the_newest_is_read_and_a_warning_names_it(hub: Hub) -> None:
    first = hub.commit(FILES)
    spec, named = parse_embedding(f"own=hf:{MODEL}"), parse_embedding(f"own=hf:{MODEL}@{first}")
    progress = Progress()
    found = identify(spec, progress)
    assert place_of(found) == {"path": f"hf:{MODEL}@{first}", "format": "transformers"}
    assert [f"hf:{MODEL}@{first}" in warning for warning in progress.warnings] == [True]

    second = hub.commit({**FILES, "tokenizer.json": b"[]"})

    assert identify(spec, Progress()).source.location == f"hf:{MODEL}@{second}"
    progress = Progress()
    assert identify(named, progress).source.location == f"hf:{MODEL}@{first}"
    assert progress.warnings == []


def test_without_a_network_a_model_in_the_cache_is_read(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    location = f"hf:{MODEL}@{hub.commit(FILES)}"
    digest = opened(f"hf:{MODEL}").fingerprint()
    hub.asked.clear()

    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert "cannot be read as a model on a hub (Cannot find" in message_of("hf:group/other")
        for text in (f"hf:{MODEL}", location):
            assert (opened(text).location, opened(text).fingerprint()) == (location, digest)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert "check its name and terms of use, log in" in message_of("hf:group/other")
    assert opened(f"hf:{MODEL}").location == location
    assert hub.asked == []
    (opened(f"hf:{MODEL}").path / "model.safetensors").unlink()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "cannot be read as a model on a hub (The cached" in message_of(f"hf:{MODEL}")


@pytest.mark.parametrize(
    ("part", "fault", "expected"),
    [
        ("/api/models", (404, "RepoNotFound"), "(404 Client Error. Repository Not Found"),
        ("/api/models", (401, ""), "401 Unauthorized"),
        ("/resolve/", (403, "GatedRepo"), "(403 Client Error. Cannot access gated repo"),
        ("/api/models", (500, ""), "log in with `hf auth login`, or run it again"),
        ("model.safetensors", (500, ""), "log in with `hf auth login`, or run it again"),
        ("model.safetensors", "cut", "run it again"),
        ("model.safetensors", "short", "run it again"),
    ],
)
def test_a_fault_is_one_line_and_the_next_run_goes_on(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, part: str, fault: tuple[int, str] | str, expected
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    commit = hub.commit(FILES)
    assert "(404 Client Error. Revision Not Found" in message_of(f"hf:{MODEL}@v9")
    hub.faults[part] = fault

    message = message_of(f"hf:{MODEL}")

    assert message.startswith(f"hf:{MODEL} ")
    assert expected in message
    hub.faults.clear()
    hub.asked.clear()
    source = opened(f"hf:{MODEL}")
    assert source.location == f"hf:{MODEL}@{commit}"
    assert (source.path / "model.safetensors").read_bytes() == FILES["model.safetensors"]


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
    assert "pytorch_model.bin" not in hub.files_asked()


@pytest.mark.parametrize(
    "text", ["hf:", "hf:a/b/c", "hf:../x", "hf:a@", "hf:a b", "hf:a/b@c d", "hf:a/b@../c"]
)
def test_a_text_of_another_form_is_refused(hub: Hub, text: str) -> None:
    with pytest.raises((OptionError, InputError), match=r"hf:"):
        opened(text)
    assert not hub.asked


def test_a_missing_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(OptionError, match="install medsim with its extra hub"):
        opened(f"hf:{MODEL}")


@pytest.mark.slow
def test_a_fetch_that_was_killed_goes_on(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    commit = hub.commit(FILES)
    hub.held = "model.safetensors"
    program = (
        "from medsim.embeddings.options import parse_embedding\n"
        "from medsim.embeddings.embedded_terms import open_source\n"
        f"open_source(parse_embedding('own=hf:{MODEL}'))\n"
    )
    own = {"HF_ENDPOINT": hub.address, "HF_HUB_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env={**os.environ, **own}) as process:
        assert hub.holds.wait(60)
        process.send_signal(signal.SIGKILL)
    hub.let_go()
    assert process.returncode == -signal.SIGKILL
    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert "cannot be read as a model on a hub" in message_of(f"hf:{MODEL}")

    source = opened(f"hf:{MODEL}")

    assert source.location == f"hf:{MODEL}@{commit}"
    assert (source.path / "model.safetensors").read_bytes() == FILES["model.safetensors"]
