"""Predictions against real MPI, measured in the same session on sizes that the calibration has not seen."""

from pready.validate.live.session import Site, Told, validate

__all__ = ["Site", "Told", "validate"]
