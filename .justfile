# Short names for what contributors and CI run; `just` lists them. `pip install -e '.[dev]'` brings it.

_list:
    @just --list --unsorted

# Test one part of the package, such as stages.
part name *options:
    pytest -q $(python tests/mutation/run.py --tests {{name}}) {{options}}

# Run all tests but the long ones.
test *options:
    pytest -n 2 -q {{options}}

# Check format, lint, types and layers.
lint:
    ruff format --check .
    ruff check .
    mypy
    lint-imports --no-cache

# Check what a change must pass, in a fresh environment.
gate:
    .ci/run

# Run everything on every Python there is, or only some legs of that.
long *legs:
    .ci/long {{legs}}

# Test properties with new examples, ten times as many.
examples *options:
    HYPOTHESIS_PROFILE=long pytest -n 2 -q -m hypothesis {{options}}

# Renew what the pages show.
docs *pages:
    python tests/docs/generate.py {{pages}}

# Build the documentation as a site (.[docs]).
site:
    mkdocs build -f .mkdocs.yml --strict

# Check, diff, show or renew frozen outputs.
frozen *words:
    python tests/frozen/frozen.py -j 2 {{words}}

# Count the defects that the tests of some parts notice (.[dev-long]).
mutation *areas:
    python tests/mutation/run.py {{areas}}

# Try generated histories: is every past state reached?
histories *options:
    python tests/histories/run.py -j 2 {{options}}

# Compare with NeuroLink's own code (npm).
reference *options:
    python tests/reference/run.py {{options}}

# Time the program against other programs.
speed *options:
    python tests/benchmarks/performance.py {{options}}
