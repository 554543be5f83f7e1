"""A folder with a prediction: one HTML page that needs nothing else, and the data behind it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from markupsafe import Markup
from rich.console import Group
from rich.text import Text

from pready.files.extra import command
from pready.files.shipped_examples import found
from pready.files.writing import check_same, make_folder, texts, write_all
from pready.model.common.errors import PreadyError
from pready.model.machine.machine import Machine
from pready.model.machine.writing import dumps
from pready.model.result.prediction import Prediction
from pready.model.version import RELEASED, VERSION
from pready.model.workload.workload import Workload
from pready.show.tables.answer import answer, as_one, of_exchange
from pready.show.tables.machine import machine_view
from pready.show.tables.prediction import prediction_view, ways_table
from pready.show.terminal.html import Part, page

_CITE = (
    f"Please cite pready {VERSION} (The pready developers, {RELEASED}, BSD-3-Clause; CITATION.cff in its repository), "
    "and the papers of its models: Gillis et al., ICPP 2023, doi:10.1145/3605573.3605599; Temuçin et al., ICPP 2022, "
    "doi:10.1145/3545008.3545088; Zambre et al., TPDS 2021, doi:10.1109/TPDS.2021.3075157; Jammer and Bischof, "
    "ExaMPI 2022, doi:10.1109/ExaMPI56604.2022.00006."
)
PAGE, DATA, MACHINE, WORKLOAD = "index.html", "prediction.json", "machine.toml", "workload.toml"


def check(folder: Path, machine: Machine, file: str) -> None:
    """Make the folder before any work, for a prediction of the workload file `file` on `machine`. Raises PreadyError:
    the folder cannot be made or written to, or has a machine or workload file of another content."""
    if folder.suffix == ".html":
        raise PreadyError(f"-o {folder} is a page, not its folder", valid=f"-o {folder.with_suffix('')}/")
    make_folder(folder, (PAGE, DATA, MACHINE, WORKLOAD))
    check_same(folder / MACHINE, dumps(machine))
    if file != "-":
        check_same(folder / WORKLOAD, _text(file))


def write(folder: Path, machine: Machine, workload: Workload, prediction: Prediction, file: str) -> None:
    """Write the page and its data. `file`: the workload file, ``-`` for standard input."""
    data = json.dumps(prediction.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    text, files = json.dumps(prediction.workload, indent=1, ensure_ascii=False), [DATA, MACHINE]
    made = {folder / DATA: texts(data + "\n"), folder / MACHINE: texts(dumps(machine))}
    if file != "-":
        text = _text(file)
        made[folder / WORKLOAD] = texts(text)
        files.append(WORKLOAD)
    sections: list[tuple[str, Part]] = [("", Group(*answer(prediction)))]
    if prediction.exchanges:
        every = "The whole step"
    else:
        every = "Every way"
        sections.append(("Over buffer sizes", _picture(machine, workload, prediction)))
    sections.append((every, prediction_view(prediction, every_row=True, explained=True)))
    for e in prediction.exchanges:
        sections.append(
            (str(e.workload["name"]), Group(Text(of_exchange(e, as_one(prediction))), ways_table(e, every_row=False)))
        )
    sections += [("The workload", Markup("<pre>{}</pre>\n").format(text)), ("The machine", machine_view(machine))]
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in files)
    sections.append(("Command, data and citation", Text(f"{shlex.join(['pready', *sys.argv[1:]])}\n\n{_CITE}")))
    sections.append(("", Markup(f"<p>Data: {links}</p>\n")))
    html = page(f"Partitioned communication for {workload.name} on {prediction.machine}", sections)
    write_all({**made, folder / PAGE: texts(html)})


def _picture(machine: Machine, workload: Workload, prediction: Prediction) -> Part:
    if find_spec("matplotlib") is None:
        return Text(f"No picture: Matplotlib is not installed ({command('plot')}).")
    from pready.show.figures.prediction_pictures import over_sizes
    from pready.show.figures.style import drawn

    return drawn(over_sizes(machine, workload, prediction))


def _text(file: str) -> str:
    return found(file).read_text(encoding="utf-8-sig")
