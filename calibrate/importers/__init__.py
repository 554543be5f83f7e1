"""Files that users already have, as plain arrays in SI units.

    osu.py        OSU's tests of two ranks            mpip.py         mpiP reports
    imb.py        IMB PingPong                        benchmarks.py   the result of an importer
    netgauge.py   Netgauge LogGP                      text.py         reading and refusing a file
    collect.py    files and folders as one            one_node.py     whether two ranks shared a node
    pasted_tables.py   OSU's results as csv or Markdown

Each has `parse_x(bytes, source)`; `import_benchmark(path)` tells benchmarks apart. Every fault of a file is an
ImportFormatError, one line.
"""

from __future__ import annotations

from pathlib import Path

from pready.calibrate.importers.benchmarks import Beside, Imported, combine
from pready.calibrate.importers.imb import parse_imb
from pready.calibrate.importers.mpip import MpiPReport, SentMessages, import_mpip, parse_mpip
from pready.calibrate.importers.netgauge import parse_netgauge
from pready.calibrate.importers.osu import parse_osu
from pready.calibrate.importers.pasted_tables import as_osu
from pready.calibrate.importers.text import LARGEST_FILE, ImportFormatError, Provenance, lines
from pready.model.toml.reading import read_bytes

__all__ = [
    "Beside",
    "ImportFormatError",
    "Imported",
    "MpiPReport",
    "Provenance",
    "SentMessages",
    "combine",
    "import_benchmark",
    "import_mpip",
    "parse_imb",
    "parse_mpip",
    "parse_netgauge",
    "parse_osu",
]

_BENCHMARKS = (
    ("OSU MPI", parse_osu),
    ("Benchmarking PingPong", parse_imb),
    ("PRTT(1,0,s)", parse_netgauge),
)


def import_benchmark(path: str | Path) -> Imported:
    """Reads OSU, IMB or Netgauge output, told apart by its title, or a table of sizes with times or bandwidths.

    Raises
    ------
    PreadyError
        It cannot be read, is none of the three, or has an error of that format's importer.
    """
    source, data = str(path), read_bytes(Path(path), LARGEST_FILE)
    found = lines(data, source)
    for mark, parse in _BENCHMARKS:
        if any(mark in line.text for line in found):
            return parse(data, source)
    if as_osu(found)[1]:
        return parse_osu(data, source)
    if any(line.text.startswith("# Benchmarking ") for line in found):
        return parse_imb(data, source)
    if any("o_s=" in line.text and "o_r=" in line.text for line in found):
        problem, valid = "is what Netgauge printed, not its results", "the file that its option -o names"
        raise ImportFormatError(problem, valid=valid, source=source)
    problem, valid = "is no benchmark output that can be read", "OSU, IMB PingPong or Netgauge LogGP"
    raise ImportFormatError(problem, valid=valid, source=source)
