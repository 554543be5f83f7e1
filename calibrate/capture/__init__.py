"""What an unmodified MPI+threads program does: a preloaded library records it, the rest of this folder reads it.

`preload/` is the library. `records` reads its files, `symbols` names places in the code, `regions` has when threads
finished, `summary` the run in a few numbers. `steps` finds what repeats, `patterns` whom the ranks talk to, `found`
puts both together, `workload_file` writes them down. `from_otf2` reads another tool's trace as one,
`from_totals` and `from_mpip` take what has no threads; `trace` shows a run in a viewer.
"""
