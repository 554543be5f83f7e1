// Iterations of a sweep: eight octants of wavefronts.
#pragma once

#include "run/run.hpp"

namespace pready {

Outcome run_sweep(const Plan& plan, const Passes& passes, const Options& options);

}  // namespace pready
