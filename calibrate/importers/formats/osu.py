"""OSU micro-benchmarks, OMB 3 to 7 and their Python and Java forms: titles, and comments around them.

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
from dataclasses import replace

from pready.calibrate.importers.formats import Section, Suite, register
from pready.calibrate.importers.text import Line

_TITLE = re.compile(
    r"#\s*(?:OSU|OMB(?:[- ]?(?P<language>Python|Java))?) (?P<api>[A-Z+]+)(?:_(?P<call>\w+))?(?:-(?P<device>\w+))?\s+"
    r"(?P<test>.+?)\s+Test(?:\s+v(?P<version>[0-9][0-9.]*\S*)|\s*$)",
    re.IGNORECASE,
)
_TESTS = {
    "latency": "osu_latency",
    "persistent latency": "osu_latency_persistent",
    "latency persistent": "osu_latency_persistent",
    "multi latency": "osu_multi_lat",
    "bandwidth": "osu_bw",
    "bi-directional bandwidth": "osu_bibw",
    "multiple bandwidth / message rate": "osu_mbw_mr",
    "multi-threaded latency": "osu_latency_mt",
    "partitioned latency": "osu_partitioned_latency",
    "put latency": "osu_put_latency",
    "put bandwidth": "osu_put_bw",
    "get latency": "osu_get_latency",
    "get bandwidth": "osu_get_bw",
}


def _opened(title: re.Match[str], line: Line) -> Section:
    called = " ".join(filter(None, [title["call"], title["test"]]))
    name = " ".join(called.lower().split()) if title["api"].upper() == "MPI" else ""
    memory = (title["device"] or "").upper()
    return Section(line, _TESTS.get(name, ""), called, version=title["version"] or "", memory=memory)


def _pairs(section: Section, said: re.Match[str]) -> None:
    section.pairs = max(int(said[1]), 1)
    section.window = int(said[2]) if said[2].isdigit() and len(said[2]) < 10 else section.window


def _threads(section: Section, said: re.Match[str]) -> None:
    sending, receiving = section.threads
    count = int(said[2])
    section.threads = (count, receiving) if said[1].lower() == "sender" else (sending, count)


def _synchronisation(section: Section, said: re.Match[str]) -> None:
    section.synchronisation = said[1]


def _buffers(section: Section, said: re.Match[str]) -> None:
    on_host = all(side.upper() == "HOST" for side in said.groups())
    section.memory = "" if on_host else section.memory or "GPU"


def _datatype(section: Section, said: re.Match[str]) -> Section | None:
    if section.datatype and section.rows:
        return replace(section, datatype=said[1], rows=[], over=False)
    section.datatype = said[1]
    return None


register(
    Suite(
        "OSU micro-benchmarks",
        _TITLE,
        _opened,
        (
            (re.compile(r"#\s*\[\s*pairs:\s*(\d{1,9})\s*\]\s*\[\s*window size:\s*(\S+)\s*\]", re.I), _pairs),
            (re.compile(r"#\s*Number of (Sender|Receiver) threads:\s*(\d{1,9})\s*$", re.I), _threads),
            (re.compile(r"#\s*Synchronization:\s*(\S+)\s*$", re.I), _synchronisation),
            (re.compile(r"#\s*(?:Send Buffer|Rank 0 Memory) on (\w+).* (?:Buffer|Memory) on (\w+)", re.I), _buffers),
            (re.compile(r"#\s*Datatype:\s*(\S+?)\.?\s*$", re.I), _datatype),
        ),
    )
)
