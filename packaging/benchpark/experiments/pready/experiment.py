# Copyright The pready developers.
#
# SPDX-License-Identifier: BSD-3-Clause

from benchpark.directives import variant
from benchpark.experiment import Experiment


class Pready(Experiment):
    """Calibrate the machine, prove a workload on it, and OMB's partitioned latency beside them."""

    variant(
        "workload",
        default="prove",
        values=("calibrate", "prove", "osu_partitioned_latency"),
        description="measure the machine; measure and predict a workload; OMB's osu_partitioned_latency",
    )

    def compute_applications_section(self):
        workload = next(
            w for w in ("calibrate", "prove", "osu_partitioned_latency") if self.spec.satisfies(f"workload={w}")
        )
        variables = {"n_nodes": ["2"], "n_ranks": "2", "omp_num_threads": ["8"]}
        if workload != "osu_partitioned_latency":
            variables["budget"] = "4 min"
        return {
            "pready": {
                "workloads": {
                    workload: {
                        "experiments": {
                            "pready_{n_nodes}_{omp_num_threads}": {
                                "variants": {"package_manager": "spack"},
                                "variables": variables,
                            }
                        }
                    }
                }
            }
        }

    def compute_include_section(self):
        return ["./configs/software.yaml", "./configs/variables.yaml"]

    def compute_spack_section(self):
        names = ["py-pready", "osu-micro-benchmarks"]
        return {
            "packages": {
                "py-pready": {"pkg_spec": "py-pready@0.2.0", "compiler": "default-compiler"},
                "osu-micro-benchmarks": {"pkg_spec": "osu-micro-benchmarks@7:", "compiler": "default-compiler"},
            },
            "environments": {"pready": {"packages": ["default-mpi", *names]}},
        }
