"""Eq. 1-9 of gillis2023, and the papers' metrics."""
