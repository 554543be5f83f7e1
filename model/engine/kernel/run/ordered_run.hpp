// Iterations in which ranks wait for others of the same iteration: sweeps and broadcasts.
#pragma once

#include "run/run.hpp"

namespace pready {

Outcome run_sweep(const Plan& plan, const Passes& passes, const Options& options);
Outcome run_tree(const Plan& plan, const Passes& passes, const Options& options);

}  // namespace pready
