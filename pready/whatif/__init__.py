"""Sweeps: predictions over machines, libraries and any fields of a workload, on all cores."""
