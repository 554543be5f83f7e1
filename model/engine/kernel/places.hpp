// Where a message lies in its sender's record: by direction, then by VCI.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace pready {

struct Places {
    std::vector<std::int32_t> direction;  // [transports * D] by issue position
    std::vector<std::int32_t> slot;       // [transports * D] place in a record
    std::vector<std::int32_t> size;       // [vcis][D]: messages of a VCI to a direction
    std::vector<std::int32_t> begin;      // [vcis][D]: the first of them in a record

    explicit Places(const Plan& plan);
};

}  // namespace pready
