#include "merge_network.hpp"

#include <queue>
#include <utility>

namespace pready {
namespace {

using Order = std::vector<std::int32_t>;

constexpr std::size_t kInCache = 256;  // values, which are 16 KiB of W ranks

// Batcher's other merge: of values that fall and then rise, each of the first half with that one half further on, and the
// same of both halves; the first has a power of two (H. W. Lang, "Bitonic sorting network for n not a power of 2").
void bitonic(std::int32_t* values, std::size_t size, std::vector<std::int32_t>& pairs) {
    if (size < 2) return;
    std::size_t half = 1;
    while (2 * half < size) half *= 2;
    for (std::size_t i = 0; i + half < size; ++i) pairs.insert(pairs.end(), {values[i], values[i + half]});
    bitonic(values, half, pairs);
    bitonic(values + half, size - half, pairs);
}

// Batcher's merge of two sorted lists of any lengths (Knuth, TAOCP 3, 5.3.4): merge the odd-numbered
// elements, merge the even-numbered ones, then compare the i-th even with the (i+1)-th odd. Every second, fourth,
// eighth value share few sets of a cache: what does not fit is merged by halves, which takes a tenth more comparators.
Order merged(const Order& a, const Order& b, std::vector<std::int32_t>& pairs) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    if (a.size() + b.size() > kInCache) {
        Order out(a.rbegin(), a.rend());
        out.insert(out.end(), b.begin(), b.end());
        bitonic(out.data(), out.size(), pairs);
        return out;
    }
    if (a.size() == 1 && b.size() == 1) {
        pairs.push_back(a[0]);
        pairs.push_back(b[0]);
        return {a[0], b[0]};
    }
    Order odd_a, even_a, odd_b, even_b;
    for (std::size_t i = 0; i < a.size(); ++i) (i % 2 == 0 ? odd_a : even_a).push_back(a[i]);
    for (std::size_t i = 0; i < b.size(); ++i) (i % 2 == 0 ? odd_b : even_b).push_back(b[i]);
    const Order v = merged(odd_a, odd_b, pairs), w = merged(even_a, even_b, pairs);
    Order out{v[0]};
    for (std::size_t i = 0; i < w.size(); ++i) {
        if (i + 1 < v.size()) {
            pairs.push_back(w[i]);
            pairs.push_back(v[i + 1]);
        }
        out.push_back(w[i]);
        if (i + 1 < v.size()) out.push_back(v[i + 1]);
    }
    for (std::size_t i = w.size() + 1; i < v.size(); ++i) out.push_back(v[i]);
    return out;
}

}  // namespace

MergeNetwork::MergeNetwork(const std::vector<int>& lengths) {
    // The two shortest lists first, as in Huffman's trees; among equals the older one.
    using Entry = std::pair<std::pair<std::size_t, std::size_t>, Order>;
    const auto later = [](const Entry& a, const Entry& b) { return a.first > b.first; };
    std::priority_queue<Entry, std::vector<Entry>, decltype(later)> lists(later);
    std::int32_t next = 0;
    std::size_t age = 0;
    for (const int length : lengths) {
        Order places;
        for (int i = 0; i < length; ++i) places.push_back(next++);
        lists.push({{places.size(), age++}, places});
    }
    while (lists.size() > 1) {
        const Order a = lists.top().second;
        lists.pop();
        const Order b = lists.top().second;
        lists.pop();
        Order both = merged(a, b, pairs);
        lists.push({{both.size(), age++}, std::move(both)});
    }
    if (!lists.empty()) order = lists.top().second;
}

MergeNetwork::MergeNetwork(const std::vector<int>& lengths, const std::vector<std::int32_t>& place)
    : MergeNetwork(lengths) {
    for (std::int32_t& i : pairs) i = place[static_cast<std::size_t>(i)];
    for (std::int32_t& i : order) i = place[static_cast<std::size_t>(i)];
}

Network MergeNetwork::view() const {
    return {pairs.data(), order.data(), static_cast<std::int64_t>(pairs.size() / 2),
            static_cast<int>(order.size())};
}

}  // namespace pready
