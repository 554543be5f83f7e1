"""What holds for every test."""

import os

from hypothesis import settings

# Before NumPy is imported: the workers keep all cores busy as it is.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test is about time: on a busy machine, or with a library's first import in it, an example may take long.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
