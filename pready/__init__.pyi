from pready.api import Simulated as Simulated
from pready.api import compare as compare
from pready.api import explain as explain
from pready.api import gain as gain
from pready.api import predict as predict
from pready.api import simulate as simulate
from pready.api import sweep as sweep
from pready.model.advice.advise import costs_that_matter as costs_that_matter
from pready.model.advice.approach_by_name import approach as approach
from pready.model.advice.explanation import Explanation as Explanation
from pready.model.approach.interfaces import Approach as Approach
from pready.model.approach.libraries import LIBRARIES as LIBRARIES
from pready.model.approach.vcis import communicators_27_point as communicators_27_point
from pready.model.approach.vcis import vci_members as vci_members
from pready.model.common.errors import PreadyError as PreadyError
from pready.model.common.units import format_bandwidth as format_bandwidth
from pready.model.common.units import format_size as format_size
from pready.model.common.units import format_time as format_time
from pready.model.engine import simulate as simulate_ranks
from pready.model.engine.evaluate import Evaluation as Evaluation
from pready.model.engine.evaluate import gain_over_sizes as gain_over_sizes
from pready.model.equations import gain as equations
from pready.model.equations.metrics import projected_speedup as projected_speedup
from pready.model.equations.metrics import speedup_percent as speedup_percent
from pready.model.machine.machine import Machine as Machine
from pready.model.machine.machine import load as load_machine
from pready.model.result.prediction import Prediction as Prediction
from pready.model.workload.draws import draw as draw_arrivals
from pready.model.workload.workload import Workload as Workload
from pready.model.workload.workload import load as load_workload
from pready.notebook import explore as explore
from pready.whatif.table import Table as Table

__version__: str
__all__ = [
    "LIBRARIES",
    "Approach",
    "Evaluation",
    "Explanation",
    "Machine",
    "PreadyError",
    "Prediction",
    "Simulated",
    "Table",
    "Workload",
    "__version__",
    "approach",
    "communicators_27_point",
    "compare",
    "costs_that_matter",
    "draw_arrivals",
    "equations",
    "explain",
    "explore",
    "format_bandwidth",
    "format_size",
    "format_time",
    "gain",
    "gain_over_sizes",
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
