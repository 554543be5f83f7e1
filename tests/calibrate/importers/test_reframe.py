"""ReFrame's performance logs and reports: figures that say their test, size and unit are read, others named.

The layouts are those of ReFrame 3.9, 3.12, 4.2, 4.3, 4.6 and 4.7 as its default configurations write them.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from present import present
from results_of_suites import Time, gap, read, us

from pready.calibrate.importers.collect import collected, runs_of
from pready.calibrate.importers.text import ImportFormatError

SIZES = [1, 8, 512, 4096, 65536, 1 << 20]


def rate(size: int) -> float:
    return size / gap(size)


def lines(
    check: str = "osu_latency on dom:gpu using gnu", variable: str = "latency_{}", of: Time = us, unit: str = "us"
) -> str:
    """Up to ReFrame 3.12: a line a figure."""
    last = f"|ref=0 (l=null, u=null)|{unit}\n"
    return "".join(
        f"2024-01-02T03:04:05|reframe 3.9.2|{check.format(s)}|jobid=7|{variable.format(s)}={of(s):.3f}{last}"
        for s in SIZES
    )


def table(mark: str = "|", of: Time = us, header: bool = True, **says: str) -> str:
    """Since ReFrame 4.0: a header, and a row a check."""
    check = {"result": "pass", "job_completion_time": "2024", "name": "osu_latency_test", "system": "dom",
             "partition": "gpu", "environ": "gnu", "jobid": "7", "num_tasks_per_node": "null", **says}  # fmt: skip
    for s in SIZES:
        name = f"latency_{s}"
        check |= {f"{name}_value": f"{of(s):.3f}", f"{name}_unit": "us", f"{name}_ref": "0", f"{name}_upper": "null"}
    return (mark.join(check) + "\n") * header + mark.join(check.values()) + "\n"


def report(*checks: dict[str, Any]) -> str:
    return json.dumps({"session_info": {"data_version": "4.1"}, "runs": [{"testcases": checks}]}, indent=2)


def case(
    name: str = "osu_latency", variable: str = "latency_{}", of: Time = us, unit: str | None = "us", **says: Any
) -> Any:
    """A test case of a report, since 4.7."""
    figures = {f"dom:gpu:{variable.format(s)}": [of(s), 0, None, None, unit, "pass"] for s in SIZES}
    about = {"display_name": name, "system": "dom", "partition": "gpu", "environ": "gnu", "jobid": 7}
    return about | {"job_nodelist": ["n1", "n2"], "perfvalues": figures} | says


def case_of_4_6(**says: Any) -> dict[str, Any]:
    figures = [{"name": f"latency_{s}", "value": us(s), "unit": "us", "reference": 0} for s in SIZES]
    return {"name": "osu_latency", "system": "dom:gpu", "environment": "gnu", "perfvars": figures} | says


LATENCIES = {
    "3.9": lines(),
    "a parameter": lines("osu_latency %size={} @dom:gpu+gnu", "latency"),
    "a hash": lines("OSU_latency_test %message_size={} /1a2b3c4d @dom:gpu+gnu", "time"),
    "units of sizes": lines("IMB_PingPong on dom:gpu using gnu", "t_{}_bytes"),
    "4.2": table(","),
    "4.3": table(),
    "check_name": table().replace("|name|", "|check_name|"),
    "4.6": report(case_of_4_6()),
    "4.7": report(case()),
    "its executable": report(case("omb", executable="/opt/osu/osu_latency", executable_opts=["-i", "9"])),
    "IMB's options": report(case("imb", "t_{}", executable="IMB-MPI1", executable_opts=["PingPong", "-npmin", "2"])),
    "reruns that agree": lines() + lines(of=lambda s: 1.02 * us(s)),
    "message_size": report(*(case(perfvalues={"d:g:latency": [us(s), 0, 0, 0, "us"]}, message_size=s) for s in SIZES)),
}


@pytest.mark.parametrize("layout", LATENCIES)
def test_latencies_by_size(layout: str) -> None:
    found = present(read(LATENCIES[layout].encode()).observations.ping_pong).medians
    assert found == pytest.approx({s: 1e-6 * us(s) for s in SIZES}, rel=0.011)


def test_a_stream_beside_them() -> None:
    for text in (
        lines() + lines("osu_bw on dom:gpu using gnu", "bw_{}", rate, "MB/s"),
        report(case(), case("osu_bw", "bandwidth_{}", rate, "MB/s")),
    ):
        found = read(text.encode())
        assert present(found.observations.stream).medians == pytest.approx({s: 1e-6 * gap(s) for s in SIZES}, rel=0.01)
        assert found.window == 64


LEFT_OUT = {
    "no size": lines("osu_latency on d:g using gnu", "latency"),
    "not the mean": lines(variable="max_latency_{}"),
    "a collective": lines("osu_allreduce on d:g using gnu"),
    "threads": lines("osu_latency_mt on d:g using gnu"),
    "no test": report(case("P2PLatency")),
    "another executable": report(case(executable="osu_get_latency")),
    "failed": table(of=lambda _: float("nan")),
    "failed in a report": report(case(perfvalues={"d:g:latency_8": [None, 0, None, None, "us"]})),
    "a bandwidth of one message": report(case("IMB_PingPong", "bandwidth_{}", rate, "MB/s")),
    "no performance": report(case(perfvalues={})),
}


@pytest.mark.parametrize("why", LEFT_OUT)
def test_a_figure_without_test_size_or_value_is_named(why: str) -> None:
    with pytest.raises(ImportFormatError, match=r"f: is ReFrame's, without a test and size: .*; valid: .*rfm_job.out"):
        read(LEFT_OUT[why].encode(), "f")
    if '"runs"' not in LEFT_OUT[why]:
        found = read((LEFT_OUT[why] + lines()).encode())
        assert "not used: '" in found.notes[0]
        assert len(present(found.observations.ping_pong)) == len(SIZES)


REFUSED = {
    "unit": (lines(unit="ms"), "f:1: unit = 'ms' of 'latency_1 of osu_latency'; valid: us"),
    "no unit": (report(case(unit=None)), "f: unit = 'None' of 'latency_1 of osu_latency'; valid: us"),
    "value": (table(of=lambda _: -1), "f:2: latency_1 = '-1.000'; valid: a finite number"),
    "no bandwidth": (lines("osu_bw", "bw_0", us, "MB/s"), "f:1: size = '0'; valid: a whole number from 1"),
    "another check's row": (table() + "pass|2024|x\n", "f:3: row 'pass|2024|x' has 3 of 32 columns, or is cut off"),
    "cut off": (table()[:-1], "of 32 columns, or is cut off; valid: rows of one check, as the header says"),
    "half a report": (report(case())[:-5], "f: is no whole report of ReFrame's; valid: its runs"),
    "no list": (report(case(perfvalues=[1])), "f: is no whole report of ReFrame's; valid: its runs"),
    "two systems": (lines() + lines("osu_latency on eiger:mc using gnu"), "runs of two settings, .*'dom+gpu+gnu'"),
    "two environments": (table() + table(header=False, environ="intel"), "two settings, .*such as 'dom+gpu+intel'"),
    "two partitions, two tests": (
        report(case(), case("osu_bw", "bw_{}", rate, "MB/s", partition="mc")), "two settings, .*such as 'dom+mc+gnu'"
    ),
    "two jobs": (
        report(case(), case(of=lambda s: 1.2 * us(s), jobid=8)), "two runs of osu_latency differ .*job 7.*job 8.*--take"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_nothing_is_guessed(what: str) -> None:
    text, said = REFUSED[what]
    with pytest.raises(ImportFormatError, match=re.escape(said).replace(r"\.\*", ".*")):
        read(text.encode(), "f")


@pytest.mark.parametrize(
    ("nodes", "place"),
    [
        ({"job_nodelist": "n[1-2]"}, "between nodes"),
        ({"job_nodelist": "n1,n2"}, "between nodes"),
        ({"job_nodelist": "n1"}, "within a node"),
        ({"job_nodelist": "null", "num_tasks_per_node": "1"}, "between nodes"),
        ({"job_nodelist": "null", "num_tasks_per_node": "2"}, "within a node"),
        ({"job_nodelist": "n[1-2]", "num_tasks": "64", "num_tasks_per_node": "32"}, "within a node"),
        ({"job_nodelist": "n[1-4]", "num_tasks": "4", "num_tasks_per_node": "1"}, "between nodes"),
        ({}, ""),
    ],
)
def test_where_its_ranks_ran(nodes: dict[str, str], place: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text(table("|", us, True, **nodes))
    (run,), _ = runs_of(path.read_bytes())
    assert run.heading == ", ".join(filter(None, ["osu_latency_test, job 7", place]))
    if place == "within a node":
        with pytest.raises(ImportFormatError, match=r"on one node: its list of nodes.*--intra"):
            collected([path])
    else:
        assert any("no file says where" in note for note in collected([path])[0].notes) == (not place)


def test_buffers_of_gpus_and_a_choice_of_two(tmp_path: Path) -> None:
    assert read(report(case(device_buffers="cuda")).encode()).runs[0].on_gpus
    (tmp_path / "f").write_text(lines() + lines("osu_latency on eiger:mc using gnu", of=lambda s: 2 * us(s)))
    (run,) = collected([tmp_path / "f"], take=["eiger+mc"])[0].runs
    assert dict(run.values)[8] == pytest.approx(2e-6 * us(8), rel=0.01)
