// The Python side of the kernel: one class, plain arrays in and out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <vector>

#include "engine.hpp"

namespace nb = nanobind;
using namespace pready;

namespace {

using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Wholes = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, double> array(std::vector<double> values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::ndarray<nb::numpy, double>(kept->data(), shape.size(), shape.data(), owner);
}

void read(const nb::dict& plan, Numbers& numbers, Integers& integers) {
    for (const auto& [key, value] : plan) {
        const auto name = nb::cast<std::string>(key);
        Wholes whole;
        if (nb::try_cast<Wholes>(value, whole, false)) {
            integers[name].assign(whole.data(), whole.data() + whole.size());
        } else {
            const auto real = nb::cast<Reals>(value, false);
            numbers[name].assign(real.data(), real.data() + real.size());
        }
    }
}

std::unique_ptr<Engine> make(const nb::dict& plan, const std::string& level) {
    Numbers numbers;
    Integers integers;
    read(plan, numbers, integers);
    return std::make_unique<Engine>(numbers, integers, level);
}

bool reprice(Engine& engine, const nb::dict& plan) {
    Numbers numbers;
    Integers integers;
    read(plan, numbers, integers);
    return engine.reprice(numbers, integers);
}

nb::dict run(Engine& engine, std::int64_t iterations, int cores, std::int64_t chunk,
             std::optional<Matrix> ends, std::optional<Matrix> received, const nb::object& poll) {
    Options options;
    options.iterations = iterations;
    options.cores = cores;
    options.chunk = chunk;
    if (ends) options.ends = ends->data();
    if (received) options.received = received->data();
    std::exception_ptr failed;
    options.poll = [&](double share) {
        const nb::gil_scoped_acquire gil;
        if (failed) return false;
        if (PyErr_CheckSignals() != 0) {
            if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
                try {
                    nb::raise_python_error();
                } catch (...) {
                    failed = std::current_exception();
                }
            } else {
                PyErr_Clear();
            }
            return false;
        }
        if (poll.is_none()) return true;
        try {
            poll(share);
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) failed = std::current_exception();
            return false;
        }
        return true;
    };
    Outcome outcome;
    {
        const nb::gil_scoped_release release;
        outcome = engine.run(options);
    }
    if (failed) std::rethrow_exception(failed);
    std::vector<double> extremes;
    for (const Extremes& e : outcome.extremes)
        for (const double x : {e.shortest, e.longest, e.first_end, e.last_end}) extremes.push_back(x);
    const auto rows = static_cast<std::size_t>(outcome.iterations);
    nb::dict out;
    out["iterations"] = outcome.iterations;
    out["sums"] = array(std::move(outcome.sums), {rows, kSums});
    out["extremes"] = array(std::move(extremes), {rows, 4});
    out["interrupted"] = outcome.interrupted;
    out["overflowed"] = outcome.overflowed;
    return out;
}

}  // namespace

NB_MODULE(_kernel, m) {
    m.doc() = "The max-plus engine's kernel; see pready.model.engine.";
    nb::class_<Engine>(m, "Engine")
        .def("__init__",
             [](Engine* self, const nb::dict& plan, const std::string& level) {
                 new (self) Engine(std::move(*make(plan, level)));
             },
             nb::arg("plan"), nb::arg("level") = "")
        .def("reprice", &reprice, nb::arg("plan"))
        .def("run", &run, nb::arg("iterations"), nb::arg("cores"), nb::arg("chunk"),
             nb::arg("ends") = nb::none(), nb::arg("received") = nb::none(),
             nb::arg("poll").none() = nb::none())
        .def("draw",
             [](const Engine& engine, std::int64_t rank, std::int64_t iteration) {
                 std::vector<double> times = engine.draw(rank, iteration);
                 const std::size_t n = times.size();
                 return array(std::move(times), {n});
             },
             nb::arg("rank"), nb::arg("iteration"))
        .def("memory", &Engine::memory, nb::arg("cores"), nb::arg("chunk"))
        .def_prop_ro("level", &Engine::level)
        .def_prop_ro("record_bytes", &Engine::record_bytes)
        .def_prop_ro("scratch_bytes", &Engine::scratch_bytes);
}
