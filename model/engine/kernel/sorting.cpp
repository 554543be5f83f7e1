#include "sorting.hpp"

#include <algorithm>
#include <utility>

#include "passes.hpp"

namespace pready {

Sorting::Sorting(Plan& p) : places_(p) {
    const bool gated = p.two_sided || p.rendezvous;
    p.message_direction = places_.direction.data();
    p.message_slot = places_.slot.data();
    p.record = kHead + (p.burst ? p.transports + 1 : p.transports * p.directions);
    p.send_sorts = !p.burst && (gated ? p.directions > 1 || p.vcis > 1 : p.vcis > 1);
    p.numbers = 1;
    while (p.numbers < std::int64_t{p.transports} * p.directions) p.numbers = 2 * p.numbers + 1;
    p.ticks = p.needs_out && p.directions > 1;
    if (p.mapped) queues(p);
    if (p.send_sorts) {
        send_network_ = sends(p, gated);
        p.send_network = send_network_.view();
    }
    inboxes(p);
}

// Every message queues by itself: as many lists of one.
void Sorting::queues(Plan& p) {
    for (int v = 0; v < p.vcis; ++v)
        queue_networks_.emplace_back(std::vector<int>(static_cast<std::size_t>(p.vci_size[v]), 1));
    for (const MergeNetwork& network : queue_networks_) queue_views_.push_back(network.view());
    p.queue_network = queue_views_.data();
}

// Of messages in the order of issue. Where nothing waits for a receiver, all that a VCI issues is in
// order; else only what it issues to one neighbour, and nothing if each message queues by itself.
MergeNetwork Sorting::sends(const Plan& p, bool gated) const {
    std::vector<int> lengths;
    if (!gated) {
        for (int v = 0; v < p.vcis; ++v) lengths.push_back(p.vci_size[v] * (p.mapped ? 1 : p.directions));
        return MergeNetwork(lengths);
    }
    if (p.mapped) return MergeNetwork(std::vector<int>(static_cast<std::size_t>(p.jobs), 1));
    std::vector<std::int32_t> place;  // one neighbour's messages are `directions` apart
    int at = 0;
    for (int v = 0; v < p.vcis; ++v) {
        for (int d = 0; d < p.directions; ++d) {
            lengths.push_back(p.vci_size[v]);
            for (int i = 0; i < p.vci_size[v]; ++i) place.push_back((at + i) * p.directions + d);
        }
        at += p.vci_size[v];
    }
    return MergeNetwork(lengths, place);
}

void Sorting::inboxes(Plan& p) {
    const int servers = p.receivers == Receivers::threads ? p.vcis : 1;
    for (int server = 0; server < servers; ++server) inboxes_.push_back(inbox(p, server, servers));
    for (InboxData& in : inboxes_) inbox_views_.push_back(viewed(in));
    p.inbox = inbox_views_.data();
    port_ = inbox(p, 0, 1);
    p.port = viewed(port_);
}

Inbox Sorting::viewed(InboxData& in) {
    for (const MergeNetwork& network : in.networks) in.views.push_back(network.view());
    std::int64_t numbers = 1;
    while (numbers < in.begin.back()) numbers = 2 * numbers + 1;
    std::vector<int> each(1, 0);
    for (const std::int32_t v : in.vci) {
        each.resize(std::max(each.size(), static_cast<std::size_t>(v) + 1), 0);
        ++each[static_cast<std::size_t>(v)];
    }
    return {static_cast<int>(in.source.size()), in.begin.back(), in.source.data(), in.from.data(), in.begin.data(),
            static_cast<int>(in.views.size()), in.views.data(), in.vci.data(),
            *std::max_element(each.begin(), each.end()), numbers};
}

// A sorted list per source and VCI, and networks of the latest 1, 3, 7, ... of each.
Sorting::InboxData Sorting::inbox(const Plan& p, int server, int servers) const {
    InboxData in;
    in.begin.push_back(0);
    int longest = 0;
    for (int j = 0; j < p.sources; ++j) {
        const int d = p.pattern == Pattern::list ? 0 : j;
        for (int v = 0; v < p.vcis; ++v) {
            const auto at = static_cast<std::size_t>(v * p.directions + d);
            const int count = places_.size[at];
            if (count == 0 || (servers > 1 && v != server)) continue;
            const int length = p.mapped ? 1 : count;
            for (int i = 0; i < count; i += length) {
                in.source.push_back(j);
                in.from.push_back(places_.begin[at] + i);
                in.begin.push_back(in.begin.back() + length);
                in.vci.insert(in.vci.end(), static_cast<std::size_t>(length), v);
                longest = std::max(longest, length);
            }
        }
    }
    for (int keep = 1;; keep = 2 * keep + 1) {
        std::vector<int> lengths;
        std::vector<std::int32_t> place;
        for (std::size_t q = 0; q + 1 < in.begin.size(); ++q) {
            const int length = std::min(keep, in.begin[q + 1] - in.begin[q]);
            lengths.push_back(length);
            for (int i = length; i > 0; --i) place.push_back(in.begin[q + 1] - i);
        }
        in.networks.emplace_back(lengths, place);
        if (keep >= longest) break;
    }
    return in;
}

}  // namespace pready
