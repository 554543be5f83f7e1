"""What holds for every test."""

from hypothesis import settings

# No test is about time: on a busy machine, or with a library's first import in it, an example may take long.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
