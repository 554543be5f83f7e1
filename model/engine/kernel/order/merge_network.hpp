// Networks of comparators that merge sorted lists.
#pragma once

#include <cstdint>
#include <vector>

#include "recurrence/plan.hpp"

namespace pready {

// Sorted lists in, one sorted list out: Batcher's merges by halves for any lengths. Of lists of one value, several are
// sorted at once first.
struct MergeNetwork {
    std::vector<std::int32_t> steps, order;

    explicit MergeNetwork(const std::vector<int>& lengths);

    // The same for lists whose elements lie elsewhere: at place[i] in place of i.
    MergeNetwork(const std::vector<int>& lengths, const std::vector<std::int32_t>& place);
    MergeNetwork() = default;
    Network view() const;
};

}  // namespace pready
