"""The mathematics: what a partition costs on a machine, and what sending it early gains.

Everything in here works in SI floats (seconds, bytes, bytes per second), reads no command line,
prints nothing and runs no MPI. One idea per file; see the folder's README for the map.
"""
