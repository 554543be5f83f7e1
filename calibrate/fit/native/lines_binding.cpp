// The Python side of lines through many windows of points: plain arrays in and out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "huber_lines.hpp"

namespace nb = nanobind;
using namespace pready;

namespace {

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
