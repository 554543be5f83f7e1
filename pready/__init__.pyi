from pready.api import Simulated as Simulated
from pready.api import compare as compare
from pready.api import explain as explain
from pready.api import gain as gain
from pready.api import predict as predict
from pready.api import simulate as simulate
from pready.api import sweep as sweep
from pready.model import gain as equations
from pready.model.advise import costs_that_matter as costs_that_matter
from pready.model.approach_name import approach as approach
from pready.model.arrivals import draw as draw_arrivals
from pready.model.engine import simulate as simulate_ranks
from pready.model.engine.many_ranks import Evaluation as Evaluation
from pready.model.engine.many_ranks import gain_over_sizes as gain_over_sizes
from pready.model.errors import PreadyError as PreadyError
from pready.model.explanation import Explanation as Explanation
from pready.model.interfaces import Approach as Approach
from pready.model.libraries import LIBRARIES as LIBRARIES
from pready.model.machine import Machine as Machine
from pready.model.machine import load as load_machine
from pready.model.metrics import projected_speedup as projected_speedup
from pready.model.metrics import speedup_percent as speedup_percent
from pready.model.prediction import Prediction as Prediction
from pready.model.units import format_bandwidth as format_bandwidth
from pready.model.units import format_size as format_size
from pready.model.units import format_time as format_time
from pready.model.vcis import communicators_27_point as communicators_27_point
from pready.model.vcis import vci_members as vci_members
from pready.model.workload import Workload as Workload
from pready.model.workload import load as load_workload
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
