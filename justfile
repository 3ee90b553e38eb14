# Everything a change must pass; the test command of the README. All failures are reported.
check:
    #!/usr/bin/env bash
    status=0
    step() {
        echo "== $1"
        {{ just_executable() }} --justfile {{ justfile() }} bin={{ bin }} "$1" || { echo "== $1 FAILED"; return 1; }
    }
    # What each of these prints is shown at the end. All share the cores, so that none is idle.
    shown=$(mktemp -d)
    later() {
        local status=0
        for each in "$@"; do step $each || status=1; done > "$shown/$1" 2>&1
        return $status
    }
    later types & started=$!
    later imports sql & started+=" $!"
    # Tests read the site, and would compile the same kernels in each process.
    for each in lint kernels docs; do step $each || status=1; done
    later examples & started+=" $!"
    step test || status=1
    for each in $started; do wait $each || status=1; done
    cat "$shown"/*; rm -r "$shown"
    exit $status

# The environment's programs; `just bin=FOLDER/bin/ RECIPE` uses those of another environment.
bin := if path_exists(".venv/bin") == "true" { ".venv/bin/" } else { "" }

# Style and format of Python.
lint:
    {{ bin }}ruff check .
    {{ bin }}ruff format --check .

# Types, strictly.
types:
    {{ bin }}mypy

# Check that imports go down the packages of ARCHITECTURE.md.
imports:
    {{ bin }}lint-imports

# Style of SQL.
sql:
    {{ bin }}sqlfluff lint sql --disable-progress-bar

# Build the site of the documentation into site/, strictly and without network; open site/index.html.
docs:
    {{ bin }}zensical build --strict

# Compile the kernels of a build once, and not in each process that needs them at the same time.
kernels:
    {{ bin }}python -m medsim warm

# Write the pages of the reference that are made from the declarations in the code.
reference:
    {{ bin }}python -m docs.tools.reference

# Runs a command with its temporary files in memory.
in_memory := "bash tests/in_memory.sh"

# All tests except the examples, in two processes, each file in one, so that its fixtures are made once.
test *arguments:
    {{ in_memory }} {{ bin }}python -m pytest -n 2 --dist loadfile --ignore tests/docs/test_examples.py {{ arguments }}

# The examples of README and docs.
examples *arguments:
    {{ in_memory }} {{ bin }}python -m pytest -n 2 --dist worksteal tests/docs/test_examples.py {{ arguments }}

# The tests that try only some of their cases otherwise, with all: random examples, damaged files, regular expressions.
test-full *arguments:
    MEDSIM_TESTS=full {{ bin }}python -m pytest -n 2 --dist loadfile --ignore tests/docs/test_examples.py {{ arguments }}

# The tests without processes, browsers, clusters and killed runs, with few examples.
test-quick *arguments:
    #!/usr/bin/env bash
    source tests/in_memory.sh
    # Each process collects only its own files, without a third process as in xdist.
    half() {
        {{ bin }}python -m pytest --half "$1" --basetemp "$common/$1" \
            -m "not slow" --hypothesis-profile=quick {{ arguments }}
        local status=$?
        return $((status == 5 ? 0 : status))  # 5 is for no tests in this half
    }
    common=$(mktemp -d)
    half 1 > "$common/second.txt" 2>&1 & second=$!
    half 0; first=$?
    wait $second; second=$?
    cat "$common/second.txt"
    exit $((first > second ? first : second))

# The kernels' tests without the compiler.
test-nojit:
    NUMBA_DISABLE_JIT=1 {{ bin }}python -m pytest tests/kernels -m kernels

# The tests that need PyTorch, in a separate environment, which the first run installs.
test-torch *arguments:
    #!/usr/bin/env bash
    set -e
    if [ ! -x .venv-torch/bin/python ]; then
        {{ bin }}python -m venv .venv-torch
        .venv-torch/bin/python -m pip install -q -c constraints.txt -e '.[dev,baselines]'
    fi
    grep -rl --include='test_*.py' 'importorskip("torch"' tests | xargs .venv-torch/bin/python -m pytest -n 0 {{ arguments }}

# The tests of exports with the tools that read them, in a separate environment, which the first run installs.
test-tools *arguments:
    #!/usr/bin/env bash
    set -e
    if [ ! -x .venv-tools/bin/python ]; then
        {{ bin }}python -m venv .venv-tools
        .venv-tools/bin/python -m pip install -q -c constraints.txt -e '.[dev,tools]'
    fi
    grep -rl --include='test_*.py' 'medsim\[tools\] is not installed' tests | xargs .venv-tools/bin/python -m pytest -n 0 {{ arguments }}

# Write the golden rows again; look at the difference before you commit it.
golden:
    {{ bin }}python tests/golden/write.py

# Run the benchmarks; each adds a line to benchmarks/LOG.md. --help lists the options.
bench *arguments:
    {{ bin }}python -m benchmarks.run {{ arguments }}

# Run the quick benchmarks, and fail if one is slower than its baseline or finds other rows.
bench-check *arguments:
    {{ bin }}python -m benchmarks.run --check {{ arguments }}

# Feed damaged files to every reader, or to some: --seconds 600 --reader NAME. No test run does this.
fuzz *arguments:
    PYTHONPATH=tests:. {{ bin }}python -m fuzz.run {{ arguments }}

# Build the wheel and the source distribution into dist/, and check their metadata; needs pipx.
package:
    rm -rf dist
    pipx run --spec build pyproject-build
    pipx run twine check --strict dist/*

# Fix what ruff and sqlfluff can fix.
fix:
    {{ bin }}ruff check --fix . || true
    {{ bin }}ruff format .
    {{ bin }}sqlfluff fix sql --disable-progress-bar
