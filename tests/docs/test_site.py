"""The documentation: what it shows runs, what is generated is complete, the site asks no other host."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import parsed
from file_tables import file_tables, takes
from generate import pages
from given import Capsys, Patch
from refresh import QUESTIONS, with_answers

from pready.cli import main
from pready.model.approach.libraries import LIBRARIES
from pready.model.common.units import Time
from pready.model.equations.gain import EQUATIONS
from pready.model.machine.machine import Machine
from pready.model.timeline.terms import TERMS
from pready.model.toml.provenance import Value
from pready.model.workload.workload import Workload, load

pytestmark = pytest.mark.usefixtures("predicted_once")

README = Path("README.md")
PAGES = [README, *sorted(Path("docs").rglob("*.md"))]
ELSEWHERE = ["calibrate", "mymachine", "validate", "sst run", "prove", "capture", "ex.toml", "here.toml"]
ELSEWHERE += ["-o report/", "-o /tmp/report"]
"""What needs two nodes or SST, takes minutes, or writes to the user's folders: tested where those are.
Pages are made for tests/pready/test_prediction_page.py."""


def blocks(path: Path, language: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def every_line() -> list[str]:
    shown = [line for p in PAGES for b in blocks(p, "console") for line in b.splitlines()]
    return [line[2:].split("#")[0].strip() for line in shown if line.startswith("$ pready")]  # those with # want root


def test_commands_parse() -> None:
    for line in dict.fromkeys(every_line()):
        parsed(line)


def lines() -> list[str]:
    every = every_line()
    alike = [c.replace(" --machine meluxina", "") if "compare" not in c else c for c in every]  # who names no machine
    return [c for c in dict.fromkeys(alike) if not any(w in c for w in ELSEWHERE)]


@pytest.mark.thorough
@pytest.mark.parametrize("line", lines())
def test_commands_run(line: str, tmp_path: Path, capsys: Capsys) -> None:
    words = shlex.split(line.replace("/tmp/", f"{tmp_path}/").replace("report/", f"{tmp_path}/report/"))[1:]
    if "<" in words:
        run = [sys.executable, "-m", "pready", *words[: words.index("<")]]
        with Path(words[-1]).open() as given:
            subprocess.run(run, stdin=given, check=True, capture_output=True)
        return
    assert main(words) == 0
    capsys.readouterr()


@pytest.mark.thorough
def test_the_readme_is_short_and_the_output_that_it_shows_is_real(capsys: Capsys, monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["predict", "examples/halo3d.toml", "--machine", "alps"]) == 0
    assert blocks(README, "text")[0].rstrip("\n") == capsys.readouterr().out.strip("\n")
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 100
    assert sum(line.startswith("$ pready") for block in blocks(README, "console") for line in block.splitlines()) >= 4


@pytest.mark.slow
def test_public_questions_are_answered_as_they_are_today() -> None:
    page = QUESTIONS.read_text(encoding="utf-8")
    assert with_answers(page) == page
    assert page.count("```text\n") == len([*Path("examples/questions").glob("*.toml")])


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_workload_files_are_valid(path: Path, tmp_path: Path) -> None:
    for text in blocks(path, "toml"):
        file = tmp_path / "w.toml"
        file.write_text(text, encoding="utf-8")
        load(file)


@pytest.mark.thorough
@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "python")], ids=str)
def test_python_runs(path: Path, capsys: Capsys) -> None:
    for code in blocks(path, "python"):
        exec(compile(code, str(path), "exec"), {})
    capsys.readouterr()


def test_the_rest_is_there() -> None:
    made = pages()
    assert all(f"## {name}\n" in made["reference/libraries.md"] for name in LIBRARIES)
    assert all(term.name in made["theory/terms.md"] for term in TERMS)
    assert made["theory/equations.md"].count("<math ") == len(EQUATIONS)
    assert all(not (Path("docs") / name).exists() for name in made), "a page is either written or generated"


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_asks_no_other_host(tmp_path: Path) -> None:
    pytest.importorskip("furo")
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'docs'); import build; from pathlib import Path; "
           f"sys.exit(build.build(Path({str(tmp_path)!r})))"]  # fmt: skip
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    html = list(site.rglob("*.html"))
    assert len(html) > 20
    tags = "script|img|iframe|source|video|audio|object|embed"
    fetched = re.compile(rf"<(?:{tags})\b[^>]*(?:src|data)=\"(?:https?:)?//[^\"]*")
    linked = re.compile(r"<link\b(?![^>]*rel=\"canonical\")[^>]*href=\"(?:https?:)?//[^\"]*")
    for page in html:
        text = page.read_text(encoding="utf-8")
        assert not fetched.search(text), page
        assert not linked.search(text), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet
    for page in html:  # every link within the site leads somewhere
        for target in re.findall(r"href=\"([^\"#:?]+)(?:[?#][^\"]*)?\"", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(site)}: {target}"


def test_what_is_written_at_the_top_of_a_workload_is_explained() -> None:
    top = file_tables(Workload)[0]
    lacking = [f.name for f in top.fields if not f.meaning and not f.tables]
    assert not lacking, f"say below {', '.join(lacking)} in model/workload/workload.py what it means"


def test_field_descriptions() -> None:
    assert takes(Value[Time]) == 'a value (value, interval, source, why): a time, such as "1.22 us"'
    assert takes(tuple[int, ...] | None) == "a list of an integer"
    segment = next(t for t in file_tables(Machine) if t.name == "inter.segments")
    assert [f.default for f in segment.fields if f.name in ("L", "handshake")] == [None, ""]
