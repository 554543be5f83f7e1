#include "places.hpp"

#include "passes.hpp"

namespace pready {

Places::Places(const Plan& p) {
    const auto vcis = static_cast<std::size_t>(p.vcis), directions = static_cast<std::size_t>(p.directions);
    const int n = p.transports * p.directions;
    size.assign(vcis * directions, 0);
    begin.assign(vcis * directions, 0);
    slot.assign(static_cast<std::size_t>(n), 0);
    for (int i = 0; i < n; ++i) direction.push_back(i % p.directions);
    const std::int32_t* member = p.vci_members;
    std::vector<std::int32_t> filled(directions, 0);
    std::int32_t m = 0;
    for (std::size_t v = 0; v < vcis; ++v) {
        for (std::size_t d = 0; d < directions; ++d) begin[v * directions + d] = filled[d];
        for (int i = 0; i < p.vci_size[v]; ++i, ++member, ++m) {
            // A transport partition is a message to every neighbour, numbered as it queues.
            const std::int32_t first = p.mapped ? *member : m * p.directions;
            for (std::int32_t number = first; number < first + (p.mapped ? 1 : p.directions); ++number) {
                const auto d = static_cast<std::size_t>(number % p.directions);
                slot[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(
                    kHead + static_cast<int>(d) * p.transports + filled[d]++);
                ++size[v * directions + d];
            }
        }
    }
}

}  // namespace pready
