"""Results and records of other tools: known by their name or first bytes, refused by name with what to run instead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

HEAD = 1 << 16
"""Bytes of a file that say whose it is."""
BENCHMARKS = "osu_latency and osu_bw, or IMB-MPI1 PingPong and Uniband, between the same two nodes"
CAPTURE = "a run of the application under 'pready capture'"


class Tool(NamedTuple):
    """A tool: how its files look, by text or by name, what it records, and what to run instead."""

    name: str
    text: re.Pattern[str] | None
    file: re.Pattern[str] | None
    records: str
    instead: str


def _tool(name: str, text: str, file: str, records: str, instead: str) -> Tool:
    made = [re.compile(pattern, re.M) if pattern else None for pattern in (text, file)]
    return Tool(name, made[0], made[1], records, instead)


_BELOW, _APPLICATION = "messages below MPI, without an MPI library's costs", "an application, with totals for a step"
_SUITE_TITLE = re.compile(r"#\s*(?:OSU|OMB|Benchmarking)\b|\|reframe |_value[|,]|\"testcases\"")  # or ReFrame's records
TOOLS = (
    *(
        _tool(name, text, "", _BELOW, BENCHMARKS)
        for name, text in (
            ("fabtests (fi_pingpong, fi_rdm_pingpong)", r"^[ \t]*bytes[ \t]+(?:#sent[ \t]+#ack|iters)[ \t]+total"),
            ("ucx_perftest", r"overhead \(usec\)|latency \(usec\)\s*\|\s*bandwidth"),
            (
                "perftest (ib_write_bw, ib_send_lat)",
                r"#bytes[\s,]+#iterations[\s,]+(?:BW peak|t_min)|(?:Send|Write|Read) (?:\w+ )?(?:BW|Latency) Test",
            ),
            ("NetPIPE", r"^[ \t]*\d+:[ \t]+\d+[ \t]+(?:bytes|B)[ \t]+\d+ times -->"),
            ("NCCL's or RCCL's tests", r"[nr]ccl-tests|# nThread \d+ nGpus|algbw.*busbw"),
            ("iperf", r"iperf|^\[ *ID\] Interval"),
        )
    ),
    _tool("mpptest", r"^#p0\s+p1\s+dist\s+len", "", "messages in a table without its test's name", BENCHMARKS),
    *(
        _tool(name, text, file, _APPLICATION, CAPTURE)
        for name, text, file in (
            ("mpiP", r"\A\s*@ mpiP\b", r"\.mpiP$"),
            ("Caliper", r"^__rec=|Sends \((?:max|total)\)|\"column_metadata\"", r"\.cali$"),
            (
                "TAU",
                r"\A\d+ templated_functions|<metadata>.*TAU",
                r"^profile\.\d+\.\d+\.\d+$|^tauprofile.*\.xml$|\.ppk$",
            ),
            (
                "HPCToolkit",
                r"<HPCToolkitExperiment|\AHPCPROF|\AHPCTOOLKIT",
                r"\.hpcrun$|^hpctoolkit-|^experiment\.xml$",
            ),
            ("CrayPat", r"^CrayPat/X:|^Table \d+:\s+Profile by", r"\.(?:xf|ap2)$|\+(?:pat|apa|orig)(?:\+|$)"),
            ("Cube (Scalasca)", r"<cube version=", r"\.cubex?$"),
            ("Extra-P", r"\A(?:#.*\n|\s)*PARAMETER \w+\s*$|\A\s*\{\"params\":", r"\.extra-?p$"),
            (
                "hatchet",
                r"\"frame\"\s*:\s*\{[^}]*\"name\"|\"metrics\"\s*:.{0,200}\"frame\"",
                "",
            ),
        )
    ),
)


def tool_of(path: Path, data: bytes | None = None) -> Tool | None:
    """The tool that wrote a file or a folder, by its name and its first bytes (`data`, or else they are read); None:
    none of them.

    A suite's title or a record of ReFrame in the text is a benchmark's output, whatever else stands beside it.
    """
    if data is None:
        try:
            with path.open("rb") as stream:
                data = stream.read(HEAD)
        except OSError:
            data = b""
    text = data[:HEAD].decode("latin-1")
    titled = _SUITE_TITLE.search(text)
    for tool in TOOLS:
        if tool.file is not None and tool.file.search(path.name):
            return tool
        if tool.text is not None and not titled and tool.text.search(text):
            return tool
    return None
