// The Python side of lines through many windows of points: plain arrays in and out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

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

using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Bounds = nb::ndarray<const std::int64_t, nb::ndim<3>, nb::device::cpu>;

Rows rows(const Strided& of) { return {of.data(), of.stride(0), of.stride(1)}; }

nb::ndarray<nb::numpy, double> lines(const Strided& x, const Strided& y, const Strided& sigma, const Bounds& windows,
                                     bool sloped, int rounds, double k, double worst) {
    const std::size_t count = x.shape(0), points = x.shape(1);
    for (const Strided* other : {&y, &sigma})
        if (other->shape(0) != count || other->shape(1) != points)
            throw nb::value_error("x, y and sigma differ in shape");
    if (windows.shape(0) != count || windows.shape(2) != 2) throw nb::value_error("windows are no pairs of each row");
    const Windows bounds{windows.data(), windows.stride(0), windows.stride(1), windows.stride(2),
                         static_cast<std::int64_t>(windows.shape(1))};
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(count); ++r)
        for (std::int64_t w = 0; w < bounds.count; ++w)
            if (bounds.at(r, w, 0) < 0 || bounds.at(r, w, 1) > static_cast<std::int64_t>(points))
                throw nb::value_error("a window ends where no points are");
    const std::size_t found = count * windows.shape(1);
    std::vector<double> out(found * 3);
    huber_lines(rows(x), rows(y), rows(sigma), static_cast<std::int64_t>(count), static_cast<std::int64_t>(points),
                bounds, sloped, rounds, {k, worst}, out.data());
    return array(std::move(out), found, 3);
}

}  // namespace

NB_MODULE(_lines, m) {
    m.doc() = "Straight lines through many windows of points, for pready.calibrate.fit.";
    m.def("huber_lines", &lines, nb::arg("x"), nb::arg("y"), nb::arg("sigma"), nb::arg("windows"), nb::arg("sloped"),
          nb::arg("rounds"), nb::arg("k"), nb::arg("worst"));
}
