"""``pready predict``: the table and the advice."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from pready.commands import options
from pready.files.extra import need
from pready.files.rows import csv_text
from pready.model.advice.gpu import bound
from pready.model.advice.predict import predict as predicted
from pready.model.common.errors import PreadyError, did_you_mean
from pready.model.machine import machine as machines
from pready.show.figures import files as picture_files
from pready.show.tables.answer import gpu_line
from pready.show.tables.prediction import prediction_rows, prediction_view
from pready.show.terminal.terminal import console, print_json, status


@click.command()
@options.workload()
@options.machine()
@options.library()
@options.ranks_per_node()
@options.seed("Of arrivals and parameter draws.")
@click.option(
    "--engine",
    type=click.Choice(options.ENGINES),
    help="timeline: one exchange; engine: many ranks; sst: see 'pready simulate'."
    "  [default: timeline for pt2pt, else engine]",
)
@options.as_json()
@options.as_csv()
@click.option(
    "--all", "every_row", is_flag=True, help="All numbers of transport partitions and VCIs, not only the best."
)
@click.option("--explain", "explained", is_flag=True, help="Add the closed form, all notes and the sensitivity.")
@click.option("--exchange", metavar="NAME", help="One exchange of a step, in full.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Write an HTML page and its data."
)
@options.min_gain()
@options.picture("Draw the prediction.")
@click.option(
    "--picture",
    "kind",
    type=click.Choice(picture_files.KINDS),
    help="size: η; messages: η over their number and size; map: the verdict over threads and size; "
    "exchange: one alone, bulk above; sensitivity: to each input."
    "  [default: size]",
)
def predict(
    workload: str,
    machine: str,
    library: str | None,
    per_node: int | None,
    seed: int,
    engine: Literal["timeline", "engine", "sst"] | None,
    as_json: bool,
    as_csv: bool,
    every_row: bool,
    explained: bool,
    exchange: str | None,
    output: Path | None,
    min_gain: float,
    picture: Path | None,
    kind: str | None,
) -> None:
    """Predict the time of every approach for WORKLOAD, with advice.

    WORKLOAD is a TOML file, or - for standard input.
    """
    options.one_form(as_json, as_csv)
    if engine == "sst":
        raise PreadyError(
            "--engine sst is a simulation", valid="'pready simulate --engine sst', or --engine timeline or engine here"
        )
    if kind is not None and picture is None and output is None:
        raise PreadyError(
            f"--picture {kind} without --plot or -o", valid=f"--plot {kind}.svg --picture {kind}, or -o FOLDER"
        )
    on_page, kind = kind, kind or picture_files.KINDS[0]
    if on_page is not None and output is not None:
        need("matplotlib", "a picture")
    if picture is not None:
        picture_files.check(picture)
    on, what = machines.load(machine), options.placed(options.read_workload(workload), per_node)
    if what.on_gpu:
        given = {"--library": library, "--engine": engine, "--csv": as_csv, "-o": output, "--plot": picture}
        if refused := [option for option, value in (given | {"--exchange": exchange}).items() if value]:
            valid = "--machine, --min-gain and --json"
            raise PreadyError(f"{refused[0]} with compute.device = 'gpu'", valid=valid)
        found = bound(on, what, min_gain)
        if as_json:
            print_json(found.to_dict())
        else:
            console().print(gpu_line(found))
        return
    if what.exchanges is not None and picture is not None and kind != "sensitivity":
        raise PreadyError(
            f"--picture {kind} of several exchanges per step", valid="--picture sensitivity, or a file with one of them"
        )
    if what.exchanges is not None and output is not None:
        raise PreadyError(
            "no page (-o) of several exchanges per step",
            valid="--json, --plot with --picture sensitivity, or a file with one",
        )
    names = [] if what.exchanges is None else [part.name for part in what.parts]
    if exchange is not None and exchange not in names:
        wrong = f"--exchange {exchange}{did_you_mean(exchange, names)}"
        raise PreadyError(wrong, valid=", ".join(names) or "a workload of several exchanges")
    if output is not None:
        from pready.show.pages import prediction as page  # Jinja is needed for a page only

        page.check(output)
    with status("predicting") as said:
        shown = None if not names or as_json or as_csv or explained else [name for name in names if name == exchange]
        prediction = predicted(on, what, library=library, seed=seed, engine=engine, min_gain=min_gain, whole=shown)
        if picture is not None:
            said.update("drawing")
            picture_files.draw_prediction(kind, picture, on, what, prediction)
        if output is not None:
            said.update("writing the page")
            page.write(output, on, what, prediction, workload, on_page)
    if exchange is not None:
        prediction = prediction.exchanges[names.index(exchange)]
    if as_json:
        print_json(prediction.to_dict())
    elif as_csv:
        click.echo(csv_text(prediction_rows(prediction)), nl=False)
    else:
        console().print(prediction_view(prediction, every_row=every_row, explained=explained))
        if picture is not None:
            click.echo(f"wrote {picture}", err=True)
    if output is not None:
        click.echo(f"wrote {output / 'index.html'}", err=True)
