#include "order/sorting.hpp"

#include <algorithm>
#include <utility>

#include "lanes/passes.hpp"

namespace pready {

Sorting::Sorting(Plan& p) {
    const bool gated = p.granted || p.two_sided || p.rendezvous;
    places(p);
    p.tags = p.receivers == Receivers::threads && p.vcis > 1;
    p.vci_bits = 0;
    while (p.tags && p.vci_bits < p.vcis - 1) p.vci_bits = 2 * p.vci_bits + 1;
    if (!p.tags) std::fill(vci_.begin(), vci_.end(), 0);
    p.record = kHead + p.transports * p.directions;
    p.send_sorts = gated ? p.directions > 1 || p.vcis > 1 : p.vcis > 1;
    p.everywhere = std::all_of(p.degree, p.degree + p.profiles, [&](std::int32_t n) { return n == p.directions; });
    p.ticks = p.needs_out && p.directions > 1;
    p.notify = p.record;
    if (p.sync != Sync::none) p.record += 1;
    p.in_mpi = p.record;
    if (p.own_threads && p.waits) p.record += p.groups;
    p.leaving = p.record;
    p.lists_leaving = p.nodes > 0 && (p.send_sorts || p.mapped);
    if (p.lists_leaving) p.record += 1 + p.transports * p.directions;
    p.record = (p.record + kHead - 1) / kHead * kHead;
    p.numbers = 1;
    while (p.numbers < std::int64_t{p.transports} * p.directions) p.numbers = 2 * p.numbers + 1;
    if (p.mapped) queues(p);
    if (p.send_sorts) {
        send_network_ = sends(p, gated);
        p.send_network = send_network_.view();
    }
    inbox(p);
}

void Sorting::places(Plan& p) {
    const int n = p.transports * p.directions;
    slot_.assign(static_cast<std::size_t>(n), 0);
    vci_.assign(static_cast<std::size_t>(n), 0);
    messages_.assign(static_cast<std::size_t>(p.vcis) * static_cast<std::size_t>(p.directions), 0);
    for (int i = 0; i < n; ++i) direction_.push_back(i % p.directions);
    slot_direction_.assign(kHead, 0);
    for (int i = 0; i < n; ++i) slot_direction_.push_back(i / p.transports);
    const std::int32_t* member = p.vci_members;
    std::vector<std::int32_t> filled(static_cast<std::size_t>(p.directions), 0);
    std::int32_t m = 0;
    for (std::int32_t v = 0; v < p.vcis; ++v) {
        for (int i = 0; i < p.vci_size[v]; ++i, ++member, ++m) {
            // A transport partition is a message to every neighbour, numbered as it queues.
            const std::int32_t first = p.mapped ? *member : m * p.directions;
            for (std::int32_t number = first; number < first + (p.mapped ? 1 : p.directions); ++number) {
                const auto d = static_cast<std::size_t>(number % p.directions);
                slot_[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(
                    kHead + static_cast<int>(d) * p.transports + filled[d]++);
                vci_[static_cast<std::size_t>(number)] = v;
                ++messages_[static_cast<std::size_t>(v * p.directions) + d];
            }
        }
    }
    p.message_direction = direction_.data();
    p.message_vci = vci_.data();
    p.vci_messages = messages_.data();
    p.message_slot = slot_.data();
    p.slot_direction = slot_direction_.data();
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

// Of the latest so many of each source.
MergeNetwork Sorting::latest(const Plan& p, int length) {
    std::vector<std::int32_t> place;
    for (int j = 0; j < p.sources; ++j) {
        for (int i = length; i > 0; --i) place.push_back((j + 1) * p.transports - i);
    }
    return MergeNetwork(std::vector<int>(static_cast<std::size_t>(p.sources), length), place);
}

// Networks of the latest 1, 2, 3, 5, 7, ... of each source.
void Sorting::inbox(Plan& p) {
    const int each = p.transports;
    for (int keep = 1;; keep = 2 * keep + 1) {
        inbox_networks_.push_back(latest(p, std::min(keep, each)));
        if (keep >= each) break;
    }
    for (const int keep : {2, 5}) inbox_between_.push_back(latest(p, std::min(keep, each)));
    for (const MergeNetwork& network : inbox_networks_) inbox_views_.push_back(network.view());
    for (const MergeNetwork& network : inbox_between_) between_views_.push_back(network.view());
    std::int64_t numbers = 1;
    while (numbers < std::int64_t{p.sources} * each) numbers = 2 * numbers + 1;
    p.inbox = {each, static_cast<int>(inbox_views_.size()), inbox_views_.data(), between_views_.data(), numbers};
}

}  // namespace pready
