"""The Machine: what communication costs on one cluster."""

DEFAULT = "meluxina"
"""The machine that is taken where none is named: an example."""
