# Short names for what contributors and CI run; `just` alone lists them. `pip install -e '.[dev]'`
# installs it.

# Pass arguments on as they are, blanks and patterns included.
set positional-arguments

_list:
    @just --list --unsorted

# Test one part of the package, such as stages.
part name *options:
    tests=$(python tests/mutation/run.py --tests "$1") && shift && pytest -q $tests "$@"

# Run all tests but the long ones.
test *options:
    pytest -n 2 -q "$@"

# Check format, lint, types and layers.
lint:
    ruff format --check .
    ruff check .
    mypy
    lint-imports --no-cache

# Check what a change must pass, in a fresh environment.
gate:
    .ci/run

# Build and check what is released as a tag, such as v0.1.0.
release tag:
    .ci/release "$1"

# Run everything on every Python found, or only the legs named.
long *legs:
    .ci/long "$@"

# Test properties with ten times as many examples, newly drawn.
examples *options:
    HYPOTHESIS_PROFILE=long pytest -n 2 -q -m hypothesis "$@"

# Renew what the pages show.
docs *pages:
    python tests/docs/generate.py "$@"

# Build the documentation as a site (.[docs]).
site:
    mkdocs build -f .mkdocs.yml --strict

# Check, diff, show or renew frozen outputs.
frozen *words:
    python tests/frozen/frozen.py -j 2 "$@"

# Count how many planted defects the tests of some parts notice (.[dev-long]).
mutation *areas:
    python tests/mutation/run.py "$@"

# Try generated histories: is every past state reached?
histories *options:
    python tests/histories/run.py -j 2 "$@"

# Compare with NeuroLink's own code (npm).
reference *options:
    python tests/reference/run.py "$@"

# Time the program against other programs.
speed *options:
    python tests/benchmarks/performance.py "$@"
