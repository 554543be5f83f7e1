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
    while (p.vci_bits < p.vcis - 1) p.vci_bits = 2 * p.vci_bits + 1;
    p.record = kHead + (p.burst ? p.transports + 1 : p.transports * p.directions);
    p.leaving = p.record;
    if (p.nodes > 0) p.record += 1 + p.transports * p.directions;
    p.send_sorts = !p.burst && (gated ? p.directions > 1 || p.vcis > 1 : p.vcis > 1);
    p.numbers = 1;
    while (p.numbers < std::int64_t{p.transports} * p.directions) p.numbers = 2 * p.numbers + 1;
    p.ticks = p.needs_out && p.directions > 1;
    if (p.mapped) queues(p);
    if (p.send_sorts) {
        send_network_ = sends(p, gated);
        p.send_network = send_network_.view();
    }
    inbox(p);
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

}  // namespace pready
