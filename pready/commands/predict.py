"""``pready predict``: the table and the advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from pready.commands import options
from pready.model.advice.predict import predict as predicted
from pready.model.advice.proven import load
from pready.model.common.errors import PreadyError, did_you_mean
from pready.model.result.prediction import Prediction
from pready.show.figures import files as picture_files
from pready.show.tables.prediction import prediction_view
from pready.show.terminal.terminal import console, print_json, status


@click.command()
@options.workload()
@options.machine()
@options.library()
@options.fields()
@options.seed("Of arrivals and parameter draws.")
@options.min_gain()
@click.option("--all", "every", is_flag=True, help="Every row and note, the closed form and the sensitivity.")
@click.option("--exchange", metavar="NAME", help="One exchange of a step, in full.")
@click.option(
    "--proof",
    "proofs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="What 'pready prove' measured on this machine; repeatable.",
)
@options.as_json()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Write an HTML page and its data."
)
@options.picture("Draw η over buffer sizes.")
@click.pass_context
def predict(
    context: click.Context,
    workload: str,
    machine: str,
    library: str | None,
    fields: Sequence[str],
    seed: int,
    min_gain: float,
    every: bool,
    exchange: str | None,
    proofs: Sequence[Path],
    as_json: bool,
    output: Path | None,
    picture: Path | None,
) -> None:
    """Predict what partitioned communication saves in WORKLOAD, the best way today, and the time of every way.

    WORKLOAD is a TOML file, or - for standard input.
    """
    if picture is not None:
        picture_files.check(picture)
    on, what = options.read(workload, machine, fields)
    if what.on_gpu:
        given = {"--library": library, "-o": output, "--plot": picture, "--exchange": exchange, "--proof": proofs}
        if refused := [option for option, value in given.items() if value]:
            valid = "--machine, --set, --min-gain and --json"
            raise PreadyError(f"{refused[0]} with compute.device = 'gpu'", valid=valid)
    if what.exchanges is not None and picture is not None:
        raise PreadyError("--plot of several exchanges per step", valid="a file with one of them")
    names = [] if what.exchanges is None else [part.name for part in what.parts]
    if exchange is not None and exchange not in names:
        wrong = f"--exchange {exchange}{did_you_mean(exchange, names)}"
        raise PreadyError(wrong, valid=", ".join(names) or "a workload of several exchanges")
    if output is not None:
        from pready.show.pages import prediction_page as page

        page.check(output, on, workload)
    measured = [load(folder) for folder in proofs]
    with status("predicting") as said:
        whole = None if not names or as_json or every or output else [name for name in names if name == exchange]
        prediction = predicted(on, what, library=library, seed=seed, min_gain=min_gain, whole=whole, proofs=measured)
        prediction = replace(prediction, example="--machine" not in options.given(context))
        if picture is not None:
            said.update("drawing")
            picture_files.draw_prediction(picture, on, what, prediction)
        if output is not None:
            said.update("writing the page")
            page.write(output, on, what, prediction, workload)
    step: Prediction | None = None
    if exchange is not None:
        step, prediction = prediction, prediction.exchanges[names.index(exchange)]
    if as_json:
        print_json(prediction.to_dict())
    else:
        console().print(prediction_view(prediction, every_row=every, explained=every, of=step))
        if picture is not None:
            click.echo(f"wrote {picture}", err=True)
    if output is not None:
        click.echo(f"wrote {output / 'index.html'}", err=True)
