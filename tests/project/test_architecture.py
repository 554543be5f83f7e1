"""What ARCHITECTURE.md, CONTRIBUTING.md and comments name is there: files, names in files, targets of make."""

import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCUMENTS = [Path("ARCHITECTURE.md"), Path("CONTRIBUTING.md")]
SUFFIXES = r"\.(?:c|cff|cpp|def|h|hpp|ipynb|md|png|py|svg|toml|txt|yaml|yml)"
MADE_LATER = (".venv", "build/")


def code(text: str) -> Iterator[str]:
    """The words of code, in blocks and in lines."""
    for block in re.findall(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield from block.split()
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        yield from span.split()


def paths(text: str) -> list[str]:
    """Words of code that are paths, `::name` after them included: with a folder, or with a suffix of ours."""
    plain = re.compile(rf"(?:[\w.-]+/)+(?:[\w.-]+)?(?:::\w+)?|[\w.-]*\w{SUFFIXES}(?:::\w+)?")
    return [w for w in dict.fromkeys(code(text)) if plain.fullmatch(w) and not w.startswith(MADE_LATER)]


def missing(named: str) -> str | None:
    """What is not there of a path; NAME stands for whatever is there already."""
    path, _, name = named.partition("::")
    if "NAME" in path:
        return None if any(Path().glob(path.replace("NAME", "*"))) else f"{path}: nothing like it"
    if not Path(path).exists():
        return f"{path}: not there"
    if name and not re.search(rf"\b{name}\b", Path(path).read_text(encoding="utf-8")):
        return f"{path}: has no {name}"
    return None


SOURCES = (".py", ".pyi", ".c", ".h", ".cpp", ".hpp", ".def")
ELSEWHERE = re.compile(r"(mpich2/|src/|mpid/|ompi/).*|NAME\.c|halo\.c|osu_bw\.c")
"""Files that comments name and that are none of ours: of MPI libraries and benchmarks, and examples."""


def remarks(path: Path) -> Iterator[str]:
    """Comments and docstrings of a source file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix not in (".py", ".pyi"):
        yield from re.findall(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL)
        return
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from (t.string for t in tokens if t.type == tokenize.COMMENT)
    alone = (n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Expr))
    yield from (v.value for v in alone if isinstance(v, ast.Constant) and isinstance(v.value, str))


SOURCE_FILE = re.compile(r"(?<![\w/.*{}<>-])((?:[\w.-]+/)*[\w-]+\.(?:py|pyi|c|h|hpp|cpp|def|jinja))\b(?![\w(/-])")
"""A word that names a source file, by its end or its whole path."""


def test_files_that_comments_name_are_there() -> None:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    ends = {"/".join(parts[n:]) for parts in (f.split("/") for f in listed) for n in range(len(parts))}
    named = [
        (f, name) for f in listed if f.endswith(SOURCES) for r in remarks(Path(f)) for name in SOURCE_FILE.findall(r)
    ]
    assert len(named) > 100
    assert [(f, name) for f, name in named if name not in ends and not ELSEWHERE.fullmatch(name)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_what_is_named_is_there(document: Path) -> None:
    text, makefile = (path.read_text(encoding="utf-8") for path in (document, Path("Makefile")))
    named = paths(text)
    assert len(named) > 10
    assert [m for m in map(missing, named) if m is not None] == []
    for target in re.findall(r"(?:`|^\$ |&& )make ([a-z]\w*)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_map_stays_small() -> None:
    assert len(DOCUMENTS[0].read_text(encoding="utf-8").splitlines()) <= 150


def test_no_name_of_the_model_or_of_calibration_is_there_twice() -> None:
    """Of files, and of classes within each of the two."""
    files = [p for room in ("model", "calibrate") for p in Path(room).rglob("*") if p.suffix in (".py", ".c", ".h")]
    names = Counter(p.name for p in files if p.name != "__init__.py")
    for room in ("model", "calibrate"):
        trees = (ast.parse(p.read_text(encoding="utf-8")) for p in Path(room).rglob("*.py"))
        names += Counter(f"{room}: {n.name}" for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef))
    assert len(names) > 350
    assert [name for name, n in names.items() if n > 1] == []
