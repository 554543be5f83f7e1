from pready.api import Simulated as Simulated
from pready.api import compare as compare
from pready.api import explain as explain
from pready.api import gain as gain
from pready.api import predict as predict
from pready.api import simulate as simulate
from pready.api import sweep as sweep
from pready.model.approach import Approach as Approach
from pready.model.errors import PreadyError as PreadyError
from pready.model.explanation import Explanation as Explanation
from pready.model.machine import Machine as Machine
from pready.model.machine import load as load_machine
from pready.model.prediction import Prediction as Prediction
from pready.model.workload import Workload as Workload
from pready.model.workload import load as load_workload
from pready.notebook import explore as explore
from pready.whatif.table import Table as Table

__version__: str
__all__ = [
    "Approach",
    "Explanation",
    "Machine",
    "PreadyError",
    "Prediction",
    "Simulated",
    "Table",
    "Workload",
    "__version__",
    "compare",
    "explain",
    "explore",
    "gain",
    "load_machine",
    "load_workload",
    "predict",
    "simulate",
    "sweep",
]
