"""Packages of extras such as ``pip install 'pready[plot]'``, and the error without them."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

from pready.model.common.errors import PreadyError


def need(package: str, what: str, extra: str = "plot") -> None:
    """Refuse `what`, such as "a picture", that needs a package of an extra which is not installed. Raises PreadyError:
    with the command to install it."""
    if find_spec(package) is None:
        raise PreadyError(f"{what} needs {package}, which is not installed: {command(extra)}")


def command(extra: str) -> str:
    """How to install an extra for this interpreter: another pip may be first in PATH."""
    return f"{shlex.quote(sys.executable)} -m pip install 'pready[{extra}]'"
