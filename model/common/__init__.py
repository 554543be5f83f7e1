"""Numbers, units, errors: they know nothing of MPI."""
