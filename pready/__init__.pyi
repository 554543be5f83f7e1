from pready.api import Simulated, compare, explain, gain, predict, simulate, sweep
from pready.model.advice.advise import costs_that_matter
from pready.model.advice.approach_by_name import approach
from pready.model.advice.explanation import Explanation
from pready.model.approach.interfaces import Approach
from pready.model.approach.libraries import LIBRARIES
from pready.model.approach.vcis import communicators_27_point, vci_members
from pready.model.common.errors import PreadyError
from pready.model.common.units import format_bandwidth, format_size, format_time
from pready.model.engine import simulate as simulate_ranks
from pready.model.engine.layout import Layout, Step
from pready.model.engine.plan import drawn_times as draw_arrivals
from pready.model.engine.runs import Rows, Runs
from pready.model.engine.simulate import exchanges_from_rest
from pready.model.equations import gain as equations
from pready.model.equations.metrics import projected_speedup, speedup_percent
from pready.model.machine.contention_by_library import contention
from pready.model.machine.machine import Machine
from pready.model.machine.machine import load as load_machine
from pready.model.result.prediction import Prediction
from pready.model.version import VERSION as __version__
from pready.model.workload.workload import Workload
from pready.model.workload.workload import load as load_workload
from pready.whatif.table import Table

__all__ = [
    "LIBRARIES",
    "Approach",
    "Explanation",
    "Layout",
    "Machine",
    "PreadyError",
    "Prediction",
    "Rows",
    "Runs",
    "Simulated",
    "Step",
    "Table",
    "Workload",
    "__version__",
    "approach",
    "communicators_27_point",
    "compare",
    "contention",
    "costs_that_matter",
    "draw_arrivals",
    "equations",
    "exchanges_from_rest",
    "explain",
    "format_bandwidth",
    "format_size",
    "format_time",
    "gain",
    "load_machine",
    "load_workload",
    "predict",
    "projected_speedup",
    "simulate",
    "simulate_ranks",
    "speedup_percent",
    "sweep",
    "vci_members",
]
