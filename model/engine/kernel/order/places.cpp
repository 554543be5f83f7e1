#include "order/places.hpp"

#include "lanes/passes.hpp"

namespace pready {

Places::Places(const Plan& p) {
    const int n = p.transports * p.directions;
    slot.assign(static_cast<std::size_t>(n), 0);
    vci.assign(static_cast<std::size_t>(n), 0);
    messages.assign(static_cast<std::size_t>(p.vcis) * static_cast<std::size_t>(p.directions), 0);
    for (int i = 0; i < n; ++i) direction.push_back(i % p.directions);
    slot_direction.assign(kHead, 0);
    for (int i = 0; i < n; ++i) slot_direction.push_back(i / p.transports);
    const std::int32_t* member = p.vci_members;
    std::vector<std::int32_t> filled(static_cast<std::size_t>(p.directions), 0);
    std::int32_t m = 0;
    for (std::int32_t v = 0; v < p.vcis; ++v) {
        for (int i = 0; i < p.vci_size[v]; ++i, ++member, ++m) {
            // A transport partition is a message to every neighbour, numbered as it queues.
            const std::int32_t first = p.mapped ? *member : m * p.directions;
            for (std::int32_t number = first; number < first + (p.mapped ? 1 : p.directions); ++number) {
                const auto d = static_cast<std::size_t>(number % p.directions);
                slot[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(
                    kHead + static_cast<int>(d) * p.transports + filled[d]++);
                vci[static_cast<std::size_t>(number)] = v;
                ++messages[static_cast<std::size_t>(v * p.directions) + d];
            }
        }
    }
}

}  // namespace pready
