"""Intel MPI Benchmarks, 4.x to 2021.x: those of messages, threads and puts.

    # Benchmarking PingPong
    # #processes = 2
    #---------------------------------------------------
           #bytes #repetitions      t[usec]   Mbytes/sec
                0         1000         2.23         0.00

t of a PingPong is half a round trip. Mbytes/sec checks it: 10^6 bytes since IMB 2018, 2^20 before. The #bytes of
PingPongMT are those of all threads together, each in a ping-pong of its own (IMB-MT).
"""

from __future__ import annotations

import re
from dataclasses import replace

from pready.calibrate.importers.formats import Section, Suite, register
from pready.calibrate.importers.text import Line

_TESTS = {
    "pingpong": "IMB PingPong",
    "pingpongspecificsource": "IMB PingPong",
    "pingping": "IMB PingPing",
    "multi-pingpong": "IMB Multi-PingPong",
    "uniband": "IMB Uniband",
    "multi-uniband": "IMB Uniband",
    "biband": "IMB Biband",
    "pingpongmt": "IMB PingPongMT",
    "unidir_put": "IMB Unidir_Put",
    "unidir_get": "IMB Unidir_Get",
}
_OF_SEVERAL = ("IMB Uniband",)
"""Tests that take more than one pair."""


def _opened(title: re.Match[str], line: Line) -> Section:
    # IMB-EXT ends its epoch by a fence, IMB-RMA by a flush; what names the suite is before the first title.
    return Section(line, _TESTS.get(title[1].lower(), ""), title[1], synchronisation="MPI_Win_fence")


def _version(section: Section, said: re.Match[str]) -> None:
    section.version = said[1].rstrip(".")
    if (said[2] or "").upper() == "RMA":
        section.synchronisation = "MPI_Win_flush"


def _processes(section: Section, said: re.Match[str]) -> None:
    count, threads = int(said[1]), int(said[2] or 1)
    if section.test and count != 2 and section.test not in _OF_SEVERAL and not section.test.startswith("IMB Multi"):
        raise section.line.error(f"#processes = {count} of {section.called}", "2")
    section.pairs, section.threads = max(count // 2, 1), (threads, threads)
    section.divide = threads


def _groups(section: Section, said: re.Match[str]) -> None:
    section.pairs = max(int(said[1]), 1)


def _mode(section: Section, said: re.Match[str]) -> Section | None:
    if not section.test.startswith("IMB Unidir_Put"):
        return None
    test = "IMB Unidir_Put" if said[1] else "IMB Unidir_Put, aggregate"
    if section.rows:
        return replace(section, test=test, rows=[], over=False)
    section.test = test
    return None


def _waiting(section: Section, said: re.Match[str]) -> None:
    section.waiting = f"{said[1]} more processes waited, so ranks 0 and 1 lay side by side"


register(
    Suite(
        "Intel MPI Benchmarks",
        re.compile(r"#\s*Benchmarking\s+(\S+)", re.IGNORECASE),
        _opened,
        (
            (
                re.compile(r"#\s*Intel\s*\(R\)\s*MPI Benchmarks\s+([0-9][0-9.]*)(?:.*?,\s*([\w-]+) part)?", re.I),
                _version,
            ),
            (re.compile(r"#\s*#?processes\s*=\s*(\d{1,9})(?:\s*\(threads:\s*(\d{1,6})\))?", re.I), _processes),
            (re.compile(r"#\s*\(\s*(\d{1,9}) groups of 2 processes", re.I), _groups),
            (re.compile(r"#\s*MODE:\s*(NON-)?AGGREGATE", re.I), _mode),
            (re.compile(r"#\s*\(?\s*(\d{1,9}) additional processes waiting", re.I), _waiting),
        ),
    )
)
