"""A machine that has what a bare Debian with Python, gcc, g++, make and git has, and nothing of its owner's.

::

    python3 tests/support/bare_machine.py COMMAND...

runs a command there, as ``.ci/run`` does. ``conftest.py`` gives it to every test; what a test needs besides, the marker
``needs`` takes from the machine outside (`needs.py`).
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

COMMANDS = """
sh bash dash [ basename cat chmod chown cp cut date dd df dirname du env expr false head hostname id install kill ln
ls mkdir mkfifo mktemp mv nice nohup nproc od printenv printf pwd readlink realpath rm rmdir seq sha256sum sleep sort
split stat stty sync tail tee test timeout touch tr true truncate uname uniq wc whoami xargs yes
awk cmp diff egrep find getopt grep gunzip gzip ldd mawk perl sed tar
flock mount setpriv setsid taskset umount unshare
addr2line ar as c++ c++filt cc cpp g++ gcc gcc-ar gcc-nm gcc-ranlib ld nm objcopy objdump ranlib readelf size strip
git make
"""
"""Debian's essential packages, as far as anything here calls them, util-linux among them; binutils, gcc, git, make."""

KEPT = "CI LANG LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE"
"""Variables without which a package manager or a compiler may not work at all; beside them those of `BEGINNINGS`."""
BEGINNINGS = ("PIP_", "PREADY_", *(f"{p}_{w}" for p in ("http", "https", "no", "all") for w in ("proxy", "PROXY")))
BEGINNINGS += tuple(name.upper() for name in BEGINNINGS[2:])
OUTSIDE = "PREADY_PATH_OUTSIDE"
"""The variable with the PATH of the machine outside, which only the marker `needs` reads."""


def bare(folder: Path, outside: Mapping[str, str]) -> dict[str, str]:
    """The variables of such a machine, whose folders are made in `folder`: commands, an empty home, temporary files."""
    commands, home, temporary = (folder / name for name in ("bin", "home", "tmp"))
    for made in (commands, home, temporary):
        made.mkdir()
    path = outside.get("PATH", os.defpath)
    # What Python itself was compiled by builds packages with C++, too: Debian's has the machine in its name.
    compilers = [words.split()[0] for name in ("CC", "CXX") if (words := sysconfig.get_config_var(name))]
    for name in dict.fromkeys((*COMMANDS.split(), *compilers)):
        if found := shutil.which(name, path=path):
            (commands / name).symlink_to(found)
    (commands / "python3").symlink_to(python())
    kept = {name: value for name, value in outside.items() if name in KEPT.split() or name.startswith(BEGINNINGS)}
    own = {"PATH": str(commands), "HOME": str(home), "TMPDIR": str(temporary), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    return {OUTSIDE: path} | kept | own


def python() -> str:
    """The interpreter itself, of no environment and no version manager's stand-in."""
    return str(getattr(sys, "_base_executable", sys.executable))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pready-bare-") as place:
        # A link to the interpreter would be gone with the folder, and with it the environment that is made of it.
        machine = bare(Path(place), os.environ) | {"PYTHON": python()}
        sys.exit(subprocess.call(sys.argv[1:], env=machine))
