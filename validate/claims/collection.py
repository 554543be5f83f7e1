"""Claims of one kind, from all their files: each held against the model, and against wrong machines."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from pready.model.common.errors import PreadyError, shown
from pready.model.machine.machine import Machine
from pready.model.toml.reading import read_toml
from pready.validate.claims.computed_once import DRAWS, Lab
from pready.validate.claims.form import Source
from pready.validate.claims.judge import interval, result, steepness, turned
from pready.validate.claims.result import ClaimKind, ClaimResult
from pready.validate.claims.wrong_machines import WRONG_MACHINES


@dataclass(frozen=True)
class Claims:
    """The claims of papers or of machines, a TOML file each, read when asked for."""

    of: ClaimKind
    names: tuple[str, ...]
    parsed: Callable[[dict[str, Any], str], Source]  # a file as checked claims
    _read: dict[str, Source] = field(default_factory=dict, repr=False)

    @property
    def _one(self) -> str:
        return "paper" if self.of == "papers" else "machine"

    def load(self, name: str) -> Source:
        """The claims of one paper or machine. Raises PreadyError: one that is not there, or a file that is not valid:
        one line naming file, field and value."""
        if name not in self.names:
            raise PreadyError(f"{self._one} = {shown(name)} is unknown", valid=", ".join(self.names))
        if name not in self._read:
            with resources.as_file(resources.files("pready.validate") / self.of / f"{name}.toml") as path:
                self._read[name] = self.parsed(read_toml(path), path.name)
        return self._read[name]

    def validate(
        self,
        seed: int = 0,
        *,
        only: Collection[str] | None = None,
        on_claim: Callable[[ClaimResult], object] = lambda _: None,
        change: Callable[[Machine], Machine] | None = None,
    ) -> tuple[ClaimResult, ...]:
        """Check them.

        Raises PreadyError: something in `only` that is neither a source nor a claim.

        Parameters
        ----------
        seed
            Of all draws of arrivals.
        only
            Names of sources (``"gillis2023"``) or claims (``"gillis2023/eq4-theta8"``); absent: all.
        on_claim
            Called with each result as soon as it is there.
        change
            Applied to every machine first, for negative controls; weak claims are not looked for then.

        Returns
        -------
        One result per claim, in the order of the files; claims no model can address are "out of scope".
        """
        claims = {f"{name}/{claim.id}": (name, claim) for name in self.names for claim in self.load(name).claims}
        wanted = set(self.names if only is None else only)
        for name in wanted - {*self.names, *claims}:
            problem = f"only = {shown(name)} is neither a {self._one} nor a claim"
            raise PreadyError(problem, valid=f"{', '.join(self.names)} or an id")
        lab, out = Lab(seed, change, DRAWS if self.of == "fabrics" and change is None else 0), []
        wrong = [] if change is not None else [Lab(seed, made) for made in WRONG_MACHINES.values()]
        for key, (source, claim) in claims.items():
            if not wanted & {source, key}:
                continue
            found = result(source, claim, lab, self.of)
            asked = bool(wrong) and found.basis == "independent" and found.status == "ok"
            low, high = (interval(claim, lab) if lab.draws else None) or (None, None)
            weak = asked and not any(turned(claim, w) for w in wrong)
            steep = steepness(claim, lab) if low is not None else {}
            out.append(replace(found, low=low, high=high, steepness=steep, weak=weak))
            on_claim(out[-1])
        return tuple(out)
