# Copyright The pready developers.
#
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *

CLONE = Path(__file__).resolve().parents[6]


class PyPready(PythonPackage):
    """Is it worth porting MPI+threads communication to MPI 4.0 partitioned communication, and how?"""

    # A release has no home yet: what is installed is the clone that this file is in, or what `python -m build` made there.
    git = f"file://{CLONE}"

    version("main", branch="main", preferred=True)
    version("0.2.0", url=f"file://{CLONE}/dist/pready-0.2.0.tar.gz")

    license("BSD-3-Clause")

    variant("plot", default=True, description="Pictures and reports")
    variant("sst", default=False, description="Simulate with SST's networks (pready sst)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-nanobind@2.2:", type="build")

    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-platformdirs@4.0:", type=("build", "run"))
    depends_on("py-pydantic@2.7:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-scipy@1.12:", type=("build", "run"))
    depends_on("py-sympy@1.12:", type=("build", "run"))
    depends_on("py-tomlkit@0.13:", type=("build", "run"))

    with when("+plot"):
        depends_on("py-matplotlib@3.8:", type=("build", "run"))

    # The motifs are built against it on first use.
    depends_on("sst-elements@14:", type="run", when="+sst")

    import_modules = ["pready", "pready.model.engine", "pready.calibrate.fit", "pready.model.common"]
