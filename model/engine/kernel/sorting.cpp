#include "sorting.hpp"

#include <algorithm>
#include <utility>

#include "passes.hpp"

namespace pready {

constexpr int kLevels = 4;  // of networks for nodes: sixteen values, which the widest instruction set keeps in registers

Sorting::Sorting(Plan& p) : places_(p) {
    const bool gated = p.granted || p.two_sided || p.rendezvous;
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
    p.ticks = p.needs_out && p.directions > 1;
    p.keeps_turns = p.nodes > 0 && !p.mapped && !gated && !p.attended && (p.vcis == 1 || !p.ticks);
    p.lists_leaving = p.nodes > 0 && !p.keeps_turns && (p.send_sorts || p.mapped);
    p.leaving = p.record;
    if (p.lists_leaving) p.record += 1 + p.transports * p.directions;
    if (p.keeps_turns) p.record += p.transports;
    p.shared = 0;
    if (p.pattern == Pattern::sweep) {
        p.shared = static_cast<int>(p.record);
        p.record += p.directions;
    }
    p.through = static_cast<int>(p.record);
    if (p.overrun) p.record += p.transports * p.directions;
    p.port = p.record;
    p.keeps_ports = p.queues && p.pattern != Pattern::sweep;
    if (p.keeps_ports) p.record += 2 * port_size(p);
    p.cpu = p.record;
    if (p.one_cpu) p.record += cpu_size(p);
    p.coming = p.record;
    if (p.backs_up) p.record += coming_size(p);
    p.numbers = 1;
    while (p.numbers < std::int64_t{p.transports} * p.directions) p.numbers = 2 * p.numbers + 1;
    kinds(p);
    if (p.mapped) queues(p);
    if (p.send_sorts && !p.keeps_turns) {
        send_network_ = sends(p, gated);
        p.send_network = send_network_.view();
    }
    inbox(p);
    if (p.keeps_turns) turns(p);
    if (p.nodes > 0) nodes(p);
}

// What ranks look up of all that they receive, of neighbours in a row.
void Sorting::kinds(Plan& p) {
    p.rank_kinds = nullptr;
    if (!p.placed || p.pattern != Pattern::grid || p.classes == 1 || p.classes > kFew) return;
    if (p.directions * kKindBits > 63) return;
    std::vector<std::int64_t> of(static_cast<std::size_t>(p.profiles), 0);
    for (std::size_t i = 0; i < of.size() * static_cast<std::size_t>(p.directions); ++i) {
        const std::size_t d = i % static_cast<std::size_t>(p.directions);
        of[i / static_cast<std::size_t>(p.directions)] |= std::int64_t{p.direction_class[i]} << kKindBits * d;
    }
    rank_kinds_.resize(static_cast<std::size_t>(p.ranks));
    std::transform(p.rank_profile, p.rank_profile + p.ranks, rank_kinds_.begin(),
                   [&](std::int32_t profile) { return of[static_cast<std::size_t>(profile)]; });
    p.rank_kinds = rank_kinds_.data();
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

// Networks of the latest 1, 3, 7, ... of each source; where they are of several sizes, of which each takes longer, of
// the latest 2 and 5, too.
void Sorting::inbox(Plan& p) {
    const int each = p.transports;
    for (int keep = 1;; keep = 2 * keep + 1) {
        inbox_networks_.push_back(latest(p, std::min(keep, each)));
        if (keep >= each) break;
    }
    for (const int keep : {2, 5}) {
        if (p.classes > 1) inbox_between_.push_back(latest(p, std::min(keep, each)));
    }
    for (const MergeNetwork& network : inbox_networks_) inbox_views_.push_back(network.view());
    for (const MergeNetwork& network : inbox_between_) between_views_.push_back(network.view());
    const int size = p.sources * each;
    std::int64_t numbers = 1;
    while (numbers < size) numbers = 2 * numbers + 1;
    p.inbox = {each, size, static_cast<int>(inbox_views_.size()), inbox_views_.data(), between_views_.data(), numbers,
               *std::max_element(places_.messages.begin(), places_.messages.end()) * p.sources};
}

// What a VCI issues to some directions is in order.
void Sorting::turns(Plan& p) {
    const auto each = static_cast<std::size_t>(p.directions + 1);
    node_out_.assign(static_cast<std::size_t>(p.profiles) * each, 0);
    for (std::size_t profile = 0; profile < static_cast<std::size_t>(p.profiles); ++profile) {
        std::int32_t* ways = node_out_.data() + profile * each;
        for (std::int32_t d = 0; d < p.directions; ++d) {
            const std::size_t i = profile * static_cast<std::size_t>(p.directions) + static_cast<std::size_t>(d);
            if (p.present[i] && !p.inside[p.direction_class[i]]) ways[++ways[0]] = d;
        }
    }
    p.node_out = node_out_.data();
    if (p.vcis == 1) return;
    for (int n = 0; n <= p.directions; ++n) {
        std::vector<int> lengths;
        for (int v = 0; v < p.vcis; ++v) lengths.push_back(p.vci_size[v] * n);
        inside_networks_.emplace_back(lengths);
    }
    for (const MergeNetwork& network : inside_networks_) inside_views_.push_back(network.view());
    p.inside_networks = inside_views_.data();
    p.turns_network = inside_views_[1];
}

// Where all that leaves nodes is of one class, and much: as many trains of a turn as what stays within the node makes of
// it, of so many slots each. False if it is not so.
bool Sorting::trains(Plan& p) {
    constexpr std::int64_t kMost = 32768;  // trains of a node and messages, which are numbered in 16 bits
    constexpr int kWorth = 8;              // messages of a turn, below which it is cheaper to sort them one by one
    std::int32_t outside = 0;
    for (std::int32_t c = 0; c < p.classes; ++c) outside += p.inside[c] ? 0 : 1;
    if (!p.keeps_turns || p.vcis > 1 || outside != 1) return false;
    NodeTrains out;
    out.slots = kTrainSlots;
    for (std::int64_t profile = 0; profile < p.profiles; ++profile) {
        int runs = 0, length = 0;
        for (std::int64_t i = profile * p.directions; i < (profile + 1) * p.directions; ++i) {
            if (!p.present[i]) continue;
            length = p.inside[p.direction_class[i]] ? 0 : length % out.slots + 1;
            if (length == 1) ++runs;
        }
        out.most = std::max(out.most, runs);
    }
    const std::int64_t ranks = p.node_start[1], turns = ranks * p.transports;
    for (std::int64_t n = 0; n < p.nodes; ++n) {
        std::int64_t messages = 0;
        for (std::int64_t i = p.node_start[n]; i < p.node_start[n + 1]; ++i)
            messages += node_out_[static_cast<std::size_t>(p.rank_profile[p.node_rank[i]]) *
                                  static_cast<std::size_t>(p.directions + 1)];
        out.messages = std::max(out.messages, static_cast<int>(std::min(messages * p.transports, kMost + 1)));
    }
    if (turns * out.most > kMost || out.messages > kMost || out.messages < kWorth * turns) return false;
    out.numbers = 1;
    while (out.numbers < turns * out.most) out.numbers = 2 * out.numbers + 1;
    train_networks_[0] = MergeNetwork(std::vector<int>(static_cast<std::size_t>(turns), 1), kLevels);
    out.one = out.several = train_networks_[0].view();
    if (out.most > 1) {
        train_networks_[1] = MergeNetwork(std::vector<int>(static_cast<std::size_t>(turns * out.most), 1), kLevels);
        out.several = train_networks_[1].view();
    }
    p.node_trains = out;
    return true;
}

// What leaves each rank of a node, or each of its VCIs, is in order.
void Sorting::nodes(Plan& p) {
    constexpr std::int64_t kFewest = 4;   // nodes, below which one at a time is as fast
    constexpr std::int32_t kMost = 32768;  // messages of a node, above which its network takes longer to make
    const std::int64_t ranks = p.node_start[1];
    for (std::int64_t n = 0; n < p.nodes; ++n) {
        if (p.node_start[n + 1] - p.node_start[n] != ranks) return;
    }
    if (p.nodes < kFewest || trains(p)) return;
    std::vector<int> lengths;
    p.node_lists = p.keeps_turns ? p.vcis : 1;
    for (std::int64_t k = 0; k < ranks; ++k) {
        int most = 0;
        for (std::int64_t n = 0; n < p.nodes; ++n) {
            const std::int64_t first = std::int64_t{p.rank_profile[p.node_rank[p.node_start[n] + k]]} * p.directions;
            int leave = 0;
            for (int d = 0; d < p.directions; ++d)
                leave += p.present[first + d] && !p.inside[p.direction_class[first + d]] ? 1 : 0;
            most = std::max(most, leave);
        }
        for (int v = 0; v < p.node_lists; ++v)
            lengths.push_back(most * (p.node_lists == 1 ? p.transports : p.vci_size[v]));
    }
    node_first_.push_back(0);
    for (std::size_t k = 0; k < lengths.size(); ++k) {
        node_first_.push_back(node_first_.back() + lengths[k]);
        if (node_first_.back() > kMost) return;
        node_owner_.insert(node_owner_.end(), static_cast<std::size_t>(lengths[k]),
                           static_cast<std::int32_t>(k) / p.node_lists);
    }
    p.node_numbers = 1;
    while (p.node_numbers < node_first_.back()) p.node_numbers = 2 * p.node_numbers + 1;
    node_network_ = MergeNetwork(lengths, kLevels);
    p.node_network = node_network_.view();
    p.node_first = node_first_.data();
    p.node_owner = node_owner_.data();
}

}  // namespace pready
