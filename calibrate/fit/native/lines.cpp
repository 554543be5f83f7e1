// Huber's straight line through windows of consecutive points of many rows (pready.calibrate.fit.lines).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

// Huber's ρ: quadratic up to k standard deviations, then linear; `worst` is what a point can cost at most.
struct Huber {
    double k, worst;
};

// Four points side by side, whatever the processor: sums are rounded everywhere alike.
constexpr std::int64_t kAbreast = 4;
typedef double V __attribute__((vector_size(kAbreast * sizeof(double))));
typedef std::int64_t I __attribute__((vector_size(kAbreast * sizeof(double))));

V load(const double* from) {
    V out;
    std::memcpy(&out, from, sizeof out);
    return out;
}
V size(V x) { return reinterpret_cast<V>(reinterpret_cast<I>(x) & 0x7fffffffffffffff); }  // without its sign
V smaller(V a, V b) { return a < b ? a : b; }
double sum(V x) { return (x[0] + x[1]) + (x[2] + x[3]); }

struct Line {
    double intercept, slope;
};

// The points of a window. Behind its last, up to a multiple of kAbreast, may lie others, whose `plain` is 0.
struct Points {
    const double *x, *y, *sigma, *plain;  // plain: the weight of a point that is not disturbed
    std::int64_t count;

    V off(const Line& line, std::int64_t i) const {
        return load(y + i) - line.intercept - line.slope * load(x + i);
    }
};

// Weighted least squares. `weight` is room for the weights: Huber's, of how far each point is off the line before.
Line least_squares(const Points& p, const Line* before, bool sloped, double k, double* weight) {
    V of_weight{}, of_x{}, of_y{};
    for (std::int64_t i = 0; i < p.count; i += kAbreast) {
        V w = load(p.plain + i);
        if (before) w *= smaller(k * load(p.sigma + i) / size(p.off(*before, i)), V{} + 1.0);
        std::memcpy(weight + i, &w, sizeof w);
        of_weight += w;
        of_x += w * load(p.x + i);
        of_y += w * load(p.y + i);
    }
    const double total = sum(of_weight), safe = total > 0 ? total : 1.0;
    const double mean_x = sum(of_x) / safe, mean_y = sum(of_y) / safe;
    if (!sloped) return {mean_y, 0.0};
    V of_xx{}, of_xy{};
    for (std::int64_t i = 0; i < p.count; i += kAbreast) {
        const V dx = load(p.x + i) - mean_x, lever = load(weight + i) * dx;
        of_xx += lever * dx;
        of_xy += lever * load(p.y + i);  // Σ lever = 0, so y needs no centring
    }
    const double xx = sum(of_xx);
    const bool flat = xx <= 1e-12 * (xx + total * mean_x * mean_x);  // Σ weight·x²
    const double slope = flat ? 0.0 : sum(of_xy) / xx;
    return {mean_y - slope * mean_x, slope};
}

double cost(const Points& p, const Line& line, const Huber& huber) {
    V total{};
    for (std::int64_t i = 0; i < p.count; i += kAbreast) {
        const V z = size(p.off(line, i)) / load(p.sigma + i);
        const V tail = smaller(2 * huber.k * z - huber.k * huber.k, V{} + huber.worst);
        const V loss = z <= huber.k ? z * z : tail;
        total += load(p.plain + i) > 0 ? loss : V{};
    }
    return sum(total);
}

// `count` windows of each row, a window having the points from its first number up to, not including, its second: weighted
// least squares, the weights Huber's, so many times anew. Writes intercept, slope and cost of each window of each row.
void huber_lines(const double* x, const double* y, const double* sigma, std::int64_t rows, std::int64_t columns,
                 const std::int64_t* windows, std::int64_t count, bool sloped, int rounds, const Huber& huber,
                 double* out) {
    const auto room = static_cast<std::size_t>(columns + kAbreast);
    std::vector<double> x_of(room), y_of(room), sigma_of(room, 1.0), every(room), plain(room), weight(room);
    for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns, sigma += columns) {
        std::copy_n(x, columns, x_of.data());
        std::copy_n(y, columns, y_of.data());
        std::copy_n(sigma, columns, sigma_of.data());
        std::transform(sigma, sigma + columns, every.data(), [](double s) { return 1.0 / (s * s); });
        for (std::int64_t w = 0; w < count; ++w, windows += 2) {
            const std::int64_t first = windows[0], points_there = std::max(windows[1] - first, std::int64_t{0});
            std::copy_n(every.data() + first, points_there, plain.data());
            std::fill_n(plain.data() + points_there, kAbreast, 0.0);
            const Points points{x_of.data() + first, y_of.data() + first, sigma_of.data() + first, plain.data(),
                                points_there};
            Line line = least_squares(points, nullptr, sloped, huber.k, weight.data());
            for (int round = 0; round < rounds; ++round)
                line = least_squares(points, &line, sloped, huber.k, weight.data());
            *out++ = line.intercept;
            *out++ = line.slope;
            *out++ = cost(points, line, huber);
        }
    }
}

nb::ndarray<nb::numpy, double> array(std::vector<double> values, std::size_t rows, std::size_t columns) {
    auto* kept = new std::vector<double>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::ndarray<nb::numpy, double>(kept->data(), {rows, columns}, owner);
}

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Windows = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, double> lines(const Rows& x, const Rows& y, const Rows& sigma, const Windows& windows,
                                     bool sloped, int rounds, double k, double worst) {
    const std::size_t rows = x.shape(0), points = x.shape(1);
    for (const Rows* other : {&y, &sigma})
        if (other->shape(0) != rows || other->shape(1) != points)
            throw nb::value_error("x, y and sigma differ in shape");
    if (windows.shape(0) != rows || windows.shape(2) != 2) throw nb::value_error("windows are no pairs of each row");
    const auto length = static_cast<std::int64_t>(points);
    const auto outside = [length](std::int64_t bound) { return bound < 0 || bound > length; };
    if (std::any_of(windows.data(), windows.data() + windows.size(), outside))
        throw nb::value_error("a window ends where no points are");
    const std::size_t found = rows * windows.shape(1);
    std::vector<double> out(found * 3);
    huber_lines(x.data(), y.data(), sigma.data(), static_cast<std::int64_t>(rows), length, windows.data(),
                static_cast<std::int64_t>(windows.shape(1)), sloped, rounds, {k, worst}, out.data());
    return array(std::move(out), found, 3);
}

}  // namespace

NB_MODULE(_lines, m) {
    m.doc() = "Straight lines through many windows of points, for pready.calibrate.fit.";
    m.def("huber_lines", &lines, nb::arg("x"), nb::arg("y"), nb::arg("sigma"), nb::arg("windows"), nb::arg("sloped"),
          nb::arg("rounds"), nb::arg("k"), nb::arg("worst"));
}
