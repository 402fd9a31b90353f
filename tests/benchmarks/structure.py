"""Measures how the package is furnished: its rooms, who imports whom, and its names.

    python tests/benchmarks/structure.py [FOLDER OF A PACKAGE]

Read are the files of the package as text; nothing of it is run. A name in quotes that is the path
of a module counts as a registry's: the modules named there are plugged in, and meant to have one
importer. So are those that a file called ``registry.py`` or a list of all clients imports, and the
commands, which the command line imports by their names.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from modules import modules_of

SMALL = 25
# Each imports a file of many clients, like a registry.
_LISTS_OF_CLIENTS = {f"clients.{name}" for name in ("integrations", "sizes", "stores", "wrappings")}
ROOT = Path(__file__).resolve().parents[2]
_MODULE = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")


@dataclass(frozen=True)
class File:
    """A file of the package: its dotted name below the package, its text, its syntax
    tree and the nodes of that.
    """

    name: str
    folder: str
    text: str
    tree: ast.Module
    nodes: Sequence[ast.AST]


def files_of(package: Path) -> dict[str, File]:
    """Read a package; files that only hold what a folder is for are left out."""
    found = {}
    for path, module in modules_of(package).items():
        place = path.relative_to(package)
        if path.name in {"__init__.py", "__main__.py"}:
            continue
        name = ".".join(place.with_suffix("").parts)
        found[name] = File(name, place.parent.as_posix(), module.text, module.tree, module.nodes)
    return found


def imports(file: File, known: dict[str, File], package: str) -> set[str]:
    """Return the files of the package that a file imports, wherever in it that is written."""
    found = set()
    for node in file.nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            below = (node.module or "").removeprefix(package).lstrip(".")
            names = (f"{below}.{each.name}".lstrip(".") for each in node.names)
            found |= {below, *names} & known.keys()
    return found - {file.name}


def plugged_in(files: dict[str, File], package: str) -> set[str]:
    """Return the files that a registry names, and the commands."""
    found = {name for name in files if name.startswith("cli.")}
    for file in files.values():
        if file.name.endswith("registry") or file.name in _LISTS_OF_CLIENTS:
            found |= imports(file, files, package)
            texts = (n.value for n in file.nodes if isinstance(n, ast.Constant))
            names = (m for text in texts if isinstance(text, str) for m in _MODULE.findall(text))
            found |= {own for name in names for own in files if f"{package}.{own}".endswith(name)}
    return found


def functions(file: File) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions and methods of a file."""
    for node in file.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def uses(file: File) -> Counter[str]:
    """Count how often each name is read in a file."""
    names = (
        node.id if isinstance(node, ast.Name) else node.attr
        for node in file.nodes
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    return Counter(names)


def private(file: File) -> Iterator[tuple[str, int, int]]:
    """Yield the private functions of a file: name, how often they are used, lines."""
    used = uses(file)
    for node in functions(file):
        if node.name.startswith("_") and not node.name.endswith("__"):
            yield node.name, used[node.name], length(node)


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    docstring = ast.get_docstring(node, clean=False)
    of_docstring = docstring.count("\n") + 1 if docstring else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - of_docstring


def types(file: File) -> Iterator[str]:
    """Yield the public types that a file defines: classes, and names of literals and unions."""
    for node in file.tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if re.fullmatch(r"[A-Z][a-z]\w*", name) and not isinstance(node.value, ast.Constant):
                yield name


def is_record(node: ast.AST) -> bool:
    """Tell whether a class is a record, or a dataclass as in other projects."""
    return isinstance(node, ast.ClassDef) and any(
        ast.unparse(each).startswith(("Record", "Struct", "dataclass"))
        for each in (*node.bases, *node.decorator_list)
    )


def spread(values: list[int]) -> str:
    """Return median, ninth decile and the largest."""
    deciles = quantiles(values, n=10)
    return f"{deciles[4]:.0f} / {deciles[8]:.0f} / {max(values)}"


def several_meanings(files: dict[str, File]) -> dict[str, list[str]]:
    """Return the public types that are defined in several files."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in files.values():
        for name in types(file):
            if not name.startswith("_"):
                places[name].append(file.name)
    return {name: found for name, found in places.items() if len(found) > 1}


def arrows(files: dict[str, File], package: str) -> tuple[dict[str, set[str]], Counter[str]]:
    """Return who imports each file, and how many imports stay inside of each folder."""
    importers: dict[str, set[str]] = defaultdict(set)
    inside: Counter[str] = Counter()
    for file in files.values():
        for other in imports(file, files, package):
            importers[other].add(file.name)
            inside[file.folder] += file.folder == files[other].folder
    return importers, inside


def small_with_one_importer(files: dict[str, File], package: str) -> list[str]:
    """Return the files under 25 lines that one other file imports, and no registry names."""
    importers, _ = arrows(files, package)
    own = files.keys() - plugged_in(files, package)
    small = (name for name in own if files[name].text.count("\n") < SMALL)
    return sorted(name for name in small if len(importers[name]) == 1)


def main(package: Path) -> None:
    """Print the figures."""
    files = files_of(package)
    importers, inside = arrows(files, package.name)
    own = files.keys() - plugged_in(files, package.name)
    single = sorted(name for name in own if len(importers[name]) == 1)
    folders = Counter(file.folder for file in files.values())
    lines = {name: file.text.count("\n") for name, file in files.items()}
    bodies = [length(node) for file in files.values() for node in functions(file)]
    once = [found for file in files.values() for found in private(file) if found[1] == 1]
    fan_out = [len(imports(file, files, package.name)) for file in files.values()]
    nodes = [node for file in files.values() for node in file.nodes]
    total = sum(lines.values())
    print(f"files, lines                     {len(files)}, {total:,}")
    print(f"files in a folder p50/p90/max    {spread(list(folders.values()))}")
    print(f"lines of a file p50/p90/max      {spread(list(lines.values()))}")
    print(f"lines of a function p50/p90/max  {spread(bodies)}")
    print(f"imports of a file p50/p90/max    {spread(fan_out)}")
    print(f"imports inside folders, most     {inside.total()}, {inside.most_common(3)}")
    print(f"files with one importer          {len(single) / len(own):.0%} of {len(own)}")
    print(f"  of them under 25 lines         {small_with_one_importer(files, package.name)}")
    print(f"private functions used once      {len(once) / len(bodies):.0%} of {len(bodies)}")
    print(f"  of them of one or two lines    {sum(size <= 3 for *_, size in once)}")
    print(f"types with several meanings      {several_meanings(files) or 0}")
    print(f"records per 1,000 lines          {1000 * sum(map(is_record, nodes)) / total:.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT / "compactctl")
