// Iterations of halos, pairs and lists: all ranks send, then all receive.
#pragma once

#include <cstdint>

#include "run.hpp"

namespace pready {

// How ranks are divided among cores, and how many records are kept at a time.
struct Layout {
    std::int64_t chunk, chunks, capacity;
    bool shared;  // one window for all ranks

    Layout(const Plan& plan, int cores, std::int64_t chunk);
};

Outcome run_grid(const Plan& plan, const Passes& passes, const Options& options);

}  // namespace pready
