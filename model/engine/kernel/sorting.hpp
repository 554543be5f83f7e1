// The networks that bring messages into order: where they queue, leave and are received.
#pragma once

#include <cstdint>
#include <vector>

#include "merge_network.hpp"
#include "places.hpp"
#include "plan.hpp"

namespace pready {

class Sorting {
   public:
    // Fills in the plan's part on places and order, which then points here.
    explicit Sorting(Plan& plan);
    Sorting(const Sorting&) = delete;
    Sorting& operator=(const Sorting&) = delete;

   private:
    struct InboxData {
        std::vector<std::int32_t> source, from, begin, vci;
        std::vector<MergeNetwork> networks;
        std::vector<Network> views;
    };

    void queues(Plan& plan);
    MergeNetwork sends(const Plan& plan, bool gated) const;
    void inboxes(Plan& plan);
    InboxData inbox(const Plan& plan, int server, int servers) const;
    static Inbox viewed(InboxData& in);

    Places places_;
    std::vector<MergeNetwork> queue_networks_;
    std::vector<Network> queue_views_;
    MergeNetwork send_network_;
    std::vector<InboxData> inboxes_;
    std::vector<Inbox> inbox_views_;
    InboxData port_;
};

}  // namespace pready
