// Runs a broadcast over a tree of ranks, parents before their children.
#pragma once

#include "run/run.hpp"

namespace pready {

Outcome run_tree(const Plan& plan, const Passes& passes, const Options& options);

}  // namespace pready
