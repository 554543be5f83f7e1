"""What does not name its test is refused in one line: what it seems to be, and what to write instead."""

import os
from pathlib import Path

import numpy as np
import pytest
from results_of_suites import SIZES, bandwidth, imb, latency, pairs, read, us
from tables import table_of

from pready.calibrate.importers.collect import collected
from pready.calibrate.importers.text import ImportFormatError
from pready.calibrate.importers.to_machine import from_files
from pready.calibrate.importers.unnamed import RECIPE
from pready.calibrate.other_tools import TOOLS, tool_of
from pready.model.approach.libraries import LIBRARIES, library
from pready.model.common.errors import PreadyError

REFUSED = table_of("calibrate/refused")
INPUTS = Path(os.environ.get("PREADY_FABRICS", "nowhere")).parent / "inputs"


def rows(form: str, sizes: list[int] = SIZES) -> str:
    lines = []
    for i, s in enumerate(sizes):
        short = f"{s}" if s < 1024 else f"{s >> 10}K" if s < 1 << 20 else f"{s >> 20}M"
        marks = {"marks": f"{s:,}", "comma": f"{us(s):.2f}".replace(".", ","), "short": short, "i": i, "n": i + 1}
        lines.append(form.format(s=s, t=us(s), b=s / us(s), g=8e-3 * s / us(s), **marks) + "\n")
    return "".join(lines)


@pytest.mark.parametrize(("head", "form", "seems"), REFUSED["shapes"])
def test_a_table_that_does_not_name_its_test(head: str, form: str, seems: str) -> None:
    """Valid figures in any other shape: one line with what it seems to be, and the recipe."""
    with pytest.raises(ImportFormatError) as caught:
        read((head + rows(form)).encode(), "f")
    assert str(caught.value) == f"f: {seems}; valid: {RECIPE}"


@pytest.mark.parametrize(("text", "says"), REFUSED["files"])
def test_one_clear_line(text: str, says: str) -> None:
    with pytest.raises(ImportFormatError) as caught:
        read(text.encode(), "f")
    assert str(caught.value) == says


@pytest.mark.parametrize(("file", "text", "name"), REFUSED["tools"])
def test_other_tools_by_name(file: str, text: str, name: str, tmp_path: Path) -> None:
    """By what they write or how they call it; with a suite's title beside it, it is the suite's."""
    path = tmp_path / file
    path.write_text(text)
    tool = next(tool for tool in TOOLS if tool.name == name)
    assert tool_of(path) == tool
    with pytest.raises(ImportFormatError) as caught:
        collected([path])
    assert str(caught.value) == f"{path}: is of {name}, which records {tool.records}; valid: {tool.instead}"
    if text and tool.file is None:
        assert tool_of(path, (latency() + text).encode()) is None


def test_every_tool_is_asked_for() -> None:
    assert {name for _, _, name in REFUSED["tools"]} == {tool.name for tool in TOOLS}


@pytest.mark.parametrize(("called", "meant"), REFUSED["libraries"])
def test_a_library_is_meant_by_its_family(called: str, meant: str) -> None:
    """The letters of `mpich-4` are nearer to `mvapich-4` than to `mpich-release`."""
    assert meant in LIBRARIES
    with pytest.raises(PreadyError, match=rf"did you mean \"{meant}\""):
        library(called)


@pytest.mark.parametrize("suffix", ["md", "rst", "py", "html"])
def test_a_document_shows_results_of_which_its_prose_says_where(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"page.{suffix}"
    path.write_text(f"# A page\n\n## On one node or two\n\n{latency()}\n")
    with pytest.raises(ImportFormatError, match=rf"within a document.*--take page\.{suffix}:5 if"):
        collected([path])
    assert len(collected([path], take=[f"page.{suffix}:5"])[0].runs) == 1
    (tmp_path / "latency.txt").write_text(latency(lambda s: 2 * us(s)))
    found, notes, used = collected([tmp_path])
    assert [file.name for file in used] == ["latency.txt"]
    assert any("within a document" in note for note in notes)
    assert found.runs[0].values[0][1] == pytest.approx(2.4e-6)


@pytest.mark.parametrize(
    ("disturbed", "told"),
    [
        ({1: 18.0, 2: 24.0, 4: 25.0, 8: 8.75}, "4 B take 25 us, and 16 B 3 us"),
        ({8 << k: 20.0 + k for k in range(5)}, "128 B take 24 us, and 256 B 3.03 us"),
    ],
)
def test_the_sizes_named_are_those_that_fall(disturbed: dict[int, float], told: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(latency(lambda s: disturbed.get(s, 3.0 + 1e-4 * s)))
    with pytest.raises(ImportFormatError, match=f"the time falls with the size: {told}"):
        collected([tmp_path / "f"])


@pytest.mark.parametrize("unit", [8.0, 1 / 8, 1000.0, 1 / 1000])
def test_a_stream_in_another_unit_is_doubted_on_either_side(unit: float, tmp_path: Path) -> None:
    for name, text in (("a", latency()), ("b", bandwidth(lambda s: unit * us(s)))):
        (tmp_path / name).write_text(text)
    with pytest.raises(ImportFormatError, match="bits or bytes"):
        collected([tmp_path / "a", tmp_path / "b"])


def test_random_tables_end_in_a_machine_or_one_line(tmp_path: Path) -> None:
    """Any positive times under a title: smooth, steep, in steps, or noise."""
    rng = np.random.default_rng(20261128)
    for case in range(60):
        sizes = sorted({0, *(int(2 ** rng.uniform(0, 23)) for _ in range(rng.integers(1, 25)))})[rng.integers(0, 3) :]
        power, start = rng.uniform(0, 2.5), 10 ** rng.uniform(-1, 2)
        times = [
            start * (1 + (s / 10 ** rng.uniform(2, 6)) ** power) * float(np.exp(rng.normal(0, rng.choice([0, 0.1, 1]))))
            for s in sizes
        ]
        (tmp_path / "f.txt").write_text(latency(dict(zip(sizes, times, strict=True)).__getitem__, sizes))
        try:
            made = from_files([tmp_path / "f.txt"], name="m", seed=case)
        except PreadyError as error:
            assert len(str(error).splitlines()) == 1
        else:
            assert made.machine.inter.segments[0].L.value >= 0


def test_a_folder_without_results_names_twenty_of_its_files(tmp_path: Path) -> None:
    for number in range(21):
        (tmp_path / f"{number:02}.txt").write_text("nothing")
    with pytest.raises(ImportFormatError, match=r"00\.txt.*19\.txt(?!.*20\.txt)"):
        from_files([tmp_path], name="m")


@pytest.mark.needs("fabrics")  # the folder beside it
@pytest.mark.parametrize(("names", "truth"), REFUSED["inputs"])
def test_inputs_that_were_misread(names: list[str], truth: str) -> None:
    """`truth`: words of the refusal, or, after =, of the summary and notes."""
    paths = [INPUTS / name for name in names]
    if truth.startswith("="):
        made = from_files(paths, name="m")
        assert truth[1:] in " | ".join((*made.summary, *made.notes))
        return
    with pytest.raises(PreadyError, match=truth) as caught:
        from_files(paths, name="m")
    assert len(str(caught.value).splitlines()) == 1


def test_a_pingpong_beside_waiting_processes_needs_a_word(tmp_path: Path) -> None:
    """Ranks 0 and 1 of many lie side by side, unless ranks were dealt to nodes in turn: only the user knows."""
    path = tmp_path / "imb.txt"
    path.write_text(imb(said="# ( 62 additional processes waiting in MPI_Barrier)\n"))
    with pytest.raises(ImportFormatError, match=r"62 more processes waited.*--intra"):
        collected([path])
    assert collected([path], take=["imb.txt"])[0].observations.ping_pong is not None
    assert collected([path], one_node=True)[0].observations.ping_pong is not None


def test_what_is_not_used_is_left_out_where_something_is(tmp_path: Path) -> None:
    """A test that says nothing, alone or named beside others; buffers of GPUs; a ping-pong within a node."""
    for name, text in (("bibw", bandwidth(title=" Bi-Directional Bandwidth")), ("gpu", latency(build="-CUDA"))):
        (tmp_path / name).write_text(text)
    with pytest.raises(ImportFormatError, match=r"'Bi-Directional Bandwidth' is not used; valid: osu_latency"):
        collected([tmp_path / "bibw"])
    (tmp_path / "latency").write_text(latency(lambda s: 0.5 * us(s)))
    with pytest.raises(ImportFormatError, match=r"the two ranks were on one node: a small message took 0[.]6 us"):
        from_files([tmp_path / "latency"], name="m")
    (tmp_path / "latency").write_text(latency(lambda s: 2 * us(s)))
    for paths in ([tmp_path], [tmp_path / name for name in ("bibw", "gpu", "latency")]):
        found, notes, used = collected(paths)
        assert [path.name for path in used] == ["latency"]
        assert "only buffers in the hosts' memory were used, not those of GPUs" in found.notes
        assert notes == ["not used: bibw (test = 'Bi-Directional Bandwidth' is not used)"]


@pytest.mark.parametrize(
    ("count", "faster", "said"),
    [
        (600, 1, "600 pairs of many nodes"),
        (64, 32, "64 pairs of many nodes, not of two: together 409 GB/s"),
        (4, 6, "4 pairs move 76.8 GB/s, and one 12.8 GB/s"),
    ],
)
def test_pairs_are_of_two_nodes(count: int, faster: float, said: str, tmp_path: Path) -> None:
    text = pairs(count, lambda s: (0.15 + 80e-3 * s / 1024) * count / faster)
    for name, each in (("a", latency()), ("b", bandwidth()), ("c", text)):
        (tmp_path / name).write_text(each)
    with pytest.raises(ImportFormatError, match=f"osu_mbw_mr: .*{said}"):
        collected([tmp_path / name for name in "abc"])
