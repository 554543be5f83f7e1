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
from typing import Any

from pready.calibrate.importers.benchmarks import Test
from pready.calibrate.importers.formats import Fact, Section, Suite, register
from pready.calibrate.importers.text import Line

_TESTS = {
    "pingpong": Test("IMB PingPong", "ping_pong"),
    "pingping": Test("IMB PingPing", "ping_pong", stands_in="both ranks send at once"),
    "multi-pingpong": Test("IMB Multi-PingPong", "ping_pong", stands_in="several pairs at once"),
    "uniband": Test("IMB Uniband", "pair_rates", "messages"),
    "biband": Test("IMB Biband", "both_ways", "rate", 2),
    "biband, pairs": Test("IMB Biband of pairs", "unused", "rate", stands_in="as several pairs both ways at once"),
    "pingpongmt": Test("IMB PingPongMT", "threaded"),
    "unidir_put": Test("IMB Unidir_Put", "puts"),
    "unidir_put, aggregate": Test("IMB Unidir_Put, aggregate", "put_streams"),
    "unidir_get": Test("IMB Unidir_Get", "unused", stands_in="as no approach gets data"),
}
_TESTS |= {"pingpongspecificsource": _TESTS["pingpong"], "multi-uniband": _TESTS["uniband"]}
_TESTS["multi-biband"] = _TESTS["biband"]
_OF_SEVERAL = ("IMB Uniband", "IMB Biband", "IMB Multi-PingPong")
"""Tests that take more than one pair."""


def _opened(title: re.Match[str], line: Line) -> Section:
    # IMB-EXT ends its epoch by a fence, IMB-RMA by a flush; what names the suite is before the first title.
    test = _TESTS.get(title[1].lower())
    return Section(line, test.name if test else "", title[1], synchronisation="MPI_Win_fence")


def _version(section: Section, said: re.Match[str]) -> dict[str, Any]:
    rma = (said[2] or "").upper() == "RMA"
    return {
        "version": said[1].rstrip("."),
        "synchronisation": "MPI_Win_flush" if rma else section.synchronisation,
    }


def _processes(section: Section, said: re.Match[str]) -> dict[str, Any]:
    count, threads = int(said[1]), int(said[2] or 1)
    if section.test and count != 2 and section.test not in _OF_SEVERAL:
        raise section.line.error(f"#processes = {count} of {section.called}", "2")
    test = "IMB Biband of pairs" if count > 2 and section.test == "IMB Biband" else section.test
    return {"pairs": max(count // 2, 1), "threads": (threads, threads), "divide": threads, "test": test}


def _mode(section: Section, said: re.Match[str]) -> dict[str, Any]:
    test = "IMB Unidir_Put" if said[1] else "IMB Unidir_Put, aggregate"
    return {"test": test} if section.test.startswith("IMB Unidir_Put") else {}


def _waiting(_: Section, said: re.Match[str]) -> dict[str, Any]:
    return {"waiting": f"{said[1]} more processes waited, so ranks 0 and 1 lay side by side"}


_FACTS = (
    Fact(re.compile(r"#\s*Intel\s*\(R\)\s*MPI Benchmarks\s+([0-9][0-9.]*)(?:.*?,\s*([\w-]+) part)?", re.I), _version),
    Fact(re.compile(r"#\s*#?processes\s*=\s*(\d{1,9})(?:\s*\(threads:\s*(\d{1,6})\))?", re.I), _processes),
    Fact(
        re.compile(r"#\s*\(\s*(\d{1,9}) groups of 2 processes", re.I), lambda _, said: {"pairs": max(int(said[1]), 1)}
    ),
    Fact(re.compile(r"#\s*MODE:\s*(NON-)?AGGREGATE", re.I), _mode, begins=True),
    Fact(re.compile(r"#\s*\(?\s*(\d{1,9}) additional processes waiting", re.I), _waiting),
)
register(Suite(_TESTS, re.compile(r"#\s*Benchmarking\s+(\S+)", re.IGNORECASE), _opened, _FACTS))
