# Copyright (c) 2026, the pready developers
# SPDX-License-Identifier: BSD-3-Clause
"""pready's motifs against reference files: sst-test-elements -p FOLDER, where the library is registered with SST."""

from sst_unittest import SSTTestCase, setUpModule, tearDownModule  # noqa: F401  (unittest calls them)
from sst_unittest_support import log_testing_note, os_test_file, testing_compare_sorted_diff


class testcase_pready(SSTTestCase):
    def test_pready_pingpong(self):
        self.pready_test_template("pingpong", "PartPingPong approach=part threads=4 transport=4 laggard_ns=5000")

    def test_pready_exchange_single(self):
        self.pready_test_template("exchange_single", "PartExchange approach=single threads=4 laggard_ns=5000")

    def test_pready_exchange_part(self):
        self.pready_test_template("exchange_part", "PartExchange approach=part threads=4 transport=4 laggard_ns=5000")

    def test_pready_exchange_many(self):
        self.pready_test_template("exchange_many", "PartExchange approach=many threads=4 transport=2 compute_ns=9000")

    def test_pready_sweep(self):
        self.pready_test_template("sweep", "PartExchange approach=many threads=2 transport=2 receives_first=1 phases=2")

    def pready_test_template(self, testcase, motif):
        outdir = self.get_test_output_run_dir()
        name = f"test_pready_{testcase}"
        sdlfile = f"{self.get_testsuite_dir()}/pready_test.py"
        reffile = f"{self.get_testsuite_dir()}/refFiles/{name}.out"
        outfile = f"{outdir}/{name}.out"
        errfile = f"{outdir}/{name}.err"
        mpioutfiles = f"{outdir}/{name}.testfile"

        options = f'--model-options="{motif}"'
        self.run_sst(sdlfile, outfile, errfile, other_args=options, set_cwd=outdir, mpi_out_files=mpioutfiles)
        if os_test_file(errfile, "-s"):
            log_testing_note(f"{name} has a non-empty error file {errfile}")
        # Ranks of several threads or processes print in another order.
        same = testing_compare_sorted_diff(name, outfile, reffile)
        assert same, f"{outfile} does not match reference file {reffile}"
