import pkgutil
import subprocess
import sys
from pathlib import Path

from compactctl import tokens

ROOT = Path(__file__).resolve().parents[3]
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(tokens.__path__, "compactctl.tokens.")
)
HEAVY = ["click", "ctok", "orjson", "pyarrow", "requests", "rich", "tiktoken"]


def test_importing_loads_no_heavy_library() -> None:
    code = (
        f"import sys\nfrom importlib import import_module\nfor module in {MODULES}:\n"
        f"    import_module(module)\n"
        f"    print(*(f'{{module}} loads {{name}}' for name in {HEAVY} if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loads = done.stdout.split("\n")
    assert [line for line in loads if line] == [], "import it in the function that needs it"
    assert len(loads) == len(MODULES) + 1


def test_naming_a_counter_loads_no_vocabulary() -> None:
    code = (
        "import sys; from compactctl.tokens.counters.selection import best_counter, parse_counter;"
        "from compactctl.tokens.models.lookup import resolve_model;"
        "best_counter(resolve_model('gpt-4o')).count_many(['', '']);"
        "best_counter(resolve_model('claude-opus-5'));"
        "parse_counter('chars/4').count_many(['text']);"
        "print([name for name in ('ctok', 'tiktoken') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
