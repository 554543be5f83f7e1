"""One exchange from rest by the engine, of given costs and times: for known answers."""

from collections.abc import Sequence

from pready.model.approach.interfaces import Approach
from pready.model.engine.messages import messages
from pready.model.engine.pattern import from_rest
from pready.model.engine.plan import Compiler, table_of
from pready.model.engine.simulate import Alone, alone
from pready.model.machine.machine import load
from pready.model.timeline.costs import Costs
from pready.model.timeline.rules import Setting
from pready.model.workload.workload import Workload


def exchange(
    costs: Sequence[Costs], approach: Approach, setting: Setting, times: Sequence[float], join: float | None = None,
    receiver_times: Sequence[float] | None = None,
) -> Alone:  # fmt: skip
    """A rank, whose user partitions are ready at `times`, sends to its peers, which are in step.

    `costs`, scalars, are of messages to each peer, or of one for all. The receiver enters MPI at `join`, or its own
    partitions are ready at `receiver_times`; both absent, it waits there.
    """
    waits = join is None and receiver_times is None
    workload = Workload(
        threads=setting.threads,
        partitions_per_thread=setting.partitions_per_thread,
        buffer=f"{setting.threads * setting.partitions_per_thread} B",  # type: ignore[arg-type]
        receiver="waiting" if waits else "computing",
    )
    compiler = Compiler(load("meluxina"), workload, None)
    vars(compiler)["setting"] = setting
    sizes = tuple(map(float, range(len(costs)))) if len(costs) > 1 else (0.0,) * setting.peers
    of = from_rest(sizes, 1)
    plan = compiler.plan(messages(workload, approach, of, setting.contexts), costs)
    theirs = receiver_times or [(join or 0.0) - float(costs[0].barrier)] * len(times)
    vars(plan)["arrivals"] = table_of(workload, [times, theirs])
    (one,) = alone(plan)
    return one
