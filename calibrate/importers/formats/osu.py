"""OSU micro-benchmarks, OMB 3 to 7, their Python form and mpi4py's: titles, columns, and comments around them.

    # OSU MPI Latency Test v5.6.2              # OSU MPI Bandwidth Test v7.3
    # Size          Latency (us)               # Datatype: MPI_CHAR.
    0                       1.55               # Size      Bandwidth (MB/s)
                                               1                       0.63

A latency is half a round trip, MB is 10^6 bytes. A bandwidth is that of a window of messages and its answer
(`windows.py` takes the answer out). A put's latency is that of MPI_Put with the synchronisation that the file names;
with post/start/complete/wait it is half a round trip, like a latency.
"""

from __future__ import annotations

import re
from typing import Any

from pready.calibrate.importers.formats import Fact, Section, Suite, register
from pready.calibrate.importers.measured import Test
from pready.calibrate.importers.text import Line

_TITLE = re.compile(
    r"#\s*(?:(?:OSU|OMB(?:[- ]?(?:Python|Java))?)\s+|(?=MPI\s))(?P<api>[A-Z+]+)(?:_(?P<call>\w+))?(?:-(?P<device>\w+))?"
    r"\s+(?P<test>.+?)\s+Test(?:\s+v(?P<version>[0-9][0-9.]*\S*)|\s*$)",
    re.IGNORECASE,
)
_COLUMNS = re.compile(
    r"(?P<size>Size(?: [(\[]B[)\]])?)|(?P<median>P50 Tail Lat\(us\))|(?P<time>(?:Avg )?Latency ?[(\[]us[)\]])"
    r"|(?P<rate>(?:Bandwidth [(\[])?MB/s[)\]]?)|(?P<messages>Messages/s)|(?P<validation>Validation)"
    r"|(?P<other>(?:Min|Max) Latency ?\(us\)|P\d+ Tail (?:Lat\(us\)|BW\(MB/s\))|Iterations|Transmit Size)"
)
_GETS, _CROWD = "no approach gets data", "it says how long a message takes among others, not alone"
_TESTS = {
    "latency": Test("osu_latency", "ping_pong"),
    "latency persistent": Test("osu_latency_persistent", "unused", why="osu_latency says it for all requests"),
    "multi latency": Test("osu_multi_lat", "unused", why=_CROWD),
    "bandwidth": Test("osu_bw", "stream", "rate"),
    "bi-directional bandwidth": Test("osu_bibw", "both_ways", "rate", 2),
    "multiple bandwidth / message rate": Test("osu_mbw_mr", "pair_rates", "messages"),
    "multi-threaded latency": Test("osu_latency_mt", "threaded"),
    "partitioned latency": Test("osu_partitioned_latency", "unused", why="it says no cost of its own"),
    "put latency": Test("osu_put_latency", "puts"),
    "put bandwidth": Test("osu_put_bw", "put_streams", "rate"),
    "get latency": Test("osu_get_latency", "unused", why=_GETS),
    "get bandwidth": Test("osu_get_bw", "unused", "rate", why=_GETS),
}
_TESTS["persistent latency"] = _TESTS["latency persistent"]


def _opened(title: re.Match[str], line: Line) -> Section:
    called = " ".join(filter(None, [title["call"], title["test"]]))
    test = _TESTS.get(" ".join(called.lower().split())) if title["api"].upper() == "MPI" else None
    return Section(line, test, called, version=title["version"] or "", memory=(title["device"] or "").upper())


def _pairs(section: Section, said: re.Match[str]) -> dict[str, Any]:
    window = int(said[2]) if re.fullmatch(r"\d{1,9}", said[2]) else section.window
    return {"pairs": max(int(said[1]), 1), "window": window}


def _threads(section: Section, said: re.Match[str]) -> dict[str, Any]:
    sending, receiving = section.threads
    return {"threads": (int(said[2]), receiving) if said[1].lower() == "sender" else (sending, int(said[2]))}


def _buffers(section: Section, said: re.Match[str]) -> dict[str, Any]:
    on_host = all(side.upper() == "HOST" for side in said.groups())
    return {"memory": "" if on_host else section.memory or "GPU"}


_FACTS = (
    Fact(re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\S+)\s*\]", re.I), _pairs),
    Fact(re.compile(r"#\s*Number of (Sender|Receiver) threads:\s*(\d{1,9})\s*$", re.I), _threads),
    Fact(re.compile(r"#\s*Synchronization:\s*(\S+)\s*$", re.I), lambda _, said: {"synchronisation": said[1]}),
    Fact(re.compile(r"#\s*(?:Send Buffer|Rank 0 Memory) on (\w+).* (?:Buffer|Memory) on (\w+)", re.I), _buffers),
    Fact(re.compile(r"#\s*Datatype:\s*(\S+?)\.?\s*$", re.I), lambda _, said: {"datatype": said[1]}, begins=True),
)
register(Suite(_TESTS, _TITLE, _COLUMNS, _opened, _FACTS))
