"""SST as a second engine: configurations, runs and results of the motifs in ``motifs/``.

From the outside in: `simulate` (a Workload to a Prediction), `run` and `library` (SST itself), `config`
(the file that SST reads), `firefly` and `calibrate` (a Machine as SST's parameters), `results` (what SST
wrote), `topology` and `parameters`.
"""
