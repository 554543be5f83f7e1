"""ReFrame's performance logs and run reports, of checks that are named as a test of OSU or IMB.

    …|reframe 3.9|osu_latency on sys:cpu using gnu|jobid=1|latency_8=1.2|ref=0 (l=null, u=null)|us         up to 3
    result|name|system|partition|environ|job_nodelist|latency_8_value|latency_8_unit|…                     since 4.3
    job_completion_time,version,display_name,system,partition,environ,jobid,result,latency_8_value,…       4.0 to 4.2
    {"runs": [{"testcases": [{"name": …, "perfvalues": {"sys:cpu:latency_8": [1.2, 0, null, null, "us"]}}]}]}

A figure is read if its variable's name ends in its size in bytes, or its check has a `message_size`, and its unit is
the suite's own: us, or MB/s of 10^6 bytes. Two systems, partitions or environments are two machines.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from pready.calibrate.fit.observations import DEFAULT_WINDOW
from pready.calibrate.importers.command import Command
from pready.calibrate.importers.measured import Measured, Row, gathered
from pready.calibrate.importers.suites import LATENCY, PING_PONG, STREAM
from pready.calibrate.importers.text import ImportFormatError, Line, lines, number, whole
from pready.model.common.errors import shown

_HEADER = re.compile(r"(?:[^|,\n]*[|,])*?(?:check_|display_)?name[|,].*_value[|,]")
_LOGGED = re.compile(
    r"[^|]*\|reframe [^|]*\|(?P<check>[^|]*?)(?: /\w+)?(?:(?: on | ?@)(?P<where>[^ |]+(?: using [^ |]+)?))?\|"
    r"(?:.*\|)?(?P<name>[^|=]+)=(?P<value>[^|=]*)\|\s*ref=[^|]*\|(?P<unit>[^|]*)"
)
_CHECK = re.compile(
    r"(?<![a-z])(?:osu[_ ]?(?:mpi[_ ]?)?(?:(?P<latency>latency)|bw|bandwidth)"
    r"|imb(?:[_ -]?mpi1)?[\W_]*(?P<imb>ping_?pong))(?:[_ ]?(?:test|check|run|benchmark))?(?![a-z0-9_-])",
    re.I,
)
_VARIABLE = re.compile(
    r"(?:osu_|avg_)?(?:(?P<time>latency|lat|time|t)|bandwidth|bw)(?:_(?P<size>\d+)(?:_?B|_?bytes)?)?", re.I
)
_SIZE = re.compile(r" %(?:message_?|msg_?)?size=(\d+)(?!\S)", re.I)
_Figure = tuple[Line, Mapping[str, Any], str, str, str]  # a check by ReFrame's names; a variable's name, value and unit


def recognised(text: str) -> bool:
    head = text[:10_000].lstrip()
    return "|reframe " in text or bool(_HEADER.match(head)) or (head[:1] == "{" and '"perfva' in text)


def read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    """The runs of its checks, and a note of figures that are not used."""
    figures = _report(text, source) if text.lstrip()[:1] == "{" else _log(text, source)
    found = [_row(*figure) for figure in figures]
    other = [*dict.fromkeys(each for each in found if isinstance(each, str))]
    told = f"{', '.join(map(shown, other[:4])) or 'no figures'}{', …' if len(other) > 4 else ''}"
    rows = [each for each in found if not isinstance(each, str)]
    if not rows:
        valid = "checks named osu_latency, osu_bw or IMB_PingPong, variables such as latency_8; or their rfm_job.out"
        raise ImportFormatError(f"is ReFrame's, without a test and size: {told}", valid=valid, source=source)
    notes = [f"not used: {told}, without a test, a size or a value"] if other else []
    return gathered(rows), notes


def _row(line: Line, check: Mapping[str, Any], variable: str, value: str, unit: str) -> Row | str:
    """A figure's run, size and time; or its name, if it does not say of which test and size, or was not measured."""
    name = str(check.get("display_name") or check.get("name"))
    program = f"{PurePath(str(check.get('executable', ''))).name} {check.get('executable_opts', '')}"
    of = _CHECK.search(program if re.match(r"osu_|imb", program, re.I) else name)
    says, sized, told = _VARIABLE.fullmatch(variable), _SIZE.search(name), f"{variable} of {name}"
    if of is None or says is None or bool(of["latency"] or of["imb"]) != bool(says["time"]):
        return told
    digits = says["size"] or (sized[1] if sized else str(check.get("message_size")))
    if not digits.isdigit() or value.lower() in ("", "null", "none", "nan"):
        return told
    test, wanted = (PING_PONG if of["imb"] else LATENCY, "us") if says["time"] else (STREAM, "MB/s")
    if unit != wanted:
        raise line.error(f"unit = {shown(unit)} of {shown(told)}", wanted)
    size, figure = whole(digits, "size", line, least=int(test is STREAM)), number(value, variable, line)
    on = [str(check[key]) for key in ("system", "partition", "environ", "environment") if check.get(key)]
    where = "+".join(on).replace(":", "+").replace(" using ", "+")
    about, place = _SIZE.sub("", name), _place(check)
    run = Measured(
        test, line.source, window=DEFAULT_WINDOW if test is STREAM else 0, line=line.number,
        on_gpus=re.search("cuda|rocm|openacc|gpu", f"{name} {program} {check.get('device_buffers')}", re.I) is not None,
        command=Command(where, settings=(where,) if where else ()),
        heading=", ".join(filter(None, [about, f"job {check['jobid']}" if check.get("jobid") else "", place])),
        near="its list of nodes, or ranks of a node, says so" if place == "within a node" else "",
    )  # fmt: skip
    return (test, about, where, place, run.on_gpus), run, size, 1e-6 * (figure if says["time"] else size / figure)


def _place(check: Mapping[str, Any]) -> str:
    """Where ranks 0 and 1 were, by the nodes of the job or its ranks of a node; empty: it is not said."""
    nodes = check.get("job_nodelist") or check.get("nodelist") or ""
    names = {*map(str, nodes if isinstance(nodes, list) else str(nodes).split(","))} - {"", "null", "None"}
    ranks, of_a_node = (str(check.get(key) or "null") for key in ("num_tasks", "num_tasks_per_node"))
    if of_a_node == "2" or (ranks not in ("2", "null") and of_a_node != "1"):  # others wait, and these are side by side
        return "within a node"
    several = len(names) > 1 or any(re.search(r"\[.*-", name) for name in names)
    return "between nodes" if several or (not names and of_a_node == "1") else "within a node" if names else ""


def _report(text: str, source: str) -> list[_Figure]:
    """Of a run report: `perfvars` up to 4.6, `perfvalues` since."""
    try:
        cases = [case for run in json.loads(text)["runs"] for case in run["testcases"]]
        checks = [{**case.get("check_params", {}), **case.get("check_vars", {}), **case} for case in cases]
        return [
            (Line("", 0, source), check, name.rpartition(":")[2], str(value), str(unit))
            for check in checks
            for name, value, unit in (
                *((name, each[0], each[4]) for name, each in (check.get("perfvalues") or {}).items()),
                *((each["name"], each["value"], each["unit"]) for each in check.get("perfvars") or []),
            )
        ]
    except (ValueError, RecursionError, AttributeError, TypeError, LookupError):
        valid = "its runs, their testcases and perfvalues"
        raise ImportFormatError("is no whole report of ReFrame's", valid=valid, source=source) from None


def _log(text: str, source: str) -> Iterator[_Figure]:
    columns, mark = list[str](), "|"
    for line in lines(text, source):
        if match := _LOGGED.match(line.text):
            said = dict(re.findall(r"\|(\w+)=([^|]*)", line.text))
            check = {**said, "name": match["check"], "system": match["where"]}
            yield line, check, match["name"], match["value"], match["unit"]
        elif _HEADER.match(line.text):
            mark = "|" if "|" in line.text else ","
            columns = [name.strip().removeprefix("check_") for name in line.text.split(mark)]
        elif columns and line.text:
            cells = [cell.strip() for cell in line.text.split(mark)]
            if len(cells) != len(columns) or line.cut:
                told = f"row {shown(line.text)} has {len(cells)} of {len(columns)} columns, or is cut off"
                raise line.error(told, "rows of one check, as the header says")
            check = dict(zip(columns, cells, strict=True))
            for name in (each.removesuffix("_value") for each in columns if each.endswith("_value")):
                yield line, check, name, check[f"{name}_value"], check.get(f"{name}_unit", "")
