"""Example command lines, for help and documentation; every option occurs in one."""

from __future__ import annotations

import click

EXAMPLES: dict[str, tuple[str, ...]] = {
    "calibrate": (
        'pready calibrate --launcher "srun -N 2 -n 2 -c 8" -o mymachine.toml',
        'pready calibrate --launcher "mpiexec -n 2 --hosts a,b" --mpicc /opt/mpi/bin/mpicc --budget "10 min" -o m.toml',
        "pready calibrate --launcher 'srun -N 2 -n 2 -c 8' --threads 8 -o mymachine.toml",
        "pready calibrate --launcher 'srun -n 2' --threads 16 --measure pingpong,rate --raw points.jsonl -o m.toml",
        "pready calibrate --raw points.jsonl --seed 1 -o cluster.toml",
        'pready calibrate --intra --launcher "srun -N 1 -n 2" -o mymachine.toml',
        'pready calibrate --ranks-per-node 8 --launcher "srun -N 2 -n 16 --ntasks-per-node 8 -m block" -o m.toml',
    ),
    "calibrate import": (
        "pready calibrate import results/ --library openmpi-4 --fabric infiniband -o mymachine.toml",
        "pready calibrate import osu_latency.txt osu_bw.txt --intra osu_latency_one_node.txt -o mymachine.toml",
        "pready calibrate import osu_latency.txt osu_mbw_mr.txt --library mpich-release -o mymachine.toml",
        "pready calibrate import job.log --take 'pml ucx' --fabric infiniband -o mymachine.toml",
        "pready calibrate import --example",
        "pready calibrate import imb_pingpong.txt --seed 1 -o mymachine.toml",
    ),
    "calibrate report": ("pready calibrate report mymachine.jsonl",),
    "capture": (
        "pready capture -o run/ -- mpiexec -n 4 ./app",
        "pready capture -o run/ --limit '1 GiB' --mpicc /opt/mpi/bin/mpicc -- srun -n 64 ./app input",
        "pready capture -o run/ --env > capture.sh",
    ),
    "compare": (
        "pready compare examples/halo3d.toml --set machine=meluxina,niagara",
        "pready compare examples/halo3d.toml examples/laggard.toml --set library=mpipcl,emulated -o -",
        "pready compare examples/halo3d.toml --machine bebop --library mpipcl --set arrivals.spread=1%,4% --json",
        "pready compare examples/halo3d.toml --set threads=4,8 --set work=total --all --min-gain '5 %'",
        "pready compare examples/halo3d.toml --set buffer=64KiB,1MiB -o c.csv --plot compare.svg",
    ),
    "doctor": (
        'pready doctor --launcher "srun -N 2 -n 2 -c 8"',
        'pready doctor --launcher "mpiexec -n 2" --mpicc mpicc --json',
    ),
    "examples": ("pready examples",),
    "explain": (
        "pready explain",
        "pready explain examples/halo3d.toml --machine bebop --library openmpi-persist",
        "pready explain examples/halo3d.toml --approach many:8 --set buffer=64KiB --seed 1",
        "pready explain examples/halo3d.toml --machine alps --library",
    ),
    "gain": (
        'pready gain threads=8 theta=8 bandwidth="25 GB/s" gamma="1000 us/MB"',
        'pready gain threads=8 bandwidth="25 GB/s" arithmetic_intensity=5 communication_intensity=1 frequency="3.5 GHz"'
        " epsilon=0.04 delta=0.1",
    ),
    "libraries": ("pready libraries", "pready libraries openmpi-persist@5.0.6"),
    "machines": ("pready machines", "pready machines meluxina"),
    "predict": (
        "pready predict examples/halo3d.toml",
        "pready predict examples/halo3d.toml --machine bebop --library openmpi-persist --seed 1",
        'pready predict examples/halo3d.toml --set buffer=256KiB --set machine.contexts=8 --all --min-gain "5 %"',
        "pready predict examples/halo3d.toml --machine alps --set ranks_per_node=4 --json",
        "pready predict examples/stencil-unequal.toml --exchange pressure",
        "pready predict examples/halo3d.toml --plot gain.svg",
        "pready predict examples/halo3d.toml -o report/ --overwrite",
        "pready predict app.toml --machine m.toml --set grid=8x8x8 --proof proof/",
        "pready predict - < examples/halo3d.toml",
    ),
    "prove": (
        'pready prove halo.toml --launcher "srun -N 8 -n 64 -c 8" --set grid=4x4x4 --machine mymachine.toml -o p/',
        'pready prove halo.toml --launcher "mpiexec -n 8" --set grid=2x2x2 --mpicc mpicc --budget 5min -o p/',
        'pready prove halo.toml --launcher "srun -N 2 -n 8" --set ranks_per_node=4 --machine alps -o p/',
        'pready prove halo.toml --launcher "srun -N 8 -n 8 -c 8" --approach many:8 --rounds 8 -o proof/',
        "pready prove halo.toml --launcher 'mpiexec -n 8' --library mpich-release --seed 1 -o p/",
        "pready prove halo.toml --approach many:8 --source fortran ported/",
        'pready prove halo.toml --launcher "srun -N 8 -n 8 -c 8" --machine mymachine.toml --metrics -o proof/',
    ),
    "simulate": (
        "pready simulate examples/halo3d.toml --machine bebop --library emulated --set grid=4x4x4 --set iterations=20",
        "pready simulate examples/halo3d.toml --set grid=128 --approach many:8:8 --seed 1 --plot waves.png",
        "pready simulate examples/halo3d.toml --set boundaries=open --set thread_grid=2x2x2 --json",
        "pready simulate graph.toml --set neighbour_list=lists.txt",
    ),
    "sst": ("pready sst --headers sst-elements/src info",),
    "sst ping-pong": ("pready sst ping-pong meluxina",),
    "sst config": (
        "pready sst config examples/halo3d.toml --topology dragonfly:adaptive --approach part:8 -o run.py",
        "pready sst config examples/halo3d.toml --machine bebop --set iterations=3 --set sst.packet=4KiB "
        "--seed 1 -o run.py",
    ),
    "sst info": ("pready sst info",),
    "sst run": (
        "pready sst run examples/halo3d.toml --topology fattree:4 --set grid=4x4x4 --set sst.packet=16KiB "
        "--approach part:8",
        "pready sst run examples/halo3d.toml --topology hyperx:adaptive --set ranks_per_node=2 "
        "--set sst.allocation=random --set sst.background=64KiB --set iterations=3 --set sst.packet=16KiB "
        "--approach part:8",
        "pready sst run halo.toml --machine bebop --library emulated --processes 2 --set iterations=3 "
        "--set sst.packet=16KiB --keep runs/ --seed 1 --json",
    ),
    "sweep": (
        "pready sweep examples/halo3d.toml --set buffer=64KiB:4MiB:4x",
        "pready sweep examples/halo3d.toml --set arrivals.spread=1%,4%,10% --set machine=bebop,hpc3 -o sweep.csv",
        "pready sweep examples/halo3d.toml --set threads=4,8,16 --set work=total --plot threads.svg",
        "pready sweep examples/halo3d.toml --set seed=0:9:1 --machine bebop --library emulated --json",
        'pready sweep examples/halo3d.toml --set buffer=1KiB:64MiB:2x --all --min-gain "5 %" -o s.csv',
    ),
    "validate": (
        "pready validate fabrics",
        "pready validate papers",
        "pready validate papers --json",
        "pready validate sst --machine bebop --seed 7",
    ),
    "workload": (
        "pready workload run/ -o app.toml",
        "pready workload run/ -o app.toml --set arrivals.model=trace --seed 1",
        "pready workload scorep/traces.otf2 -o app.toml",
        "pready workload mpi-only/traces.otf2 -o a.toml --set threads=8",
    ),
}
"""By command; subcommands follow a blank."""


def attach(command: click.Command, path: str) -> click.Command:
    """Append examples to the help of a command and of its subcommands."""
    lines = EXAMPLES.get(path, ())
    if lines:
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            attach(inner, f"{path} {name}")
    return command
