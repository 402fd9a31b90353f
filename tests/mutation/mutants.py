"""Places in source code where one small change is a mistake that a test should notice.

    >>> [str(mutant) for mutant in mutants("x.py", b"def f(a):\\n    return a > 1\\n")]
    ['x.py:2 f: > becomes >=', 'x.py:2 f: 1 becomes 2']

Left out is what decides nothing: decorators, annotations, text in f-strings, arguments such as
``slots`` and ``strict``; and numbers outside of functions, which a test could only repeat.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate, pairwise

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Arguments without an effect on results.
_TRIFLES = {"frozen", "init", "kw_only", "maxsize", "repr", "slots", "strict", "use_threads"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one file: the bytes from ``start`` to ``end`` become ``after``.

    ``function`` is the outermost function around it, qualified by its classes; empty where the code
    runs as the module is imported.
    """

    path: str
    line: int
    function: str
    start: int
    end: int
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        """Return the source of the file with the change made. Lines keep their numbers."""
        lost = source[self.start : self.end].count(b"\n") - self.after.count("\n")
        text = self.after.encode() + b"\\\n" * lost
        return source[: self.start] + text + source[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.name}"

    @property
    def name(self) -> str:
        """Where and what, without the number of the line: unrelated changes leave it as it is."""
        where = f"{self.function}: " if self.function else ""
        return f"{where}{self.before} becomes {self.after or 'nothing'}"

    def lot(self, seed: int) -> bytes:
        """Return what mutants are drawn by: the same for the same code, wherever it has moved."""
        return sha256(f"{seed} {self.path} {self.name}".encode()).digest()


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file, in the order of their places."""
    return sorted(_Finder(path, source).found(), key=lambda mutant: (mutant.start, mutant.end))


class _Finder:
    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._lines = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]

    def found(self) -> Iterator[Mutant]:
        yield from self._walk(ast.parse(self._source), (), inside=False)

    def _walk(self, node: ast.AST, scope: tuple[str, ...], *, inside: bool) -> Iterator[Mutant]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if not inside:
                yield from self._walk(node.args, scope, inside=False)
                for statement in node.body:
                    yield from self._walk(statement, (*scope, node.name), inside=True)
                return
            case ast.ClassDef() if not inside:
                for statement in node.body:
                    yield from self._walk(statement, (*scope, node.name), inside=False)
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.JoinedStr():
                return
            case ast.keyword(arg=str(name)) if name in _TRIFLES:
                return
        function = ".".join(scope) if inside else ""
        if inside or not _is_number(node):
            for start, end, after in self._changes(node):
                yield self._mutant(function, start, end, after)
        for child in _children(node):
            yield from self._walk(child, scope, inside=inside)

    def _mutant(self, function: str, start: int, end: int, after: str) -> Mutant:
        before = self._source[start:end].decode()
        line = self._source.count(b"\n", 0, start) + 1
        return Mutant(
            path=self._path,
            line=line,
            function=function,
            start=start,
            end=end,
            before=before,
            after=after,
        )

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Yield the changes of one node, as its bytes and what takes their place."""
        yield from self._operators(node)
        yield from self._values(node)
        for condition in _conditions(node):
            text = self._source[self._start(condition) : self._end(condition)].decode()
            yield self._start(condition), self._end(condition), f"(not ({text}))"

    def _operators(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                for operator, (one, other) in zip(ops, pairwise([left, *comparators]), strict=True):
                    before, after = _COMPARISONS[type(operator)]
                    yield from self._between(one, other, before, after)
            case ast.BoolOp(op=operator, values=values):
                before, after = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                for one, other in pairwise(values):
                    yield from self._between(one, other, before, after)
            case ast.UnaryOp(op=ast.Not()):
                yield self._start(node), self._start(node) + len("not"), ""
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
                before, after = _ARITHMETIC[type(operator)]
                yield from self._between(left, right, re.escape(before), after)
            case ast.AugAssign(target=target, op=operator, value=value) if (
                type(operator) in _ARITHMETIC
            ):
                before, after = _ARITHMETIC[type(operator)]
                yield from self._between(target, value, re.escape(before), after)

    def _values(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Constant(value=bool(value)):
                yield self._start(node), self._end(node), str(not value)
            case ast.Constant(value=int(value) | float(value)):
                yield self._start(node), self._end(node), str(value + 1)
            case ast.Call(func=ast.Name(id=name) as called) if name in _CALLS:
                yield self._start(called), self._end(called), _CALLS[name]
            case ast.Expr(value=ast.Call()):
                yield self._start(node), self._end(node), "None"
            case ast.Break():
                yield self._start(node), self._end(node), "continue"
            case ast.Continue():
                yield self._start(node), self._end(node), "break"
            case _:
                pass

    def _between(
        self, one: ast.expr, other: ast.expr, before: str, after: str
    ) -> Iterator[tuple[int, int, str]]:
        start, end = self._end(one), self._start(other)
        between = self._source[start:end].decode()
        word = rf"\b{before}\b" if before[0].isalpha() else before
        if operator := re.search(word, between):
            first = start + len(between[: operator.start()].encode())
            yield first, first + len(operator[0].encode()), after

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in {int, float}


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions of a node that no other change turns round already."""
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            tests = [test]
        case ast.comprehension(ifs=tests):
            pass
        case ast.match_case(guard=ast.expr() as guard):
            tests = [guard]
        case _:
            return
    for test in tests:
        if not isinstance(test, ast.Compare | ast.Constant) and not (
            isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        ):
            yield test


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, without annotations and decorators."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
