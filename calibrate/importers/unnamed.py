"""What a file seems to be that does not name its test: for a refusal, never to read it."""

import re
from pathlib import PurePath

from pready.calibrate.importers.measured import Measured
from pready.calibrate.importers.text import ImportFormatError
from pready.model.common.errors import shown

RECIPE = "the benchmark's own output, or a CSV as 'pready calibrate import --example > my.csv' shows it"
_ROW = r"^[ \t|\"']*[+-]?\d[\d.,]*[KMG]?i?B?[\"']?[ \t]*[,;|\t ][ \t\"'*`]*[+-]?\d"
_SEEMS = (
    (r"\A\s*\Z", "is empty"),
    (r"\A\s*<(?:!DOCTYPE|\?xml|html|svg)", "seems to be a page or a picture"),
    (r"\A\s*[\[{]", "seems to be JSON without a test's name"),
    (r"^[ \t]*(?:```|\| *:?-{2,})|^#{2,6} \S", "seems to be Markdown"),
    (r"^[ \t\"\d]+[;\t,]\s*\"?\d+,\d+\"?\s*$", "seems to be a table with decimal commas"),
    (r"\A\s*(?:\"\"|,|\"\",).*\n\s*\"?[01]\b", "seems to be a table with an index column, as pandas and R write it"),
    (r"^[^\n]*\b(?:size|bytes|len)\b[^\n]*\n(?:[^\n]*\n)?" + _ROW, "seems to be a table without its test's name"),
    (rf"(?:{_ROW}[^\n]*\n)" + "{3}", "seems to be columns of numbers without names"),
    (r"^#(?:SBATCH|PBS|BSUB|PJM|FLUX)|\A#!", "seems to be a job's script"),
    (r"", "has no title of a benchmark's"),
)
_DOCUMENT = re.compile(r"\.(?:md|markdown|rst|adoc|tex|html?|ipynb|py|jl|r|c|cpp|cc|h|f90|sh|ya?ml)$", re.I)


def refusal(text: str, source: str) -> ImportFormatError:
    """Why it is refused: what it seems to be, the header that it has, and what would be valid."""
    seems = next(what for pattern, what in _SEEMS if re.search(pattern, text[:100_000], re.M | re.I))
    header = re.search(r"^.*(?:\bsize|\bbytes|_bytes|\blen\b).*$", text[:100_000], re.M | re.I)
    named = f" (line {text.count(chr(10), 0, header.start()) + 1}: {shown(header[0].strip())})" if header else ""
    told = f"{seems}{named if 'table' in seems or 'Mark' in seems else ''}"
    return ImportFormatError(told, valid=RECIPE, source=source)


def in_a_document(text: str, source: str) -> bool:
    """Whether results stand within a document or a program, where headings and prose say of what they are."""
    return bool(_DOCUMENT.search(source) or re.search(r"^[ \t]*```", text, re.M))


def quoted(run: Measured) -> ImportFormatError:
    """Why a run that a document shows is refused: where it ran is said in prose."""
    told = f"shows {run.test.name} (line {run.line}) within a document, and where it ran is said in prose"
    taken = f"--take {PurePath(run.source).name}:{run.line} if it was between two nodes of one machine"
    return ImportFormatError(told, valid=f"{taken}; or {RECIPE}", source=run.source)
