"""Measure a real machine with its own MPI, and fit a Machine to the measurements."""
