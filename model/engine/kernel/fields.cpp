#include "fields.hpp"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <type_traits>

namespace pready {
namespace {

std::int64_t product(std::initializer_list<std::int64_t> sizes) {
    std::int64_t all = 1;
    for (const std::int64_t size : sizes) all *= size;
    return all;
}

template <class T>
constexpr bool kPriced = std::is_same_v<T, double> || std::is_same_v<T, Seed>;

template <class T>
void take(T& mine, const T& theirs) {
    if constexpr (kPriced<T>) mine = theirs;
}

template <class T>
void take(std::vector<T>& mine, const std::vector<T>& theirs) {
    if constexpr (kPriced<T>) std::copy(theirs.begin(), theirs.end(), mine.begin());
}

}  // namespace

std::int64_t Fields::jobs() const {
    return mapped ? std::int64_t{transports} * directions : transports;
}

bool Fields::draws_as(const Fields& o) const {
    const auto numbers = [](const Fields& f) {
        return std::tie(f.ranks, f.alone, f.seed, f.first, f.arrivals, f.density, f.threads, f.theta, f.base, f.noise,
                        f.sd, f.cut, f.share, f.kernels, f.centre, f.centre_cut, f.width);
    };
    return numbers(*this) == numbers(o);
}

std::string Fields::misshapen() const {
    const auto wrong = [](const char* name, const char* shape, std::size_t has, std::int64_t wanted) {
        return "field '" + std::string(name) + "' has " + std::to_string(has) + " numbers, not " +
               std::to_string(wanted) + ": " + shape;
    };
#define SCALAR(type, name)
#define TRIPLE(type, name)
#define ARRAY(type, name, ...)                                              \
    if (const std::int64_t wanted = product({__VA_ARGS__});                 \
        static_cast<std::int64_t>(name.size()) != wanted)                   \
        return wrong(#name, #__VA_ARGS__, name.size(), wanted);
#include "recurrence/fields.def"
    return {};
}

void Fields::point(Plan& plan) const {
#define SCALAR(type, name) plan.name = name;
#define TRIPLE(type, name) std::copy(name.begin(), name.end(), plan.name);
#define ARRAY(type, name, ...) plan.name = name.data();
#include "recurrence/fields.def"
}

void Fields::take(const Fields& other) {
#define SCALAR(type, name) pready::take(name, other.name);
#define TRIPLE(type, name) SCALAR(type, name)
#define ARRAY(type, name, ...) SCALAR(type, name)
#include "recurrence/fields.def"
}

}  // namespace pready
