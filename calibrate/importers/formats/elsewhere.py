"""Files that are of no use here: benchmarks of what is below MPI, and records of applications; named, with what is."""

from __future__ import annotations

import re

from pready.calibrate.importers.benchmarks import Measured
from pready.calibrate.importers.formats import WholeFile, register
from pready.calibrate.importers.text import ImportFormatError

_KNOWN = (
    (re.compile(r"^[ \t]*bytes[ \t]+#sent[ \t]+#ack[ \t]+total", re.M), "fabtests (fi_pingpong, fi_rdm_pingpong)"),
    (re.compile(r"overhead \(usec\)|latency \(usec\)\s*\|\s*bandwidth", re.M), "ucx_perftest"),
    (re.compile(r"#bytes\s+#iterations\s+(?:BW peak|t_min)|(?:RDMA_)?(?:Send|Write|Read) (?:\w+ )?(?:BW|Latency) Test"),
     "perftest (ib_write_bw, ib_send_lat)"),
    (re.compile(r"^[ \t]*\d+:[ \t]+\d+ bytes[ \t]+\d+ times -->", re.M), "NetPIPE"),
    (re.compile(r"nccl-tests|# nThread \d+ nGpus", re.I), "NCCL's tests"),
    (re.compile(r"iperf|^\[ *ID\] Interval", re.M), "iperf"),
)  # fmt: skip
_TITLE = re.compile(r"#\s*(?:OSU|OMB|Benchmarking)\b")


_RECORDS = (
    (re.compile(r"^\s*@ mpiP\b"), "an mpiP report"),
    (re.compile(r"^__rec=|Sends \((?:max|total)\)"), "of Caliper"),
)


def _which(text: str) -> str | None:
    return None if _TITLE.search(text) else next((name for mark, name in _KNOWN if mark.search(text)), None)


def _record(text: str) -> str | None:
    return next((name for mark, name in _RECORDS if mark.search(text)), None)


def _read(text: str, source: str) -> tuple[list[Measured], list[str]]:
    if found := _record(text):
        valid = f"pready workload {source}"
        raise ImportFormatError(f"is {found}, of an application and not of a machine", valid=valid, source=source)
    raise ImportFormatError(
        f"is of {_which(text)}, which measures below MPI: no overheads and protocols of an MPI library",
        valid="osu_latency and osu_bw between the same two nodes",
        source=source,
    )


register(WholeFile("elsewhere", lambda text: _which(text) is not None or _record(text) is not None, _read))
