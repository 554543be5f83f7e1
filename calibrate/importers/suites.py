"""The suites whose tables are read: titles, columns, and comments around them.

OSU micro-benchmarks, OMB 2 to 7, their Python form and mpi4py's; and Intel MPI Benchmarks, 3.x to 2021.x:

    # OSU MPI Latency Test v5.6.2              # Benchmarking PingPong
    # Size          Latency (us)               # #processes = 2
    0                       1.55                   #bytes #repetitions      t[usec]   Mbytes/sec
                                                        0         1000         2.23         0.00

A latency, and t of a PingPong, is half a round trip; OSU's MB is 10^6 bytes. A bandwidth is that of a window of
messages and its answer (`windows.py` takes the answer out).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pready.calibrate.importers.measured import Test

Fact = Callable[[re.Match[str]], dict[str, Any]]
"""Fields of a run, by the match of a comment that says them."""


class Suite(NamedTuple):
    """Tests by their titles; how a title looks, whose groups are `test`, or `other` of tests that are not known, and
    fields of its run; columns, whose groups are what they hold (size in bytes, time in us, rate in MB/s of 10^6 bytes,
    messages/s, validation); what comments below a title say of its run, and those before of all that follow."""

    tests: Mapping[str, Test]
    title: re.Pattern[str]
    columns: re.Pattern[str]
    facts: Mapping[re.Pattern[str], Fact]
    before: Mapping[re.Pattern[str], Fact]


LATENCY, STREAM, PAIRS = Test("osu_latency", "ping_pong"), Test("osu_bw", "stream"), Test("osu_mbw_mr", "pair_rates")
PING_PONG, UNIBAND = Test("IMB PingPong", "ping_pong"), Test("IMB Uniband", "pair_rates")


def _pairs(said: re.Match[str]) -> dict[str, Any]:
    return {"pairs": max(int(said[1]), 1), **({"window": int(said[2])} if re.fullmatch(r"\d{1,9}", said[2]) else {})}


OSU = Suite(
    {"latency": LATENCY, "bandwidth": STREAM, "multiple bandwidth / message rate": PAIRS},
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
    {"pingpong": PING_PONG, "pingpongspecificsource": PING_PONG, "uniband": UNIBAND, "multi-uniband": UNIBAND},
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
