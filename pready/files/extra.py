"""What extras such as ``pip install 'pready[plot]'`` bring, and the one line where it is missing."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

from pready.model.errors import PreadyError


def need(package: str, what: str, extra: str = "plot") -> None:
    """Refuse what a package that is not installed would do.

    Parameters
    ----------
    package
        Its import name, such as "matplotlib".
    what
        What needs it, such as "a picture".
    extra
        Of pready's, that brings it.

    Raises
    ------
    PreadyError
        It is not installed; the line says how to install it.
    """
    if find_spec(package) is None:
        install = f"{shlex.quote(sys.executable)} -m pip install 'pready[{extra}]'"  # another pip may be first in PATH
        raise PreadyError(f"{what} needs {package}, which is not installed: {install}")
