"""What a command of the documents computes: nothing computes it twice."""

import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from refresh import TRUST, trust_numbers, with_numbers

from pready.cli import main
from pready.validate.claims.result import ClaimResult


def claimed(document: str, kind: ModuleType) -> dict[str, ClaimResult]:
    """Run the `pready validate` of papers or fabrics that a document shows, and keep its results, by claim."""
    name = kind.__name__.rpartition(".")[2]
    begin = f"$ pready validate {name}"
    text = Path(document).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith(begin))
    validate, found = kind.validate, list[tuple[ClaimResult, ...]]()

    def kept(seed: int = 0, **given: Any) -> tuple[ClaimResult, ...]:
        found.append(validate(seed, **given))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "validate", kept)
        assert main(shlex.split(line, comments=True)[2:]) == 0
    (claims,) = found
    return {r.id: r for r in claims}


def as_documents_say(kind: str, found: dict[str, ClaimResult]) -> None:
    """The numbers in the documents of trust are today's."""
    for document in TRUST:
        text = document.read_text(encoding="utf-8")
        assert text.count(f"<!-- {kind}_") >= 5
        assert with_numbers(text, trust_numbers(kind, tuple(found.values()))) == text
