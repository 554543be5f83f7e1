"""Tables as people keep them: the right value, or the right refusal. All figures are ours: 1.2 us + 84 ns per KiB."""

import gzip
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import refused
from made_fit import US
from present import present
from tables import table_of

from pready.calibrate.fit.observations import Curve, Observations
from pready.calibrate.importers import Imported, ImportFormatError, collect, read, tables
from pready.calibrate.importers import text as texts
from pready.calibrate.importers.benchmarks import Measured
from pready.calibrate.importers.collect import collected
from pready.calibrate.importers.columns import column, decimal_comma, of_unit, plain, size_of
from pready.calibrate.importers.command import Command, allocated, exported, parsed
from pready.calibrate.importers.formats import TESTS
from pready.calibrate.importers.formats.osu import _pairs
from pready.calibrate.importers.plausible import contradictions, without_untouched
from pready.calibrate.importers.text import Line, number, whole
from pready.calibrate.importers.to_machine import from_files
from pready.cli import main

SIZES = [1 << k for k in range(0, 23)]
CONTRADICTIONS, SAID, COLUMNS, COMMANDS = (
    table_of(f"calibrate/{name}") for name in ("contradictions", "imports", "columns", "commands")
)
OSU = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"


def us(size: float) -> float:
    return 1.2 + 84e-3 * size / 1024


def comma(number: float) -> str:
    return f"{number:.2f}".replace(".", ",")


def rows(sizes: list[int], form: str) -> str:
    """Of each size the times in several units, and what people write of them: marks of thousands, decimal commas."""
    lines = []
    for i, s in enumerate(sizes):
        t, kib = us(s), (f"{s}", f"{s} B") if s < 1024 else (f"{s >> 10}K", f"{s >> 10} KiB")
        marks = {"points": f"{s:,}".replace(",", "."), "mixed": f"{s:,}".replace(",", "'\u202f"[s % 3 == 1])}
        how = {"i": i, "n": i + 1, "ms": t / 1e3, "sec": t * 1e-6, "twice": 2 * t, "KiB": s / 1024, "short": kib[0]}
        lines.append(form.format(s=s, t=t, comma=comma(t), unit=kib[1], **how, **marks) + "\n")
    return "".join(lines)


def times(found: Imported) -> dict[float, float]:
    curve = present(found.observations.ping_pong)
    return {size: 1e6 * time for size, time in curve.medians.items()}


TABLES = {
    **{name: head + rows(SIZES, form) for name, (head, form) in table_of("calibrate/tables").items()},
    "carriage returns": ("Size,Latency (us)\n" + rows(SIZES, "{s},{t:.3f}")).replace("\n", "\r\n"),
    "kibibytes": "Size (KB),Latency (us)\n" + rows(SIZES[10:], "{KiB:.0f},{t:.3f}"),
    "metrics": "metric,size,value,unit\n" + rows(SIZES, "latency,{s},{t:.3f},us") + rows(SIZES, "bw,{s},{t},MB/s"),
    "JSON records": json.dumps([{"size": s, "latency_us": us(s)} for s in SIZES]),
    "JSON lines": "\n".join(json.dumps({"size": s, "latency_us": us(s)}) for s in SIZES),
    "JSON columns": json.dumps(
        {"benchmark": "osu_latency", "results": {"size": SIZES, "latency (us)": [us(s) for s in SIZES]}}
    ),
    "JSON by size": json.dumps({"runs": [{"name": "x", "latency_us": {str(s): us(s) for s in SIZES}}]}),
    "JSON of dictionaries by size": json.dumps({"unit": "us", "x": {str(s): {"avg": us(s), "max": 9} for s in SIZES}}),
    "JSON, a report of ReFrame's": json.dumps({f"a:b:lat_{s}": [us(s), None, None, None, "us"] for s in SIZES}),
    "JSON of pandas": json.dumps({"columns": ["size", "latency_us"], "data": [[s, us(s)] for s in SIZES]}),
    "JSON of ReFrame": json.dumps([{"name": f"latency_{s}", "value": us(s), "unit": "us"} for s in SIZES]),
    "JSON with a unit within": json.dumps([{"size": s, "latency": {"value": us(s), "unit": "us"}} for s in SIZES]),
    "JSON with a unit": json.dumps({"unit": "us", "rows": [{"msg_size": s, "latency": us(s)} for s in SIZES]}),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("encoded", ["utf-8", "utf-16", "gzip"])
def test_a_table_is_read_by_its_names(name: str, encoded: str) -> None:
    text = TABLES[name]
    parts = text[:99].encode(), text[99:].encode()
    data = b"".join(map(gzip.compress, parts)) if encoded == "gzip" else text.encode(encoded)
    found = times(read(data, "table.csv"))
    assert list(found) == [s for s in SIZES if s in found]
    assert len(found) >= 13
    assert list(found.values()) == pytest.approx([us(s) for s in found], rel=6e-3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *table_of("calibrate/refused")["tables"],
        ("gzip", "f: is a .gz file that is damaged or was cut off; valid: what gzip wrote"),
    ],
)
def test_what_is_not_told_apart_is_refused_in_one_line(text: str, says: str) -> None:
    data = b"\x1f\x8b\x08damaged" if text == "gzip" else text.encode()
    with pytest.raises(ImportFormatError) as caught:
        read(data, "f")
    assert str(caught.value) == says


@pytest.mark.parametrize(("text", "nodes", "one_node", "settings"), COMMANDS["commands"])
def test_what_a_command_says(text: str, nodes: int, one_node: str, settings: list[str]) -> None:
    found = Command(text.removeprefix("salloc "), {"yes": True, "no": False}.get(one_node), nodes or None, (*settings,))
    assert parsed(text, 2) == found
    # An allocation of one node decides what the command leaves open.
    assert parsed(text, 1) == (replace(found, nodes=1, one_node=True) if one_node == "unknown" else found)


@pytest.mark.parametrize(("line", "nodes"), COMMANDS["allocations"])
def test_an_allocation(line: str, nodes: int) -> None:
    assert allocated(line) == (nodes or None)
    if nodes == 1:
        found = read(f"{line}\n$ mpirun -np 2 ./osu_latency\n{OSU}{rows(SIZES, '{s}  {t:.3f}')}".encode())
        assert "asks for one node" in found.one_node


def test_what_lines_around_a_command_say() -> None:
    assert [exported(line) for line, _ in COMMANDS["exports"]] == [said for _, said in COMMANDS["exports"]]
    assert [parsed(line, None) for line in COMMANDS["no_commands"]] == [None] * 4


@pytest.mark.parametrize("count", ["²", "9" * 5000])
def test_what_is_no_number_of_ranks_is_as_if_not_said(count: str) -> None:
    for unsaid, said in (("mpirun -H a,b", f"mpirun -H a,b -np {count}"), ("mpirun -H a,b", f"mpirun -H a:{count},b")):
        without, found = (present(parsed(f"{launcher} ./osu_latency", None)) for launcher in (unsaid, said))
        assert (found.nodes, found.one_node) == (without.nodes, without.one_node)
    section: Any = SimpleNamespace(window=7)
    assert _pairs(section, present(re.match("(.) (.*)", f"2 {count}"))) == {"pairs": 2, "window": 7}


@pytest.mark.parametrize("case", table_of("calibrate/texts")["texts"], ids=lambda case: case["why"][:40])
def test_what_a_table_is_of(case: dict[str, Any]) -> None:
    found = read(case["text"].encode(), case.get("file", "f"))
    alone, more = found.observations, found.beside
    curves = {
        "ping_pong": alone.ping_pong,
        "stream": alone.stream,
        "both_ways": more.both_ways,
        "prtt_1": alone.prtt_1,
    }
    curves |= {f"threads {a} {b}": curve for (a, b), curve in more.threaded.items()}
    curves |= {f"{kind} {by}": c for kind in ("puts", "put_streams") for by, c in getattr(more, kind).items()}
    shown = {name: {size: 1e6 * t for size, t in curve.medians.items()} for name, curve in curves.items() if curve}
    shown |= {f"pairs {k}": curve.medians for k, curve in more.pair_rates.items()}
    beside = {"window": found.window, "tests": found.tests, "one_node": found.one_node}
    wanted = {name: dict(rows) for name, rows in case.items() if name not in ("why", "file", "text", "notes", *beside)}
    assert shown.keys() == wanted.keys()
    assert all(shown[name] == pytest.approx(wanted[name]) for name in wanted)
    own = [note for note in found.notes if "does not determine" not in note]
    assert [said for said, note in zip(case.get("notes", []), own, strict=True) if said not in note] == []
    assert {name: case.get(name, said) for name, said in beside.items()} == beside


def test_a_line_of_more_than_4000_characters_is_no_row() -> None:
    for blanks, last, skipped in ((3995, 16, []), (3996, 8, ["1 lines that are no rows were skipped"])):
        found = read(f"{OSU}8  1.5\n16{' ' * blanks}1.6\n".encode())
        assert max(times(found)) == last
        assert [note for note in found.notes if "skipped" in note] == skipped


def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "LARGEST_FILE", 1 << 20)
    whole = LATENCY.encode().ljust(1 << 20)
    assert read(gzip.compress(whole), "f").runs
    for data, said in (
        (gzip.compress(whole + b" "), "f: is larger than 1 MiB unpacked; valid: at most 1 MiB"),
        (b"\xff\xfe\x00", "f: is not UTF-16 as its first bytes say"),
    ):
        with pytest.raises(ImportFormatError, match=f"^{re.escape(said)}$"):
            read(data, "f")


def test_what_stands_before_titles_has_few_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank before one title and a time before the other; digits may differ."""
    lines = [f"rank {n}: {line}" for n, line in enumerate(LATENCY.splitlines())]
    lines += [f"09:52:0{n % 10} | {line}" for n, line in enumerate(rates(1.0).splitlines())]
    monkeypatch.setattr(texts, "MOST_PREFIXES", 2)
    found = read("\n".join([*lines, ""]).encode()).observations
    assert len(present(found.ping_pong)) == len(present(found.stream)) == len(SIZES)
    monkeypatch.setattr(texts, "MOST_PREFIXES", 1)
    with pytest.raises(ImportFormatError, match=r"^input:26: no '# Size …' header follows this title; valid"):
        read("\n".join([*lines, ""]).encode())


def test_a_file_of_more_than_200_000_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", 3)
    text = OSU + rows(SIZES[:4], "{s}  {t:.3f}")
    assert len(times(read("".join(text.splitlines(keepends=True)[:-1]).encode()))) == 3
    with pytest.raises(ImportFormatError, match=r"^f:6: is one row too many; valid: at most 3 rows of results$"):
        read(text.encode(), "f")


def test_two_settings_in_one_file_are_two_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "job.log", tmp_path / "m.toml"
    runs = (("ob1", rows(SIZES, "{s}  {t:.3f}")), ("ucx", rows(SIZES, "{s}  1{t:.3f}")))
    path.write_text(
        "".join(f"$ mpirun --mca btl self --mca pml {m} -np 2 --map-by node osu_latency\n{OSU}{r}\n" for m, r in runs)
    )
    words = ("calibrate", "import", str(path), "-o", str(out))
    assert "'--mca pml ob1' and '--mca pml ucx': two machines; valid: --command TEXT" in refused(capsys, *words)
    absent = refused(capsys, *words, "--command", "pml cm")
    assert "no run's command contains 'pml cm'; valid: part of a command in the files" in absent
    assert main([*words, "--command", "pml ob1"]) == 0
    assert "1.2 us for a small message" in capsys.readouterr().err


@pytest.mark.parametrize(("first", "second"), SAID["settings"])
def test_settings_before_a_command_are_its_own(first: str, second: str) -> None:
    both = (f"{said} -n 2 osu_latency\n{OSU}{rows(SIZES, '{s}  {t:.3f}')}\n" for said in (first, second))
    with pytest.raises(ImportFormatError, match="two machines"):
        read("".join(both).encode())


def osu(title: str, column: str, lines: str, said: str = "") -> str:
    return f"# OSU MPI {title} Test v7.4\n{said}# Size          {column}\n{lines}"


LATENCY = osu("Latency", "Latency (us)", rows(SIZES, "{s}  {t:.3f}"))


def rates(times_faster: float) -> str:
    return osu("Bandwidth", "Bandwidth (MB/s)", "".join(f"{s}  {times_faster * s / us(s):.3f}\n" for s in SIZES))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (rates(8.0), "of a stream, and one message reaches"),
        (
            "$ srun -N 16 -n 64 osu_mbw_mr\n# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n"
            "# [ pairs: 32 ] [ window size: 64 ]\n# Size          MB/s        Messages/s\n8  8.00  1000000.00\n",
            "its command asks for 16",
        ),
        (osu("Latency", "Latency (us)", rows(SIZES, "{s}  1200{t:.3f}")), "a small message takes 12 ms"),
    ],
    ids=["bits as bytes", "many nodes", "slow"],
)  # fmt: skip
def test_what_cannot_be_is_refused(other: str, says: str, tmp_path: Path) -> None:
    """By name; in a folder it is left out, and named."""
    (tmp_path / "a.txt").write_text(LATENCY)
    (tmp_path / "b.txt").write_text(other)
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    with pytest.raises(ImportFormatError, match=re.escape(says)):
        collected(paths)
    read, notes, used = collected([tmp_path])
    assert [path.name for path in used] == ["a.txt"]
    assert any("b.txt" in note for note in notes)
    assert times(read)[8] == pytest.approx(us(8), rel=1e-3)


def test_a_folder_of_what_cannot_be_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(osu("Latency", "Latency (us)", rows(SIZES, "{s}  1200{t:.3f}")))
    with pytest.raises(ImportFormatError, match="a small message takes 12 ms"):
        collected([tmp_path])


def gap(size: float) -> float:
    return 0.15 + 80e-3 * size / 1024


BESIDE = {
    "bits, Markdown": "| Size | Bandwidth (Gb/s) |\n| --- | --- |\n"
    + "".join(f"| {s} | {8e-3 * s / gap(s):.3f} |\n" for s in SIZES),
    "JSON": json.dumps({"osu_bw": {"bw_MB/s": {str(s): s / gap(s) for s in SIZES}}}),
    "IMB Uniband": "# Benchmarking Uniband\n# #processes = 2\n#bytes #repetitions Mbytes/sec Msg/sec\n"
    + "".join(f"{s} 9 {s / gap(s):.4f} {1e6 / gap(s):.2f}\n" for s in SIZES),
}


@pytest.mark.parametrize("form", BESIDE)
def test_a_table_of_a_rate_stands_beside_a_ping_pong(form: str, tmp_path: Path) -> None:
    """12.8 GB/s among many messages, 12.2 of one; all of it is reproduced."""
    (tmp_path / "a.txt").write_text(LATENCY)
    (tmp_path / "b.txt").write_text(BESIDE[form])
    for day, name in ((1, "a.txt"), (2, "b.txt")):
        os.utime(tmp_path / name, (datetime(2020, 1, day, 12).timestamp(),) * 2)
    made = from_files([tmp_path / "a.txt", tmp_path / "b.txt"], name="m")
    assert made.machine.inter.link_bandwidth.value == pytest.approx(1024 / 80e-9, rel=0.02)
    assert made.machine.bandwidth == pytest.approx(1024 / 84e-9, rel=0.02)
    assert made.summary[-1].startswith("reproduces the 46 points")
    assert "streams of messages" in made.machine.inter.link_bandwidth.why
    assert made.machine.created == date(2020, 1, 2)  # of the newer file


@pytest.mark.parametrize("case", SAID["summaries"], ids=lambda case: f"both ways: {case['both_ways']}")
def test_what_is_said_of_a_machine(case: dict[str, Any], tmp_path: Path) -> None:
    both = osu("Bi-Directional Bandwidth", "Bandwidth (MB/s)", "".join(f"{s}  {2 * s / gap(s):.3f}\n" for s in SIZES))
    for name, text in (("a", LATENCY), ("b", BESIDE["JSON"]), *([("c", both)] if case["both_ways"] else [])):
        (tmp_path / name).write_text(text)
    made = from_files(sorted(tmp_path.iterdir()), name="m", **case["given"])
    assert ([*made.summary], [*made.notes], made.origin) == (case["said"], case["notes"], case["origin"])


def test_a_table_deep_in_other_data_is_found_and_one_too_deep_is_not() -> None:
    def within(levels: int) -> bytes:
        return ('{"a":' * levels + BESIDE["JSON"] + "}" * levels).encode()

    assert read(within(38)).observations.stream is not None
    with pytest.raises(ImportFormatError, match="has records without sizes"):
        read(within(39))


def test_an_empty_message_that_never_touched_its_buffer_is_left_out(tmp_path: Path) -> None:
    table = "0  0.90\n" + "".join(f"{size}  {10 + us(size):.3f}\n" for size in SIZES)
    (tmp_path / "gpu.txt").write_text(osu("-CUDA Latency", "Latency (us)", table).replace("MPI -", "MPI-"))
    made = from_files([tmp_path / "gpu.txt"], name="m")
    assert any("an empty message never touched its buffer" in note for note in made.notes)
    first = made.machine.inter.segments[0]
    assert first.o_s.value + first.L.value + first.o_r.value == pytest.approx(11.2e-6, rel=0.02)
    one_sided = made.machine.one_sided  # of which nothing was measured
    assert one_sided.epoch_peer.value == one_sided.epoch.value == pytest.approx(2 * first.o_s.value)


def test_folders_in_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ReFrame and Ramble keep the output of a run."""
    deep = tmp_path / "output" / "cluster" / "cpu" / "gnu" / "Latency"
    deep.mkdir(parents=True)
    (deep / "rfm_job.out.gz").write_bytes(gzip.compress(LATENCY.encode()))
    (deep / "rfm_job.sh").write_text("#!/bin/bash\n")
    (deep / ".backup").write_text(LATENCY)
    found, notes, used = collected([tmp_path])
    assert [path.name for path in used] == ["rfm_job.out.gz"]
    assert times(found)[8] == pytest.approx(us(8), rel=1e-3)
    assert any("rfm_job.sh" in note for note in notes)
    for deeper in ("6", "7"):
        deep /= deeper
        deep.mkdir()
        (deep / f"{deeper}.txt").write_text(LATENCY)
    assert [path.name for path in collected([tmp_path])[2]] == ["6.txt", "rfm_job.out.gz"]
    monkeypatch.setattr(collect, "MOST_FILES", 2)
    with pytest.raises(ImportFormatError, match=r"has 3 files; valid: at most 2: a folder of results$"):
        collected([tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImportFormatError, match="empty: no file in it can be used: it is empty; valid: output of OSU"):
        collected([tmp_path / "empty"])


@pytest.mark.parametrize(
    "text", ["\n" * 50_000, "srun " * 50_000, "# " * 50_000, " 1" * 50_000], ids=["blank", "command", "comment", "row"]
)
def test_text_without_tables_is_refused_in_time_that_grows_with_its_size(text: str) -> None:
    """A pattern that looked over all blank lines from each of them took hours."""
    with pytest.raises(ImportFormatError, match="no benchmark output"):
        read(text.encode())


@pytest.mark.parametrize("row", COLUMNS["names"], ids=lambda row: row[0])
def test_a_name_says_what_its_column_holds(row: list[str]) -> None:
    name, quantity, factor, rank, *more = row
    found = column(4, name)
    said = [flag for flag in ("both_ways", "unclear") if getattr(found, flag)]
    assert (found.at, found.quantity, said) == (4, quantity, more)
    assert found.factor == pytest.approx(float(factor), rel=1e-12)
    assert found.rank == {"median": 0, "mean": 1, "some": 2, "none": None}[rank]


def or_none(read: Callable[..., float], *given: object, **how: object) -> float | None:
    try:
        return read(*given, **how)
    except ImportFormatError:
        return None


def test_which_cells_are_numbers() -> None:
    for cell, unit, comma, size in COLUMNS["sizes"]:
        found = or_none(size_of, cell, column(0, f"Size ({unit})"), Line("", 1, "f"), comma=comma)
        assert found == (None if size < 0 else size), cell
    for token, sign, one in COLUMNS["numbers"]:
        read = or_none(number, token, "x", Line("", 1, "f"), zero=sign == "0", negative=sign == "-")
        assert read == (float(token) if one else None), token
    for token, least, largest, one in COLUMNS["wholes"]:
        assert or_none(whole, token, "x", Line("", 1, "f"), least=least, largest=largest) == (
            int(token) if one else None
        ), token
    for cells, said in COLUMNS["commas"]:
        assert {True: "yes", False: "no", None: "either"}[decimal_comma(cells)] == said, cells
    for cell, comma, said in (("1.234,5", True, "1234.5"), ("1,234.5", False, "1234.5"), ("1.5", True, "1.5")):
        assert plain(cell, comma=comma) == said
    units = [of_unit(unit) for unit in ("us", "MB/s", "mb/s", "parsec", "KB")]
    assert [unit and unit.factor for unit in units] == [1e-6, 1e6, None, None, None]


@pytest.mark.parametrize("case", CONTRADICTIONS["runs"], ids=lambda case: case["why"][:40])
def test_what_figures_cannot_be(case: dict[str, Any]) -> None:
    runs = [
        Measured(TESTS[name], "f", "", key, tuple((s, v if key else v * US) for s, v in values), *window)
        for name, key, values, *window in case["runs"]
    ]
    runs = [replace(run, command=Command("", nodes=case.get("nodes"))) for run in runs]
    assert [f"{of}: {problem}; valid: {valid}" for of, problem, valid in contradictions(runs, case.get("fabric"))] == [
        case[key] for key in ("says",) if key in case
    ]


@pytest.mark.parametrize(("rows", "untouched"), CONTRADICTIONS["untouched"]["rows"])
def test_an_empty_message_may_not_touch_its_buffer(rows: list[tuple[float, float]], untouched: bool) -> None:
    notes: list[str] = []
    sizes, each = zip(*rows, strict=True)
    found = without_untouched(Observations(ping_pong=Curve.of(sizes, each)), notes)
    assert (present(found.ping_pong).at[0] > sizes[0], bool(notes)) == (untouched, untouched)
