"""The page of a proof: the decision, predicted beside measured, and how it was measured."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from pready.show.pages.page import page
from pready.show.tables.proof import proof_view
from pready.validate.prove.session import Proof


def html(proof: Proof, about: Mapping[str, str]) -> str:
    """The document.

    Parameters
    ----------
    about
        How it came about, by name.
    """
    measured = Table.grid("", "", padding=(0, 2))
    for name, value in about.items():
        measured.add_row(name, value)
    return page(f"{proof.workload.name}: measured and predicted", [("", proof_view(proof)), ("How", measured)])
