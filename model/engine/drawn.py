"""What ways to send a step take on drawn machines: the same machines and arrivals for every way.

Machines differ in everything that is drawn, also in protocol, in who makes progress and in how puts move. Those that
follow the same rules share a plan (`Compiler.compiled`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pready.model.approach.interfaces import Approach
from pready.model.common.arrays import Array, Wholes, alike
from pready.model.engine.layout import Layout
from pready.model.engine.plan import Compiler, Plan, costs_of
from pready.model.engine.rows import warm_up
from pready.model.engine.simulation import Job, means_s
from pready.model.machine.machine import Machine
from pready.model.machine.path import Progress
from pready.model.machine.rma import Puts
from pready.model.timeline import rules
from pready.model.timeline.alternatives import alternatives, with_order
from pready.model.timeline.costs import Costs
from pready.model.timeline.sampling import DRAWS, LEVELS, Sampler
from pready.model.timeline.setup_cost import begin
from pready.model.toml.provenance import Value
from pready.model.workload.draws import deterministic
from pready.model.workload.workload import Workload

EXCHANGES = 32
"""Exchanges (ranks × iterations × those of a step, of sweeps also × octants × blocks) that are simulated with each
draw: few, as each draw has arrivals of its own."""
MOST_MESSAGES = 40_000_000
"""Of all draws of a way. Beyond it, there are fewer draws, the first ones."""
RULES = (
    "who answers a rendezvous",
    "how puts move",
    "receiver",
    "arrivals.partitions",
    "progress while receivers work",
)
"""Alternatives that change more than what messages cost."""
Rule = tuple[Progress, Puts, int, int, int]
"""Who answers, how puts move, and which option the receiver, the order of partitions and progress meanwhile are."""


@dataclass(frozen=True)
class Times:
    """Seconds by draw, arrays of shape (draws,)."""

    communication: Array
    """Of all exchanges of an iteration."""
    iteration: Array
    transfer: Array
    """Of each exchange's communication what is neither waiting for late neighbours nor the receiver's work, shape
    (exchanges, draws)."""
    once: Array
    """Set-up cost, over the iterations of a run."""


class DrawnStep:
    """One exchange, or several in order, on drawn machines.

    Parameters
    ----------
    layouts
        Of each exchange; None: from rest.
    draws
        Absent: `DRAWS`, or fewer where a way has many messages.
    """

    def __init__(
        self,
        machine: Machine,
        parts: Sequence[Workload],
        layouts: Sequence[Layout | None],
        seed: int,
        cores: int,
        draws: int | None = None,
    ) -> None:
        self.machine, self.parts, self.layouts, self.seed, self.cores = (
            machine,
            tuple(parts),
            tuple(layouts),
            seed,
            cores,
        )
        self.rest = layouts[0] is None
        self._compilers: dict[tuple[int, Rule], Compiler] = {}
        self._costs: dict[tuple[int, float, bool], Costs] = {}
        self._times: dict[tuple[Approach, ...], Array] = {}
        self._alike_draws: dict[tuple[int, Approach], list[tuple[Rule, Wholes]]] = {}
        self._plans: dict[object, Plan] = {}
        known = alternatives(machine, parts)
        self.draws = self._affordable() if draws is None else draws
        self.sampler = Sampler(machine, self.draws, seed, alternatives=known)
        self.rules = self._drawn_rules()

    # How much is simulated.

    @cached_property
    def steps(self) -> int:
        """Exchanges of an iteration: 1, or of a sweep octants × blocks."""
        first = self._compiler(0, self._as_said)
        return 1 if self.rest else first.pattern().exchanges(self.parts[0].blocks)

    @cached_property
    def _alike(self) -> bool:
        return all(map(deterministic, self.parts))

    @cached_property
    def exchanges(self) -> int:
        """From rest, with each draw, side by side."""
        return 1 if not self.rest or self._alike else EXCHANGES // 2

    @cached_property
    def iterations(self) -> int:
        """With each draw, those counted."""
        if self.rest:
            return 1
        ranks = self._compiler(0, self._as_said).pattern().ranks
        return max(1, min(EXCHANGES // (ranks * self.steps * len(self.parts)), self.parts[0].iterations))

    @cached_property
    def first(self) -> int:
        """Iterations that go before."""
        return 0 if self.rest else warm_up(self.parts[0], self.iterations)

    def _affordable(self) -> int:
        patterns = [self._compiler(i, self._as_said).pattern(self.exchanges) for i in range(len(self.parts))]
        each = [of.edges * w.n_partitions for of, w in zip(patterns, self.parts, strict=True)]
        messages = sum(each) * self.steps * (self.first + self.iterations)
        return min(DRAWS, max(MOST_MESSAGES // messages, 3 * LEVELS))  # of 39, one lies beyond each end

    # Rules.

    @property
    def _as_said(self) -> Rule:
        puts = self.machine.one_sided.puts
        return self.machine.progress.value, "adapter" if puts is None else puts.value, 0, 0, 0

    def _drawn_rules(self) -> list[tuple[Rule, Wholes]]:
        """Rules that hold somewhere, and the draws in which each does."""
        known, said = self.sampler.alternatives, self._as_said
        chosen, out = np.stack([self.sampler.chosen(n) for n in RULES], axis=1), list[tuple[Rule, Wholes]]()
        for rows in alike(chosen):
            some = chosen[rows[0]]
            who, how = (
                known[n].options[k] if n in known else s for n, k, s in zip(RULES, some, said[:2], strict=False)
            )
            rule: Any = (who, how, *map(int, some[2:]))
            out.append((rule, rows))
        return out

    def _compiler(self, number: int, rule: Rule) -> Compiler:
        """An exchange under a rule."""
        if (number, rule) not in self._compilers:
            workload, layout = self.parts[number], self.layouts[number]
            known = {} if rule[2:] == (0, 0, 0) else self.sampler.alternatives
            if rule[2]:
                workload = workload.model_copy(update={"receiver": known["receiver"].options[rule[2]]})
            if rule[3]:
                workload = with_order(workload, known["arrivals.partitions"].options[rule[3]])
            m, who, how = self.machine, rule[0], rule[1]
            sided = m.one_sided.model_copy(update={"puts": Value[Puts](value=how, source="assumed", why="as drawn")})
            progress = m.progress.model_copy(update={"value": who})
            on = m.model_copy(update={"progress": progress, "one_sided": sided})
            self._compilers[number, rule] = Compiler(on, workload, layout, number)
        return self._compilers[number, rule]

    def _cost(self, number: int, size: float, inside: bool) -> Costs:
        if (number, size, inside) not in self._costs:
            self._costs[number, size, inside] = costs_of(self.sampler, self.parts[number])(size, inside)
        return self._costs[number, size, inside]

    def _groups(self, number: int, approach: Approach) -> list[tuple[Rule, Wholes]]:
        """The draws that can share a plan of an approach, and a rule that stands for theirs."""
        if (number, approach) not in self._alike_draws:
            self._alike_draws[number, approach] = self._grouped(number, approach)
        return self._alike_draws[number, approach]

    def _grouped(self, number: int, approach: Approach) -> list[tuple[Rule, Wholes]]:
        out: dict[tuple[object, ...], tuple[Rule, list[Wholes]]] = {}
        sent = self._compiler(number, self._as_said).messages(approach, self.exchanges)
        classes = [
            self._cost(number, size, kind.inside) for size, kind in zip(sent.sizes, sent.pattern.kinds, strict=True)
        ]
        for rule, rows in self.rules:
            setting, interface = self._compiler(number, rule).setting, _told(approach, rule).interface
            each = []
            for c in classes:
                asks, leaves = rules.asks(c, interface, setting), rules.leaves(c, interface)
                inside = rules.answers_inside(c, interface, setting)
                each += [np.broadcast_to(x, (self.draws,))[rows] for x in (asks, asks & inside, leaves)]
            protocols = np.stack(each, axis=1)
            late, who = rules.late_puts(interface, setting), rules.receivers(interface, setting)
            for same in alike(protocols):
                # A progress thread also takes in eager messages.
                key = rule[2:], late, who, setting.progress == "thread", protocols[same[0]].tobytes()
                out.setdefault(key, (rule, []))[1].append(rows[same])
        return [(rule, np.sort(np.concatenate(rows))) for rule, rows in out.values()]

    def _plan(self, number: int, approach: Approach, rule: Rule, rows: Wholes) -> Plan:
        """Of an exchange of several that is sent as today, made once: it is in every way but one."""
        if len(self.parts) == 1 or approach != self.parts[number].baseline:
            return self._compile(number, approach, rule, rows)
        key = number, rule, rows.tobytes()
        if key not in self._plans:
            self._plans[key] = self._compile(number, approach, rule, rows)
        return self._plans[key]

    def _compile(self, number: int, approach: Approach, rule: Rule, rows: Wholes) -> Plan:
        of = self._compiler(number, rule)
        sent = of.messages(_told(approach, rule), self.exchanges)
        kinds = zip(sent.sizes, sent.pattern.kinds, strict=True)
        by_class = [self._cost(number, size, kind.inside).rows(rows) for size, kind in kinds]
        made = of.compiled(_told(approach, rule), sent, by_class, self.seed, len(rows))
        each = self.exchanges if self.rest else (self.first + self.iterations) * self.steps
        return replace(made, firsts=tuple((rows * each).tolist()))

    def _jobs(self, way: Sequence[Approach], draws: range) -> list[tuple[Job, Wholes]]:
        """A way on some draws as jobs of the kernel, with the draws of each."""
        groups = [self._groups(i, a) for i, a in enumerate(way)]
        labels = np.empty((self.draws, len(way)), np.int64)
        for i, some in enumerate(groups):
            for n, (_, rows) in enumerate(some):
                labels[rows, i] = n
        out, labels = list[tuple[Job, Wholes]](), labels[draws.start : draws.stop]
        for same in alike(labels):
            label, rows = labels[same[0]], draws.start + same
            step = [self._plan(i, a, groups[i][label[i]][0], rows) for i, a in enumerate(way)]
            out.append(((step, self.first + self.iterations), rows))
        return out

    def prepare(self, ways: Iterable[Sequence[Approach]], draws: int | None = None) -> None:
        """Simulate, all at once, what is not yet simulated of the first draws; absent, of all."""
        most = self.draws if draws is None else min(draws, self.draws)
        wanted = {w: range(len(self._times.get(w, ())), most) for w in dict.fromkeys(map(tuple, ways))}
        jobs = [(way, *job) for way, some in wanted.items() if some for job in self._jobs(way, some)]
        found = means_s([job for _, job, _ in jobs], [self.first] * len(jobs), self.cores)
        none = np.empty((0, 2 + len(self.parts)))
        for way, some in wanted.items():
            if some:
                self._times[way] = np.concatenate([self._times.get(way, none), np.empty((len(some), *none.shape[1:]))])
        for (way, _, rows), times in zip(jobs, found, strict=True):
            self._times[way][rows] = times

    def times(self, way: Sequence[Approach], draws: int | None = None) -> Times:
        """Of one way, an approach for each exchange, with the first draws; absent, with all."""
        self.prepare([way], draws)
        made = self._times[tuple(way)][: self.draws if draws is None else draws]
        once = sum(begin(self.sampler, w, a) / w.iterations for w, a in zip(self.parts, way, strict=True))
        set_up = np.broadcast_to(np.asarray(once, np.float64), (self.draws,))[: len(made)]
        return Times(made[:, 0], made[:, 1], made[:, 2:].T, set_up)


def _told(approach: Approach, rule: Rule) -> Approach:
    """The approach where nothing comes while all threads of a receiver work."""
    if not rule[4] or not approach.interface.tells:
        return approach
    return replace(approach, interface=replace(approach.interface, told_whole=True))
