"""What an unmodified MPI+threads program does: a preloaded library records it, the rest of this folder reads it.

`preload/` is the library, `build` compiles it, `environment` loads it into a run. `files` reads its files, `symbols`
names places in the code, `regions` finds when threads finish, `summary` counts. `repetition` finds the step that
repeats, `patterns` the communication pattern, `step` joins both, `arrivals_fit` fits the finish times and
`workload_file` writes the result. `from_otf2` reads another tool's trace as a run; `without_regions` and `from_mpip`
make a workload of totals; `trace` exports a run to a viewer.
"""
