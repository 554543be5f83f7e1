// Iterations of halos, pairs and lists: all ranks send, then all receive.
#pragma once

#include <cstdint>
#include <vector>

#include "run/run.hpp"

namespace pready {

// How ranks are divided among cores, and how many records are kept at a time.
struct Layout {
    std::int64_t chunk, chunks, capacity;
    bool shared;  // one window for all ranks

    Layout(const Plan& plan, const Options& options);
};

std::vector<Layout> layouts(const Step& step, const Options& options);

// Bytes that a run takes: of records that all workers share, of those of one worker, and for it to work in.
struct RunMemory {
    std::int64_t shared = 0, window = 0, scratch = 0;
};

RunMemory memory_of(const Step& step, const Passes& passes, const std::vector<Layout>& layouts);

// The exchanges of `step` one after the other, iteration after iteration: a rank begins one when it has ended the last.
Outcome run_grid(const Step& step, const Passes& passes, const Options& options);

}  // namespace pready
