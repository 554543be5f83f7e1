"""Intel MPI Benchmarks, 3.x to 2021.x: those of messages, threads and puts.

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

from pready.calibrate.importers.formats import Fact, Section, Suite, register
from pready.calibrate.importers.measured import Test
from pready.calibrate.importers.text import Line

_COLUMNS = re.compile(
    r"(?P<size>#bytes)|(?P<time>t(?:_avg)?\[usec\])|(?P<rate>Mbytes/sec)|(?P<messages>Msg/sec)"
    r"|(?P<other>#repetitions|t_(?:min|max)\[usec\]|defects)"
)
_CROSS, _CROWD = "two messages that cross are not one alone", "it says how long a message takes among others"
_TESTS = {
    "pingpong": Test("IMB PingPong", "ping_pong"),
    "pingping": Test("IMB PingPing", "unused", why=_CROSS),
    "multi-pingpong": Test("IMB Multi-PingPong", "unused", why=_CROWD),
    "uniband": Test("IMB Uniband", "pair_rates", "messages"),
    "biband": Test("IMB Biband", "both_ways", "rate", 2),
    "biband, pairs": Test("IMB Biband of pairs", "unused", "rate", why="several pairs send both ways at once"),
    "pingpongmt": Test("IMB PingPongMT", "threaded"),
    "unidir_put": Test("IMB Unidir_Put", "puts"),
    "unidir_put, aggregate": Test("IMB Unidir_Put, aggregate", "put_streams"),
    "unidir_get": Test("IMB Unidir_Get", "unused", why="no approach gets data"),
}
_TESTS |= {"pingpongspecificsource": _TESTS["pingpong"], "multi-uniband": _TESTS["uniband"]}
_TESTS["multi-biband"] = _TESTS["biband"]
_OF_TWO = ("ping_pong", "puts", "put_streams", "threaded")
"""Kinds of tests of two processes."""


def _opened(title: re.Match[str], line: Line) -> Section:
    # IMB-EXT ends its epoch by a fence, IMB-RMA by a flush; what names the suite is before the first title.
    return Section(line, _TESTS.get(title[1].lower()), title[1], synchronisation="MPI_Win_fence")


def _version(section: Section, said: re.Match[str]) -> dict[str, Any]:
    rma = (said[2] or "").upper() == "RMA"
    return {
        "version": said[1].rstrip("."),
        "synchronisation": "MPI_Win_flush" if rma else section.synchronisation,
    }


def _processes(section: Section, said: re.Match[str]) -> dict[str, Any]:
    count, threads, test = int(said[1]), int(said[2] or 1), section.test
    if test is not None and count != 2 and test.kind in _OF_TWO:
        raise section.line.error(f"#processes = {count} of {section.called}", "2")
    test = _TESTS["biband, pairs"] if count > 2 and test is _TESTS["biband"] else test
    return {"pairs": max(count // 2, 1), "threads": (threads, threads), "divide": threads, "test": test}


def _mode(section: Section, said: re.Match[str]) -> dict[str, Any]:
    puts = section.test in (_TESTS["unidir_put"], _TESTS["unidir_put, aggregate"])
    return {"test": _TESTS["unidir_put" if said[1] else "unidir_put, aggregate"]} if puts else {}


def _near(_: Section, said: re.Match[str]) -> dict[str, Any]:
    side = "so that ranks 0 and 1 were side by side, unless ranks were dealt to nodes in turn (-npmin takes all)"
    return {"near": f"{said[1]} more processes waited, {side}"}


_BANNER = re.compile(
    r"#\s*Intel\s*\(R\)\s*MPI Benchmarks?\s+(?:Suite )?V?([0-9][0-9.]*)(?:.*?,\s*([\w-]+) part)?", re.I
)
_FACTS = (
    Fact(_BANNER, _version),
    Fact(re.compile(r"#.*(?:IMB-\w+-GPU|-mem_alloc_type\s+(?!cpu))", re.I), lambda *_: {"memory": "GPU"}),
    Fact(re.compile(r"#\s*#?processes\s*=\s*(\d{1,9})(?:\s*\(threads:\s*(\d{1,6})\))?", re.I), _processes),
    Fact(
        re.compile(r"#\s*\(\s*(\d{1,9}) groups of 2 processes", re.I), lambda _, said: {"pairs": max(int(said[1]), 1)}
    ),
    Fact(re.compile(r"#\s*MODE:\s*(NON-)?AGGREGATE", re.I), _mode, begins=True),
    Fact(re.compile(r"#\s*\(?\s*(\d{1,9}) additional processes waiting", re.I), _near),
)
_TITLE = re.compile(r"#\s*Benchmarking\s+(\S+)", re.IGNORECASE)
register(Suite(_TESTS, _TITLE, _COLUMNS, _opened, _FACTS, _BANNER))
