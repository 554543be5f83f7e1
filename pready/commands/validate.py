"""``pready validate``: the model beside the papers, real machines and SST, a table each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import ModuleType

import click

from pready.commands import options
from pready.exit_status import Status
from pready.files.cache import cache_folder
from pready.model.machine import machine as machines
from pready.model.version import VERSION
from pready.show.tables.validation import agreement_data, agreement_view, claims_data, claims_view
from pready.show.terminal.terminal import LINE_EVERY_S, console, print_json, status
from pready.validate import fabrics, papers, sst
from pready.validate.claims.result import ClaimResult

CLAIMS: dict[str, ModuleType] = {"papers": papers, "fabrics": fabrics}


@click.command()
@click.argument("what", type=click.Choice([*CLAIMS, "sst"]))
@options.as_json()
@options.machine("For sst: the machine to simulate.")
@options.seed("Of all random numbers.", bits=32)
@click.pass_context
def validate(context: click.Context, what: str, as_json: bool, machine: str, seed: int) -> None:
    """Hold predictions against the papers' claims, against published measurements on real machines (fabrics), or
    against SST on one router (sst), which keeps its runs in the user's cache.

    Exit status: 0 if every claim is ok or known to be off, every limit of sst is kept, and a machine made wrong on
    purpose fails; 1 otherwise; 2 for bad input.
    """
    head = {"version": VERSION, "seed": seed}
    if what == "sst":
        folder = cache_folder() / "validate" / "sst"
        kept = f"finished runs are kept in {folder}; the same command resumes"
        with _progress("SST", at_once=True) as told, options.keeping(kept):
            found = sst.validate(machines.load(machine), folder, seed=seed, on_progress=told)
        data, view, ok = agreement_data(found), agreement_view(found, seed), found.ok
    else:
        claims = _claims(what, seed)
        data, view = claims_data(claims), claims_view(claims, seed)
        ok = all(c.status != "off" or c.known_off for c in claims)
    if as_json:
        print_json(head | data)
    else:
        console().print(view)
    context.exit(Status.DONE if ok else Status.CONTRADICTED)


def _claims(what: str, seed: int) -> tuple[ClaimResult, ...]:
    done = 0
    with _progress(what) as told:

        def on_claim(claim: ClaimResult) -> None:
            nonlocal done
            done += 1
            told(done, None, claim.source)

        found: tuple[ClaimResult, ...] = CLAIMS[what].validate(seed, on_claim=on_claim)
    return found


@contextmanager
def _progress(description: str, *, at_once: bool = False) -> Iterator[Callable[[float, float | None, str], None]]:
    """A bar on standard error, or a line now and then where there is no terminal; yields its update: completed, total,
    and what runs now. `at_once`: the first line as soon as there is something to say."""
    with status(description) as bar:
        begun = last = monotonic()

        def told(completed: float, of: float | None, now: str) -> None:
            nonlocal last
            due = monotonic() - last > LINE_EVERY_S or (at_once and last == begun)
            last = monotonic() if due else last
            bar.update(f"{description} {now}, {completed:.0f} of {'?' if of is None else f'{of:.0f}'}", long=due)

        yield told
