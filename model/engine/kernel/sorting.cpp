#include "sorting.hpp"

#include <algorithm>
#include <utility>

#include "passes.hpp"

namespace pready {

Sorting::Sorting(Plan& p) : places_(p) {
    const bool gated = p.two_sided || p.rendezvous;
    p.message_direction = places_.direction.data();
    p.message_vci = places_.vci.data();
    p.vci_messages = places_.messages.data();
    p.message_slot = places_.slot.data();
    p.tags = p.receivers == Receivers::threads && p.vcis > 1;
    p.vci_bits = 0;
    while (p.tags && p.vci_bits < p.vcis - 1) p.vci_bits = 2 * p.vci_bits + 1;
    if (!p.tags) std::fill(places_.vci.begin(), places_.vci.end(), 0);
    p.record = kHead + (p.burst ? p.transports + 1 : p.transports * p.directions);
    p.send_sorts = !p.burst && (gated ? p.directions > 1 || p.vcis > 1 : p.vcis > 1);
    p.everywhere = std::all_of(p.degree, p.degree + p.profiles, [&](std::int32_t n) { return n == p.directions; });
    p.lists_leaving = p.nodes > 0 && (p.send_sorts || p.mapped);
    p.keeps_turns = p.nodes > 0 && !p.lists_leaving && !gated && !p.attended;
    p.leaving = p.record;
    if (p.lists_leaving) p.record += 1 + p.transports * p.directions;
    if (p.keeps_turns) p.record += p.transports;
    p.port = p.record;
    if (p.queues) p.record += 2 * port_size(p);
    p.numbers = 1;
    while (p.numbers < std::int64_t{p.transports} * p.directions) p.numbers = 2 * p.numbers + 1;
    p.ticks = p.needs_out && p.directions > 1;
    if (p.mapped) queues(p);
    if (p.send_sorts) {
        send_network_ = sends(p, gated);
        p.send_network = send_network_.view();
    }
    inbox(p);
    if (p.nodes > 0) nodes(p);
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

// Networks of the latest 1, 3, 7, ... of each source.
void Sorting::inbox(Plan& p) {
    const int each = p.transports;
    for (int keep = 1;; keep = 2 * keep + 1) {
        const int length = std::min(keep, each);
        std::vector<std::int32_t> place;
        for (int j = 0; j < p.sources; ++j) {
            for (int i = length; i > 0; --i) place.push_back((j + 1) * each - i);
        }
        inbox_networks_.emplace_back(std::vector<int>(static_cast<std::size_t>(p.sources), length), place);
        if (keep >= each) break;
    }
    for (const MergeNetwork& network : inbox_networks_) inbox_views_.push_back(network.view());
    const int size = p.sources * each;
    std::int64_t numbers = 1;
    while (numbers < size) numbers = 2 * numbers + 1;
    p.inbox = {each, size, static_cast<int>(inbox_views_.size()), inbox_views_.data(), numbers,
               *std::max_element(places_.messages.begin(), places_.messages.end()) * p.sources};
}

// What leaves each rank of a node is in order.
void Sorting::nodes(Plan& p) {
    constexpr std::int64_t kFewest = 4;   // nodes, below which one at a time is as fast
    constexpr std::int32_t kMost = 32768;  // messages of a node, above which its network takes longer to make
    const std::int64_t ranks = p.node_start[1];
    for (std::int64_t n = 0; n < p.nodes; ++n) {
        if (p.node_start[n + 1] - p.node_start[n] != ranks) return;
    }
    if (p.nodes < kFewest) return;
    std::vector<int> lengths;
    for (std::int64_t k = 0; k < ranks; ++k) {
        int most = 0;
        for (std::int64_t n = 0; n < p.nodes; ++n) {
            const std::int64_t first = std::int64_t{p.rank_profile[p.node_rank[p.node_start[n] + k]]} * p.directions;
            int leave = 0;
            for (int d = 0; d < p.directions; ++d)
                leave += p.present[first + d] && !p.inside[p.direction_class[first + d]] ? 1 : 0;
            most = std::max(most, leave);
        }
        lengths.push_back(most * p.transports);
    }
    node_first_.push_back(0);
    for (std::size_t k = 0; k < lengths.size(); ++k) {
        node_first_.push_back(node_first_.back() + lengths[k]);
        if (node_first_.back() > kMost) return;
        node_owner_.insert(node_owner_.end(), static_cast<std::size_t>(lengths[k]), static_cast<std::int32_t>(k));
    }
    p.node_numbers = 1;
    while (p.node_numbers < node_first_.back()) p.node_numbers = 2 * p.node_numbers + 1;
    node_network_ = MergeNetwork(lengths);
    p.node_network = node_network_.view();
    p.node_first = node_first_.data();
    p.node_owner = node_owner_.data();
}

}  // namespace pready
