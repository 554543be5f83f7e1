# Copyright The pready developers.
#
# SPDX-License-Identifier: BSD-3-Clause

from ramble.appkit import *

NUMBER = r"(?P<value>-?[\d.e+-]+)"
FIGURES = {
    "communication_measured": "us",
    "communication_predicted": "us",
    "iteration_measured": "us",
    "iteration_predicted": "us",
    "saving_measured": "percent",
    "saving_predicted": "percent",
    "eta_measured": "1",
    "eta_predicted": "1",
}


class Pready(ExecutableApplication):
    """Is it worth porting MPI+threads communication to MPI 4.0 partitioned communication, and how?"""

    name = "pready"

    tags = ["mpi", "openmp", "network-point-to-point", "network-latency-bound", "multi-node"]

    # pready starts the ranks itself, through the launcher that it is given.
    executable(
        "calibrate",
        "pready calibrate --launcher '{mpi_command}' --threads {omp_num_threads} --budget '{budget}' -o machine.toml",
        use_mpi=False,
    )
    executable(
        "prove",
        "pready prove {workload_file} --machine machine.toml --launcher '{mpi_command}' --budget '{budget}'"
        " --metrics -o proof",
        use_mpi=False,
    )
    executable("osu", "osu_partitioned_latency {osu_options}", use_mpi=True)

    workload("calibrate", executables=["calibrate"])
    workload("prove", executables=["calibrate", "prove"])
    workload("osu_partitioned_latency", executables=["osu"])

    workload_variable(
        "budget", default="4 min", description="time to measure, for each command", workloads=["calibrate", "prove"]
    )
    workload_variable(
        "workload_file", default="halo3d.toml", description="a workload file of pready", workloads=["prove"]
    )
    workload_variable(
        "osu_options", default="", description="OMB 7 or later", workloads=["osu_partitioned_latency"]
    )

    for name, unit in FIGURES.items():
        figure_of_merit(
            f"{name} {{approach}}",
            fom_regex=rf"^pready\.{name}\[(?P<approach>[\w:.-]+)\] = {NUMBER} {unit}$",
            group_name="value",
            units="" if unit == "1" else unit,
        )
    figure_of_merit(
        "finding", fom_regex=r"^pready\.finding = (?P<finding>.+)$", group_name="finding", units=""
    )
    figure_of_merit(
        "osu_partitioned_latency {bytes}",
        fom_regex=r"^(?P<bytes>\d+)\s+(?P<latency>\d+\.\d+)$",
        group_name="latency",
        units="us",
    )

    success_criteria(
        "measured",
        mode="string",
        match=r"(pready\.finding = (?!not kept)|wrote .*machine\.toml|^\d+\s+\d+\.\d+$)",
        file="{experiment_run_dir}/{experiment_name}.out",
    )
