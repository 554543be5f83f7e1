// The networks that bring messages into order: where they queue, leave and are received.
#pragma once

#include <cstdint>
#include <vector>

#include "order/merge_network.hpp"
#include "recurrence/plan.hpp"

namespace pready {

class Sorting {
   public:
    // Fills in the plan's part on places and order, which then points here.
    explicit Sorting(Plan& plan);
    Sorting(const Sorting&) = delete;
    Sorting& operator=(const Sorting&) = delete;

   private:
    void places(Plan& plan);
    void queues(Plan& plan);
    MergeNetwork sends(const Plan& plan, bool gated) const;
    void inbox(Plan& plan);
    static MergeNetwork latest(const Plan& plan, int length);

    // Of messages by issue position [transports * D]: direction, VCI, and where in a record one lies that leaves as it
    // is issued: by direction, then in that order.
    std::vector<std::int32_t> direction_, vci_, slot_;
    std::vector<std::int32_t> messages_;        // [vcis][D]: of a VCI to a direction
    std::vector<std::int32_t> slot_direction_;  // by place in a record
    std::vector<MergeNetwork> queue_networks_;
    std::vector<Network> queue_views_;
    MergeNetwork send_network_;
    std::vector<MergeNetwork> inbox_networks_, inbox_between_;
    std::vector<Network> inbox_views_, between_views_;
};

}  // namespace pready
