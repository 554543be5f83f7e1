"""What ARCHITECTURE.md, CONTRIBUTING.md and comments name is there: files, names in files, targets of make."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
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


def source_files(text: str) -> list[str]:
    """Words that name a source file, by its end or its whole path."""
    return re.findall(r"(?<![\w/.*{}<>-])((?:[\w.-]+/)*[\w-]+\.(?:py|pyi|c|h|hpp|cpp|def|jinja))\b(?![\w(/-])", text)


def test_files_that_comments_name_are_there() -> None:
    assert source_files("as in a/b.c: c.hpp, `d_e.py`, any_*.c, f.h(x)") == [
        "a/b.c",
        "c.hpp",
        "d_e.py",
    ]
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    ends = {"/".join(parts[n:]) for parts in (f.split("/") for f in listed) for n in range(len(parts))}
    named = [(f, name) for f in listed if f.endswith(SOURCES) for r in remarks(Path(f)) for name in source_files(r)]
    assert len(named) > 100
    assert [(f, name) for f, name in named if name not in ends and not ELSEWHERE.fullmatch(name)] == []


def test_what_is_a_path() -> None:
    text = (
        "see `a/b.py` and `c.md::Name`, `make x`, `a.b`, `--d=e/f`\n```console\n$ pytest g/h -q\n```\n`i/NAME.c` `j/`"
    )
    assert paths(text) == ["g/h", "a/b.py", "c.md::Name", "i/NAME.c", "j/"]


def test_what_is_missing() -> None:
    assert missing("model/version.py::VERSION") is None
    assert missing("model/NAME.py") is None
    assert missing("model/version.py::NOTHING") == "model/version.py: has no NOTHING"
    assert missing("model/no_such_file.py") == "model/no_such_file.py: not there"
    assert missing("model/NAME.rs") == "model/NAME.rs: nothing like it"


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_what_is_named_is_there(document: Path) -> None:
    named = paths(document.read_text(encoding="utf-8"))
    assert len(named) > 10
    assert [m for m in map(missing, named) if m is not None] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_targets_of_make_are_there(document: Path) -> None:
    makefile = Path("Makefile").read_text(encoding="utf-8")
    for target in re.findall(
        r"(?:`|^\$ |&& )make ([a-z]\w*)", document.read_text(encoding="utf-8"), flags=re.MULTILINE
    ):
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


@pytest.mark.parametrize("room", ["calibrate/bench", "calibrate/capture/preload"])
def test_no_c_file_includes_what_includes_it(room: str) -> None:
    """A file and its header are one: what either includes comes before both."""
    includes: dict[str, set[str]] = {}
    for path in Path(room).rglob("*.[ch]"):
        named = re.findall(r'^#include "(.+)\.h"', path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        one = path.relative_to(room).with_suffix("").as_posix()
        includes.setdefault(one, set()).update(set(named) - {one})
    assert len([*TopologicalSorter(includes).static_order()]) >= len(includes) > 10
    rooms: dict[str, set[str]] = {}
    for one, others in includes.items():
        own = one.rpartition("/")[0]
        rooms.setdefault(own, set()).update({other.rpartition("/")[0] for other in others} - {own})
    TopologicalSorter(rooms).prepare()


def test_what_predict_imports_is_what_the_page_says() -> None:
    """Beside the model: parsing and printing, no measuring, no SymPy, no Matplotlib."""
    code = "import sys, pready.commands.predict; print(*(m for m in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = {".".join(m.split(".")[1:3]) for m in loaded if m.startswith("pready.")}
    outside = {room for room in rooms if not room.startswith("model")}
    assert outside <= {
        *("calibrate", "calibrate.measure"),  # how a launcher is parsed
        *("commands", "commands.options", "commands.predict"),
        *("files", "files.extra", "files.shipped_examples", "files.writing", "whatif", "whatif.table"),
        *("show", "show.figures", "show.tables", "show.terminal"),
    }
    assert "pready.model.advice.predict" in loaded
    assert not {"pready.model.advice.explanation", "pready.model.advice.library_changes", "sympy", "matplotlib"} & set(
        loaded
    )
