"""Predictions against real MPI, measured in the same session on sizes that the calibration has not seen."""
