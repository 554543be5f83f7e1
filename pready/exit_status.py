"""Exit statuses, the same for every command; `docs/reference/exit-statuses.md` says them to users."""

from enum import IntEnum


class Status(IntEnum):
    """How a command ended."""

    DONE = 0
    CONTRADICTED = 1
    """A measurement contradicts the prediction, or a check failed."""
    WRONG_INPUT = 2
    NO_SST = 3
    UNWRITTEN = 4
    """Output could not be written."""
    INTERRUPTED = 130
    READER_GONE = 141
    TERMINATED = 143
