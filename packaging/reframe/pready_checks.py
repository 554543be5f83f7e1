"""ReFrame checks: a machine is calibrated, then a workload is proved on it, with the prediction as reference.

    reframe -C site.py -c packaging/reframe/pready_checks.py -r -S ProveCheck.launcher='srun -N 2 -n 2 -c 8'

`pready` starts the ranks itself, so the checks run under ReFrame's local launcher, in a job with the nodes.
"""

import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import fixture, run_before, sanity_function, variable

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "laggard.toml"


class PreadyCheck(rfm.RunOnlyRegressionTest):
    """What both checks share."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "pready"
    launcher = variable(str, value="mpiexec -n 2")
    mpicc = variable(str, value="")
    """MPI C compiler; empty: that in PATH."""
    threads = variable(int, value=8)
    budget = variable(str, value="4 min")
    num_tasks = 1

    @run_before("run")
    def start_the_ranks_itself(self):
        self.job.launcher = getlauncher("local")()

    @property
    def measuring(self):
        words = ["--launcher", shlex.quote(self.launcher), "--budget", shlex.quote(self.budget)]
        return words + (["--mpicc", self.mpicc] if self.mpicc else [])


class CalibrateFixture(PreadyCheck):
    """The machine file."""

    descr = "pready calibrate: LogGP, contention and progress between two nodes"

    @run_before("run")
    def set_words(self):
        self.executable_opts = ["calibrate", *self.measuring, "--threads", str(self.threads), "-o", "machine.toml"]

    @sanity_function
    def the_machine_loads(self):
        return sn.all([sn.assert_eq(self.job.exitcode, 0), sn.path_isfile("machine.toml")])


@rfm.simple_test
class ProveCheck(PreadyCheck):
    """A workload's exchange, measured; each figure's reference is what was predicted."""

    descr = "pready prove: measured beside predicted"
    require_reference = True
    calibrated = fixture(CalibrateFixture, scope="environment")
    workload = variable(str, value=str(EXAMPLE))
    tolerance = variable(float, value=0.5)
    """How far measured may lie from predicted, as a share of it."""

    @run_before("run")
    def set_words(self):
        machine = Path(self.calibrated.stagedir) / "machine.toml"
        self.executable_opts = [
            "prove",
            self.workload,
            "--machine",
            str(machine),
            *self.measuring,
            "--metrics",
            "-o",
            "p",
        ]

    @sanity_function
    def the_prediction_is_not_contradicted(self):
        found = sn.extractsingle(r"^pready\.finding = (.+)$", self.stdout, 1)
        return sn.all([sn.assert_ne(found, "not kept"), sn.assert_in(self.job.exitcode, [0])])

    @run_before("performance")
    def compare_with_the_prediction(self):
        measured = r"^pready\.(communication|iteration)_measured\[(\S+)\] = (\S+) us$"
        references = {}
        # Here, unlike in what ReFrame evaluates itself, its folder is not the job's.
        said = Path(self.stagedir) / sn.evaluate(self.stdout)
        for kind, approach, value in sn.evaluate(sn.extractall(measured, said, (1, 2, 3))):
            predicted = sn.extractsingle(rf"^pready\.{kind}_predicted\[{approach}\] = (\S+) us$", said, 1, float)
            name = f"{kind}_{approach}".replace(":", "_")  # ReFrame takes what follows a colon for the name
            self.perf_variables[name] = sn.make_performance_function(sn.defer(float(value)), "us")
            span = (sn.evaluate(predicted), -self.tolerance, self.tolerance, "us")
            references[name] = span
        self.reference = {self.current_partition.fullname: references}
