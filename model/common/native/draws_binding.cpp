// The draws for Python: pready.model.common._draws.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "draws.hpp"

namespace nb = nanobind;
using Doubles = nb::ndarray<nb::numpy, double>;

namespace {

Doubles array(std::unique_ptr<double[]> data, std::initializer_list<std::size_t> shape) {
    double* const values = data.release();
    const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Doubles(values, shape, owner);
}

Doubles uniforms(std::uint64_t seed, std::uint64_t rank, std::uint64_t first, std::size_t samples, std::size_t n,
                 std::uint64_t stream) {
    const std::size_t blocks = (n + 1) / 2;
    std::unique_ptr<double[]> out(new double[samples * n]);
    std::vector<double> row(2 * blocks);
    for (std::size_t i = 0; i < samples; ++i) {
        pready::uniforms(seed, rank, first + i, stream, static_cast<int>(blocks), row.data());
        std::copy_n(row.data(), n, out.get() + i * n);
    }
    return array(std::move(out), {samples, n});
}

Doubles normals(const nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>& p) {
    std::unique_ptr<double[]> out(new double[p.size()]);
    std::transform(p.data(), p.data() + p.size(), out.get(), pready::normal);
    return array(std::move(out), {p.size()});
}

}  // namespace

NB_MODULE(_draws, m) {
    m.def("uniforms", &uniforms, nb::arg("seed"), nb::arg("rank"), nb::arg("first"), nb::arg("samples"), nb::arg("n"),
          nb::arg("stream") = 0);
    m.def("normals", &normals, nb::arg("p"));
}
