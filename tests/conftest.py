"""Puts the tests folder on the import path, so that tests share ``fixtures`` and ``oracles``."""

import gc
import os
import re
import ssl
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from _pytest.unraisableexception import gc_collect_iterations_key
from hypothesis import HealthCheck, is_hypothesis_test, settings

sys.path.insert(0, str(Path(__file__).parent))

from fixtures.shared import *  # noqa: F403 — fixtures that are made once a run
from fixtures.sizes import FULL, sized

worker = os.environ.get("PYTEST_XDIST_WORKER", "")
if worker and not FULL and hasattr(os, "sched_setaffinity"):
    # Each process has one CPU, as its programs do, since all processes together use all CPUs, and
    # more threads only take time. Tests of threads say how many; `just test-full` has all CPUs.
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[int(worker.removeprefix("gw")) % len(cpus)]})

typer.testing._get_command = cache(typer.testing._get_command)  # a process makes them once
gc.disable()  # until all tests are collected, since nearly all objects made until then stay

# What is compiled is kept whatever the environment says: compiling takes seconds in this process,
# and a good part of a second in each that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Disks are not waited for, which takes a fifth of the time: whether all is on the disk when it has
# to be is seen from the calls, and the processes that tests start do wait.
os.fsync = os.fstat  # it also fails for anything but an open file

certificates = cache(ssl.create_default_context)

SLOW = 50  # number of quick tests that take as long as a slow one

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"  # the way Numba reads it

# Compilation takes seconds, in the first example that runs.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    print_blob=True,
)
# Kernels as plain Python are a hundred times slower, and their properties hold compiled as well.
settings.register_profile("uncompiled", settings.get_profile("ci"), max_examples=20)
settings.register_profile("quick", settings.get_profile("dev"), max_examples=10)
if UNCOMPILED:
    settings.load_profile("uncompiled")
else:
    settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture
def store() -> Iterator[object]:
    """An empty store, with its macros."""
    from fixtures.stores import empty_store

    with empty_store() as opened:
        yield opened


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """A running service, with short waits between tries; no key is in the environment.

    Certificates are loaded once, not for each client.
    """
    from fixtures.services import LocalService

    monkeypatch.setattr("medsim.embeddings.services.FIRST_WAIT", 0.001)
    monkeypatch.setattr(ssl, "create_default_context", certificates)
    for name in ("MEDSIM_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with LocalService().running() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A Chromium that tests of pages share, each in a separate context.

    Without one, the tests that use it are skipped; in CI they fail.
    """
    from fixtures.browser import chromium

    path = chromium()
    reason = "needs playwright, of medsim[dev]"
    with pytest.importorskip("playwright.sync_api", reason=reason).sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = playwright.chromium.launch(executable_path=path, args=options)
        yield opened
        opened.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let two processes share the files; they have the parent of `basetemp` in common."""
    parser.addoption("--half", type=int, choices=(0, 1), help="Run the tests of half of the files.")


@cache
def is_slow(file: Path) -> bool:
    """Return whether all tests of a file are marked slow."""
    marked = re.compile(r"^pytestmark = .*\bpytest\.mark\.slow\b", re.MULTILINE)
    return bool(marked.search(file.read_text(encoding="utf-8")))


@cache
def halves() -> tuple[set[Path], set[Path]]:
    """Return files of tests in two halves of about the same size."""
    modules = Path(__file__).parent.rglob("test_*.py")
    files = sorted(modules, key=lambda file: (is_slow(file), -file.stat().st_size, file))
    return set(files[0::4] + files[3::4]), set(files[1::4] + files[2::4])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of the other half, and files with only slow tests, with their imports."""
    if not collection_path.name.startswith("test_") or not collection_path.is_file():
        return None
    half = config.option.half
    if half is not None and collection_path not in halves()[half]:
        return True
    return (config.option.markexpr == "not slow" and is_slow(collection_path)) or None


def further_cases(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the cases of tests marked some that are not tried by default."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("some"):
            cases.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    return {
        item
        for every in cases.values()
        for at, item in enumerate(every)
        if at % -(-len(every) // every[0].get_closest_marker("some").args[0])
    }


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out files of the other half and tests of other runs, and limit the random examples.

    Files that take long come first, so that no process is left with one at the end.
    """
    weights = Counter[Path]()
    for item in items:
        weights[item.path] += SLOW if item.get_closest_marker("slow") else 1
    items.sort(key=lambda item: -weights[item.path])
    random = {item for item in items if is_hypothesis_test(getattr(item, "obj", None))}
    if FULL:
        only = ("full", "sized", "some")
        items[:] = [
            item for item in items if item in random or any(map(item.get_closest_marker, only))
        ]
    elif not any(
        arg.partition("::")[0].endswith(".py") for arg in config.args
    ):  # a file or a test is named
        further = further_cases(items)
        full = [item for item in items if item.get_closest_marker("full")]
        items[:] = [item for item in items if item not in further.union(full)]
    if (half := config.option.half) is not None:  # files on the command line are in both halves
        items[:] = [item for item in items if item.path in halves()[half]]
    if UNCOMPILED:
        return
    quick = config.getoption("--hypothesis-profile", None) == "quick"
    for test in {item.obj for item in random}:
        declared = test._hypothesis_internal_use_settings
        most = settings.default.max_examples if quick else sized(declared.max_examples)
        test._hypothesis_internal_use_settings = settings(
            declared, max_examples=min(declared.max_examples, most)
        )


def pytest_collection_finish() -> None:
    """Exclude the objects loaded so far from garbage collection; they stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_unconfigure() -> None:
    """Include all objects in garbage collection again, or libraries report objects not freed."""
    gc.unfreeze()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and let plain Python run kernels that are not compiled."""
    config.addinivalue_line(
        "markers", "kernels: small enough to run again with NUMBA_DISABLE_JIT=1"
    )
    config.addinivalue_line(
        "markers",
        "slow: processes, browsers, clusters, killed runs, what takes over 2 seconds, and further "
        "cases of what quicker tests show",
    )
    config.addinivalue_line(
        "markers", "sized: tries more with MEDSIM_TESTS=full, which runs only these and full"
    )
    config.addinivalue_line(
        "markers",
        "full: a long test of a further case of what others show, run only with MEDSIM_TESTS=full",
    )
    config.addinivalue_line(
        "markers", "some(n): of its many cases about n, and all with MEDSIM_TESTS=full"
    )
    config.option.loadscopereorder = False  # as xdist does by the number of a file's tests alone
    # One collection shows objects not freed; five with so many objects take seconds.
    config.stash[gc_collect_iterations_key] = 1
    if UNCOMPILED:
        # The kernels count modulo 2**64, as the processor does. NumPy's scalars do so too, but
        # warn of it. A filter reaches the threads of a search, which numpy.errstate does not.
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")
