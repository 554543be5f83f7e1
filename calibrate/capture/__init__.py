"""Record an unmodified MPI+threads program with a preloaded library, and make a workload of the records.

`preload/` is the library, `build` compiles it, `environment` loads it into a run. `files` reads its files, `symbols`
names places in the code, `regions` finds when threads finish, `run_summary` counts. `repetition` finds the step that
repeats, `dependence` what its messages need, `patterns` the communication pattern, `step` joins them, `arrivals_fit`
fits the finish times and `workload_file` writes the result.
"""
