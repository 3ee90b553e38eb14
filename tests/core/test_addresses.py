"""Inputs and outputs at addresses of object stores and of the web."""

from __future__ import annotations

import io
import json
import shutil
import urllib.request
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fsspec  # type: ignore[import-untyped]
import pytest
from pyarrow import fs

import medsim
from medsim.core import addresses
from medsim.core.errors import InputError, MedsimError, OptionError, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An object store in memory, at every address of S3."""
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    files = fs.PyFileSystem(fs.FSSpecHandler(memory))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(
        addresses,
        "_store_of",
        lambda address: (files, address.removeprefix("s3:/").partition("?")[0]),
    )
    return memory


@pytest.fixture
def release(store: Any, shared_release: Path) -> str:
    store.pipe("/bucket/in/release.zip", shared_release.read_bytes())
    return "s3://bucket/in/release.zip"


def names(store: Any, folder: str) -> set[str]:
    return {path.removeprefix(f"/{folder}/") for path in store.find(f"/{folder}")}


def failing_after(n_files: int, error: BaseException) -> Callable[..., None]:
    """Return a function that copies some files to a store, then fails."""
    put, left = addresses._put, iter(range(n_files))

    def failing(*args: Any) -> None:
        if next(left, None) is None:
            raise error
        put(*args)

    return failing


def test_a_build_from_a_store_to_a_store_is_the_one_from_a_file(
    store: Any, release: str, shared_release: Path, tmp_path: Path
) -> None:
    there = medsim.build(release, "s3://bucket/out/build", negatives=["random"])
    here = medsim.build(shared_release, tmp_path / "here", negatives=["random"])

    expected = {name: output for name, output in here.manifest.outputs.items() if "pairs" in name}
    assert expected.items() <= there.manifest.outputs.items()
    assert names(store, "bucket/out/build") == {"manifest.json", *there.manifest.outputs}
    assert str(tmp_path) not in store.cat("/bucket/out/build/manifest.json").decode()
    assert repr(there).startswith("Build('s3://bucket/out/build')")
    opened = medsim.open("s3://bucket/out/build")
    assert opened.pairs().equals(there.pairs())
    with pytest.raises(OutputError, match=r"^s3://bucket/out/build holds a build already; add"):
        medsim.build(release, "s3://bucket/out/build")
    assert there.pairs().equals(here.pairs())  # the refused build has not touched its files


def test_an_interrupted_copy_is_continued_and_looks_unfinished_until_then(
    store: Any, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, copied = addresses._put, []
    out = "s3://bucket/out/build"
    with monkeypatch.context() as patch:
        patch.setattr(addresses, "_put", failing_after(5, OSError("AWS Error NETWORK_CONNECTION")))
        with pytest.raises(OutputError, match="cannot write s3://bucket/out/build: the server"):
            medsim.build(release, out, negatives=["random"])
    assert "manifest.json" not in names(store, "bucket/out/build")
    with pytest.raises(InputError, match="s3://bucket/out/build is not a finished build"):
        medsim.open(out)
    done = json.loads(store.cat("/bucket/out/build/_unfinished"))
    first = {name for name, digest in done.items() if digest}

    def counted(path: Path, place: Any) -> None:
        copied.append(place.path.removeprefix("/bucket/out/build/"))
        put(path, place)

    monkeypatch.setattr(addresses, "_put", counted)
    build = medsim.build(release, out, negatives=["random"])

    again = first & {*copied}
    assert len(first) == 5
    assert again <= {"README.md"}  # its times differ
    assert copied[-1] == "manifest.json"
    assert names(store, "bucket/out/build") == {"manifest.json", *build.manifest.outputs}


def test_an_output_is_replaced_only_if_asked_and_foreign_files_stay(
    store: Any, release: str
) -> None:
    medsim.build(release, "s3://bucket/out/build", negatives=["random"])
    store.pipe("/bucket/out/build/notes.txt", b"mine")
    with pytest.raises(OutputError, match=r"holds notes\.txt, not part of the build; move it away"):
        medsim.build(release, "s3://bucket/out/build", overwrite=True)
    store.rm("/bucket/out/build/notes.txt")
    build = medsim.build(
        release, "s3://bucket/out/build", negatives=["levenshtein"], overwrite=True
    )
    assert names(store, "bucket/out/build") == {"manifest.json", *build.manifest.outputs}
    store.pipe("/bucket/other/notes.txt", b"mine")
    with pytest.raises(OutputError, match="s3://bucket/other holds files, not a build; choose"):
        medsim.build(release, "s3://bucket/other", negatives=["random"])
    assert store.cat("/bucket/other/notes.txt") == b"mine"


def test_shards_meet_in_a_store(store: Any, release: str) -> None:
    whole = medsim.build(release, "s3://bucket/whole", negatives=["levenshtein"])
    for shard in ("1/2", "2/2", "2/2"):
        row = medsim.build_shard(
            release, "s3://bucket/out/b", shard=shard, negatives=["levenshtein"]
        )
    assert row["file"].item() == "s3://bucket/out/b.shards/shard-2-of-2.shard"
    assert names(store, "bucket/out/b.shards") == {
        "job.json",
        "shard-1-of-2.shard",
        "shard-2-of-2.shard",
    }
    build = medsim.merge("s3://bucket/out/b")
    assert build.pairs().equals(whole.pairs())
    assert not names(store, "bucket/out/b.shards")


def test_an_evaluation_at_an_address_grows(
    store: Any,
) -> None:
    rows = b"term1,term2,rating\nheart,cardiac,3\nlung,kidney,1\nskin,dermis,3\nbone,ear,0\n"
    store.pipe("/bucket/rated.csv", rows)
    words = [word for row in rows.decode().split()[1:] for word in row.split(",")[:2]]
    vectors = "".join(f"{word} {at} {at * at % 7} 1\n" for at, word in enumerate(words))
    store.pipe("/bucket/vectors.txt", vectors.encode())
    rated = "s3://bucket/rated.csv,term1=term1,term2=term2,rating=rating"
    for name in ("a", "b"):
        model = {name: "s3://bucket/vectors.txt,case=lower"}
        medsim.evaluate(rated, embeddings=model, out="s3://bucket/scores")
    written = json.loads(store.cat("/bucket/scores/manifest.json"))
    assert {name: model["path"] for name, model in written["embeddings"].items()} == {
        "a": "s3://bucket/vectors.txt",
        "b": "s3://bucket/vectors.txt",
    }


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("AWS Error ACCESS_DENIED during HeadObject: No (Request ID: 404)", "access is denied"),
        ("google::cloud::Status(UNAVAILABLE: Could not create a OAuth2 access token", "access is"),
        ("Azure Error: [AuthenticationFailed] 403 Server failed", "access is denied; check the"),
        ("AWS Error NO_SUCH_BUCKET during PutObject operation", "the bucket does not exist"),
        ("for key 'connect' in 'b': AWS Error NETWORK_CONNECTION", "the server does not answer"),
        ("[Errno 28] No space left on device", "no space is left"),
        ("bad https://host/x?sig=SECRET end", "bad https://host/x"),
    ],
)
def test_an_error_of_a_store_is_one_line_without_secrets(
    store: Any, monkeypatch: pytest.MonkeyPatch, error: str, reason: str
) -> None:
    def failing(*_: object) -> None:
        raise OSError(error)

    store.pipe("/bucket/in.obo", b"x")
    monkeypatch.setattr(fs, "copy_files", failing)
    with pytest.raises(InputError) as raised:
        medsim.open("s3://bucket/in.obo")
    assert str(raised.value).startswith(f"cannot read s3://bucket/in.obo: {reason}")
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("s3://key:SECRET@bucket/a", OptionError, "s3://bucket/a has a password; credentials"),
        ("https://me:SECRET@host/a?b", OptionError, "https://host/a has a password; credentials"),
        ("s3://bucket/none", InputError, "s3://bucket/none does not exist"),
        ("s3://bucket/up", InputError, r"has an object named '\.\./up'; rename it"),
        ("ftp://host/a", OptionError, "`source` takes a local path, not the address ftp://host/a"),
    ],
)
def test_an_address_that_cannot_be_read_is_refused(
    store: Any,
    tmp_path: Path,
    address: str,
    error: type[MedsimError],
    message: str,
) -> None:
    store.pipe("/bucket/up/a", b"x")
    store.store["/bucket/up/../up"] = store.store["/bucket/up/a"]
    with pytest.raises(error, match=message) as raised:
        medsim.build(address, tmp_path / "out")
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_file_of_the_web_is_copied_whole(
    tmp_path: Path, shared_release: Path, monkeypatch: pytest.MonkeyPatch, *, is_cut: bool
) -> None:
    content, headers = shared_release.read_bytes(), Message()
    headers["Content-Length"] = str(len(content))
    headers["Content-Disposition"] = 'attachment; filename="../named.zip"'

    class Answer(io.BytesIO):
        headers: Message
        url: str

    def opened(address: str, timeout: float) -> Answer:
        answer = Answer(content[:-9] if is_cut else content)
        answer.headers, answer.url = headers, address
        assert timeout > 0
        return answer

    monkeypatch.setattr(urllib.request, "urlopen", opened)
    address = "https://host.example/download?token=SECRET"
    if is_cut:
        with pytest.raises(InputError, match=r"download was cut by the server"):
            medsim.build(address, tmp_path / "out")
        return
    build = medsim.build(address, tmp_path / "out", negatives=["random"])
    assert build.manifest.source["source"]
    assert build.manifest.source["name"] == "named.zip"
    assert "SECRET" not in (tmp_path / "out" / "manifest.json").read_text()


def test_a_file_that_a_store_cut_is_an_error_and_is_removed(
    store: Any, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store may report success for a file that it received in part."""

    def cut(source: Any, target: Any, _size: int) -> None:
        target.write(source.read()[:-1])

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfileobj", cut)
        with pytest.raises(OutputError, match="was not written whole; run the command again"):
            medsim.build(release, "s3://bucket/out/cut", negatives=["random"])
    assert names(store, "bucket/out/cut") == {"_unfinished"}
    medsim.build(release, "s3://bucket/out/cut", negatives=["random"])
    assert "manifest.json" in names(store, "bucket/out/cut")
