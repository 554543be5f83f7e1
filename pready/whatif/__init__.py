"""What if: predictions over machines, libraries and any fields of a workload, point by point on all cores."""
