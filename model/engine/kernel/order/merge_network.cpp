#include "order/merge_network.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <queue>
#include <utility>

namespace pready {
namespace {

using Order = std::vector<std::int32_t>;

constexpr std::size_t kSorted[] = {8, 6, 4};  // so many values are sorted at once, if in no order at all

// A few levels of merges by halves, of groups of two to eight values that are stored once. What is done to one
// group does not depend on another.
struct Levels {
    std::vector<std::int32_t> before, fours, after, eights;

    // The first `count` of two, four or eight values `apart`: what is beyond is larger than all.
    void add(const std::int32_t* at, std::size_t apart, std::size_t count) {
        const auto put = [&](std::vector<std::int32_t>& list, std::initializer_list<std::size_t> numbers) {
            for (const std::size_t i : numbers) list.push_back(at[i * apart]);
        };
        if (count == 8) {
            put(eights, {0, 1, 2, 3, 4, 5, 6, 7});
            return;
        }
        for (std::size_t i = 4; i < count; ++i) put(before, {i - 4, i});
        if (count >= 4) put(fours, {0, 1, 2, 3});
        if (count == 7) put(after, {4, 6});
        if (count > 5) put(after, {4, 5});
        if (count == 3) put(after, {0, 2});
        if (count == 2 || count == 3) put(after, {0, 1});
    }

    void append_to(std::vector<std::int32_t>& steps) const {
        const auto append = [&](const std::vector<std::int32_t>& list, int size) {
            if (list.empty()) return;
            steps.insert(steps.end(), {size, static_cast<std::int32_t>(list.size()) / size});
            steps.insert(steps.end(), list.begin(), list.end());
        };
        append(before, 2);
        append(fours, 4);
        append(after, 2);
        append(eights, 8);
    }
};

// Batcher's merge by halves: of values that fall and then rise, each of the first half with that one half further on,
// and the same of both halves; the first has a power of two (H. W. Lang, "Bitonic sorting network for n not a power of
// 2"). Three levels at a time; of more than fit the cache, each part is merged before the next.
void merge_halves(const std::int32_t* values, std::size_t size, int levels, std::vector<std::int32_t>& steps) {
    constexpr int most = 3, in_cache = 9;  // 9 levels: 512 values, which are 32 KiB of W ranks
    const bool large = levels > in_cache;
    int left = levels;
    while (left > 0) {
        const int odd = (large ? left - in_cache : left) % most, taken = odd == 0 ? most : odd;
        const std::size_t block = std::size_t{1} << left;
        left -= taken;
        const std::size_t apart = std::size_t{1} << left;
        Levels now;
        for (std::size_t first = 0; first < size; first += block) {
            for (std::size_t i = first; i < std::min(first + apart, size); ++i)
                now.add(values + i, apart, (std::min(first + block, size) - i + apart - 1) / apart);
        }
        now.append_to(steps);
        if (!large) continue;
        for (std::size_t first = 0; first < size; first += apart)
            merge_halves(values + first, std::min(apart, size - first), left, steps);
        return;
    }
}

Order merged(const Order& a, const Order& b, std::vector<std::int32_t>& steps) {
    if (a.empty()) return b;
    Order out(a.rbegin(), a.rend());
    out.insert(out.end(), b.begin(), b.end());
    int levels = 0;
    while (std::size_t{1} << levels < out.size()) ++levels;
    merge_halves(out.data(), out.size(), levels, steps);
    return out;
}

}  // namespace

MergeNetwork::MergeNetwork(const std::vector<int>& lengths) {
    // The two shortest lists first, as in Huffman's trees; among equals the older one.
    using Entry = std::pair<std::size_t, std::size_t>;  // how long, and which of `made`
    std::vector<Order> made;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> lists;
    const auto add = [&](Order list) {
        lists.push({list.size(), made.size()});
        made.push_back(std::move(list));
    };
    const auto shortest = [&] {
        const std::size_t i = lists.top().second;
        lists.pop();
        return std::move(made[i]);
    };
    std::int32_t next = 0;
    Order alone;
    for (const int length : lengths) {
        if (length == 1) {
            alone.push_back(next++);
            continue;
        }
        Order places;
        for (int i = 0; i < length; ++i) places.push_back(next++);
        add(std::move(places));
    }
    std::size_t at = 0;
    for (const std::size_t size : kSorted) {
        const std::size_t groups = (alone.size() - at) / size;
        if (groups > 0) steps.insert(steps.end(), {kSorts + static_cast<int>(size), static_cast<std::int32_t>(groups)});
        for (std::size_t g = 0; g < groups; ++g, at += size) {
            const Order group(alone.data() + at, alone.data() + at + size);
            steps.insert(steps.end(), group.begin(), group.end());
            add(group);
        }
    }
    for (; at < alone.size(); ++at) add({alone[at]});
    while (lists.size() > 1) {
        const Order a = shortest(), b = shortest();
        add(merged(a, b, steps));
    }
    if (!lists.empty()) order = shortest();
}

MergeNetwork::MergeNetwork(const std::vector<int>& lengths, const std::vector<std::int32_t>& place)
    : MergeNetwork(lengths) {
    for (std::size_t at = 0; at < steps.size();) {
        const std::size_t end = at + 2 + static_cast<std::size_t>(steps[at] % kSorts * steps[at + 1]);
        for (at += 2; at < end; ++at) steps[at] = place[static_cast<std::size_t>(steps[at])];
    }
    for (std::int32_t& i : order) i = place[static_cast<std::size_t>(i)];
}

Network MergeNetwork::view() const {
    return {steps.data(), steps.data() + steps.size(), order.data(), static_cast<int>(order.size())};
}

}  // namespace pready
