"""The suites whose tables are read: titles, columns, and comments around them.

OSU micro-benchmarks, OMB 2 to 7, their Python form and mpi4py's; and Intel MPI Benchmarks, 3.x to 2021.x:

    # OSU MPI Latency Test v5.6.2              # Benchmarking PingPong
    # Size          Latency (us)               # #processes = 2
    0                       1.55                   #bytes #repetitions      t[usec]   Mbytes/sec
                                                        0         1000         2.23         0.00

A latency, and t of a PingPong, is half a round trip; OSU's MB is 10^6 bytes. A bandwidth is that of a window of
messages and its answer (`windows.py` takes the answer out).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from pready.calibrate.importers.measured import Test

Quantity = Literal["size", "time", "rate", "messages", "validation", "other"]
"""What a column holds: bytes, us, MB/s of 10^6 bytes, messages/s, whether the payload was right."""
Fact = Callable[[re.Match[str]], dict[str, Any]]
"""Fields of a run, by the match of a comment that says them."""


class Suite(NamedTuple):
    """Tests by their titles; how a title looks, whose groups are `test`, or `other` of tests that are not known, and
    fields of its run; columns, whose groups are quantities; what comments below a title say of its run, and what
    comments before say of all runs that follow."""

    tests: Mapping[str, Test]
    title: re.Pattern[str]
    columns: re.Pattern[str]
    facts: Mapping[re.Pattern[str], Fact]
    before: Mapping[re.Pattern[str], Fact]


LATENCY, STREAM = Test("osu_latency", "ping_pong"), Test("osu_bw", "stream", "rate")
PAIRS = Test("osu_mbw_mr", "pair_rates", "messages")
_CROWD = "it says how long a message takes among others, not alone"
_BOTH = "both ways at once bound no cost of one"
_POLLING = "polling by the threads that wait is in it"


def _pairs(said: re.Match[str]) -> dict[str, Any]:
    return {"pairs": max(int(said[1]), 1), **({"window": int(said[2])} if re.fullmatch(r"\d{1,9}", said[2]) else {})}


OSU = Suite(
    {
        "latency": LATENCY,
        "bandwidth": STREAM,
        "multiple bandwidth / message rate": PAIRS,
        "multi latency": Test("osu_multi_lat", "unused", why=_CROWD),
        "bi-directional bandwidth": Test("osu_bibw", "unused", why=_BOTH),
        "multi-threaded latency": Test("osu_latency_mt", "unused", why=_POLLING),
    },
    re.compile(
        r"#\s*(?:(?:OSU|OMB(?:[- ]?(?:Python|Java))?)\s+|(?=MPI\s))"
        r"(?:MPI(?P<on_gpus>-\w+)?\s+(?P<test>.+?)|(?P<other>.+?))"
        r"\s+Test(?:\s+(?:v|\(Version )(?P<version>[0-9][0-9.]*[^\s)]*)|\s*$)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<size>Size(?: [(\[]B[)\]])?)|(?P<time>(?:Avg )?Latency ?[(\[]us[)\]])"
        r"|(?P<rate>(?:Bandwidth [(\[])?MB/s[)\]]?)|(?P<messages>Messages/s)|(?P<validation>Validation)"
        r"|(?P<other>(?:Min|Max) Latency ?\(us\)|P\d+ Tail (?:Lat\(us\)|BW\(MB/s\))|Iterations|Transmit Size)"
    ),
    {
        re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\S+)\s*\]", re.I): _pairs,
        re.compile(r"#\s*(?:Send Buffer|Rank 0 Memory) on (\w+).* (?:Buffer|Memory) on (\w+)", re.I): lambda said: {
            "on_gpus": any(side.upper() != "HOST" for side in said.groups())
        },
    },
    {},
)
_SIDE = "so that ranks 0 and 1 were side by side, unless ranks were dealt to nodes in turn (-npmin takes all)"
IMB = Suite(
    {
        "pingpong": Test("IMB PingPong", "ping_pong"),
        "pingpongspecificsource": Test("IMB PingPong", "ping_pong"),
        "pingping": Test("IMB PingPing", "unused", why="two messages that cross are not one alone"),
        "multi-pingpong": Test("IMB Multi-PingPong", "unused", why=_CROWD),
        "uniband": Test("IMB Uniband", "pair_rates", "messages"),
        "multi-uniband": Test("IMB Uniband", "pair_rates", "messages"),
        "biband": Test("IMB Biband", "unused", why=_BOTH),
        "pingpongmt": Test("IMB PingPongMT", "unused", why=_POLLING),
    },
    re.compile(r"#\s*Benchmarking\s+(?P<test>\S+)", re.I),
    re.compile(
        r"(?P<size>#bytes)|(?P<time>t(?:_avg)?\[usec\])|(?P<rate>Mbytes/sec)|(?P<messages>Msg/sec)"
        r"|(?P<other>#repetitions|t_(?:min|max)\[usec\]|defects)"
    ),
    {
        re.compile(r"#\s*#?processes\s*=\s*(\d{1,9})", re.I): lambda said: {"pairs": max(int(said[1]) // 2, 1)},
        re.compile(r"#\s*\(\s*(\d{1,9}) groups of 2 processes", re.I): lambda said: {"pairs": max(int(said[1]), 1)},
        re.compile(r"#\s*\(?\s*(\d{1,9}) additional processes waiting", re.I): lambda said: {
            "near": f"{said[1]} more processes waited, {_SIDE}"
        },
    },
    {
        re.compile(r"#\s*Intel\s*\(R\)\s*MPI Benchmarks?\s+(?:Suite )?V?([0-9][0-9.]*)", re.I): lambda said: {
            "version": said[1].rstrip("."),
            "on_gpus": False,
        },
        re.compile(r"#.*(?:IMB-\w+-GPU|-mem_alloc_type\s+(?!cpu))", re.I): lambda _: {"on_gpus": True},
    },
)
SUITES = (OSU, IMB)
