// Where a message lies in its sender's record: by direction, then as it leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "recurrence/plan.hpp"

namespace pready {

struct Places {
    std::vector<std::int32_t> direction;  // [transports * D] by issue position
    std::vector<std::int32_t> vci;        // the same
    std::vector<std::int32_t> messages;   // [vcis][D]: of a VCI to a direction
    std::vector<std::int32_t> slot;       // [transports * D] place in a record of what leaves as it is issued
    std::vector<std::int32_t> slot_direction;  // by place in a record

    explicit Places(const Plan& plan);
};

}  // namespace pready
