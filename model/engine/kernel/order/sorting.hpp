// The networks that bring messages into order: where they queue, leave and are received.
#pragma once

#include <cstdint>
#include <vector>

#include "order/merge_network.hpp"
#include "order/places.hpp"
#include "recurrence/plan.hpp"

namespace pready {

class Sorting {
   public:
    // Fills in the plan's part on places and order, which then points here.
    explicit Sorting(Plan& plan);
    Sorting(const Sorting&) = delete;
    Sorting& operator=(const Sorting&) = delete;

   private:
    void queues(Plan& plan);
    MergeNetwork sends(const Plan& plan, bool gated) const;
    void inbox(Plan& plan);
    static MergeNetwork latest(const Plan& plan, int length);

    Places places_;
    std::vector<MergeNetwork> queue_networks_;
    std::vector<Network> queue_views_;
    MergeNetwork send_network_;
    std::vector<MergeNetwork> inbox_networks_, inbox_between_;
    std::vector<Network> inbox_views_, between_views_;
};

}  // namespace pready
