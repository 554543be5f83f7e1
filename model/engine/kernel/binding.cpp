// The Python side of the kernel: plain arrays in and out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "run/batch.hpp"
#include "run/engine.hpp"

namespace nb = nanobind;
using namespace pready;

namespace {

using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Records = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, double> array(std::vector<double> values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::ndarray<nb::numpy, double>(kept->data(), shape.size(), shape.data(), owner);
}

// How a field's numbers come from Python: as real numbers, or as integers that are made smaller here.
template <class T>
using Sent = std::conditional_t<std::is_same_v<T, double>, double,
                                std::conditional_t<std::is_same_v<T, Seed>, std::uint64_t, std::int64_t>>;

template <class T>
constexpr const char* kType = std::is_same_v<T, double> ? "float64" : std::is_same_v<T, Seed> ? "uint64" : "int64";

template <class T>
T narrowed(const char* name, Sent<T> x) {
    if constexpr (std::is_same_v<T, bool>) {
        return x != 0;
    } else {
        const auto small = static_cast<T>(x);
        if (static_cast<Sent<T>>(small) != x && x == x)
            throw nb::type_error(("field '" + std::string(name) + "' is too large: " + std::to_string(x)).c_str());
        return small;
    }
}

// The numbers of an array, as its buffer: a conversion through DLPack takes ten times as long, and a plan has a hundred.
template <class T>
class Numbers {
   public:
    Numbers(const nb::handle& array, int dimensions) {
        held_ = PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0;
        if (!held_) PyErr_Clear();
        fits_ = held_ && view_.ndim == dimensions && view_.itemsize == sizeof(Sent<T>) && of_type(view_.format);
    }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    ~Numbers() {
        if (held_) PyBuffer_Release(&view_);
    }

    explicit operator bool() const { return fits_; }
    std::size_t size(int axis) const { return static_cast<std::size_t>(view_.shape[axis]); }
    const Sent<T>* data() const { return static_cast<const Sent<T>*>(view_.buf); }

   private:
    static bool of_type(const char* format) {
        const std::string is = format == nullptr ? "B" : format;
        if constexpr (std::is_same_v<T, double>) return is == "d";
        if constexpr (std::is_same_v<T, Seed>) return is == "L" || is == "Q";
        return is == "l" || is == "q";
    }

    Py_buffer view_{};
    bool held_ = false, fits_ = false;
};

// A field's name as Python keeps it: made once, where a lookup by text would make and hash it each time.
struct Name {
    const char* text;
    PyObject* key;
    explicit Name(const char* name) : text(name), key(PyUnicode_InternFromString(name)) {}
};
#define NAME(name) ([]() -> const Name& { static const Name made(#name); return made; }())

template <class T>
std::vector<T> numbers(const nb::dict& plan, const Name& of) {
    const char* const name = of.text;
    const nb::handle value = PyDict_GetItem(plan.ptr(), of.key);
    if (!value.is_valid()) throw nb::key_error(("missing field '" + std::string(name) + "'").c_str());
    const Numbers<T> array(value, 1);
    if (!array) throw nb::type_error(("field '" + std::string(name) + "' is no row of " + kType<T>).c_str());
    std::vector<T> out;
    out.reserve(array.size(0));
    for (std::size_t i = 0; i < array.size(0); ++i) out.push_back(narrowed<T>(name, array.data()[i]));
    return out;
}

template <class T, std::size_t N>
std::array<T, N> exactly(const nb::dict& plan, const Name& name) {
    const std::vector<T> all = numbers<T>(plan, name);
    if (all.size() != N)
        throw nb::type_error(("field '" + std::string(name.text) + "' has " + std::to_string(all.size()) +
                              " numbers, not " + std::to_string(N)).c_str());
    std::array<T, N> out{};
    std::copy(all.begin(), all.end(), out.begin());
    return out;
}

// By name: element type, and shape if there is more than one.
nb::dict described() {
    nb::dict out;
#define SCALAR(type, name) out[#name] = nb::make_tuple(kType<type>, "");
#define TRIPLE(type, name) out[#name] = nb::make_tuple(kType<type>, "3");
#define ARRAY(type, name, ...) out[#name] = nb::make_tuple(kType<type>, #__VA_ARGS__);
#include "recurrence/fields.def"
    return out;
}

// Raises a KeyError or a TypeError that names the field.
Fields fields(const nb::dict& plan) {
    Fields out;
    std::size_t known = 0;
#define SCALAR(type, name) out.name = exactly<type, 1>(plan, NAME(name))[0], ++known;
#define TRIPLE(type, name) out.name = exactly<type, 3>(plan, NAME(name)), ++known;
#define ARRAY(type, name, ...) out.name = numbers<type>(plan, NAME(name)), ++known;
#include "recurrence/fields.def"
    if (plan.size() != known) {
        const nb::dict mine = described();
        for (const auto& [key, value] : plan) {
            if (!PyDict_Contains(mine.ptr(), key.ptr()))
                throw nb::key_error(("unknown field '" + nb::cast<std::string>(key) + "'").c_str());
        }
    }
    if (const std::string wrong = out.misshapen(); !wrong.empty()) throw nb::type_error(wrong.c_str());
    return out;
}

nb::dict reported(Outcome& outcome, std::size_t exchanges) {
    std::vector<double> extremes;
    for (const Extremes& e : outcome.extremes)
        for (const double x : {e.shortest, e.longest, e.first_end, e.last_end}) extremes.push_back(x);
    const auto rows = static_cast<std::size_t>(outcome.iterations);
    outcome.sums.resize(rows * exchanges * kSums);  // without an exchange after which no other came
    nb::dict out;
    out["iterations"] = outcome.iterations;
    out["sums"] = array(std::move(outcome.sums), {rows * exchanges, kSums});
    out["extremes"] = array(std::move(extremes), {rows, 4});
    out["interrupted"] = outcome.interrupted;
    out["overflowed"] = outcome.overflowed;
    return out;
}

// What the caller's thread does while the kernel runs: looks for signals, and tells how far it is.
struct Watch {
    const nb::object tell;     // a function of the share that is done, or None
    const bool keeps = false;  // after Ctrl-C, keep what there is: it is no error
    std::exception_ptr failed{};
    bool stopped = false;

    bool operator()(double share) {
        const nb::gil_scoped_acquire gil;
        if (stopped) return false;
        try {
            if (PyErr_CheckSignals() != 0) nb::raise_python_error();
            if (!tell.is_none()) tell(share);
        } catch (nb::python_error& error) {
            stopped = true;
            if (!keeps || !error.matches(PyExc_KeyboardInterrupt)) failed = std::current_exception();
        }
        return !stopped;
    }

    void rethrow() const {
        if (failed) std::rethrow_exception(failed);
    }
};

nb::dict run(Engine& engine, std::int64_t iterations, int cores, std::int64_t chunk,
             std::optional<Matrix> ends, std::optional<Matrix> received, std::optional<Records> kept,
             std::int64_t kept_from, const nb::object& poll) {
    Options options;
    options.iterations = iterations;
    options.cores = cores;
    options.chunk = chunk;
    if (ends) options.ends = ends->data();
    if (received) options.received = received->data();
    if (kept) {
        options.kept = kept->data();
        options.kept_from = kept_from;
        options.kept_size = static_cast<std::int64_t>(kept->shape(2));
    }
    Watch watch{poll, true};
    options.poll = std::ref(watch);
    Outcome outcome;
    {
        const nb::gil_scoped_release release;
        outcome = engine.run(options);
    }
    watch.rethrow();
    return reported(outcome, engine.exchanges());
}

// A field at another price: a row of a matrix of costs.
template <class T>
void price(T& field, const T* row) { field = *row; }
void price(std::vector<double>& field, const double* row) { std::copy_n(row, field.size(), field.begin()); }
template <class T>
std::size_t length(const T&) { return 1; }
std::size_t length(const std::vector<double>& field) { return field.size(); }

template <class T>
void price_all(std::vector<Fields>& rows, T Fields::*field, const Name& of, const nb::dict& prices) {
    using One = std::conditional_t<std::is_same_v<T, std::vector<double>>, double, T>;
    if constexpr (std::is_same_v<One, double> || std::is_same_v<One, Seed>) {
        const char* const name = of.text;
        const nb::handle value = PyDict_GetItem(prices.ptr(), of.key);
        if (!value.is_valid()) return;
        const Numbers<One> matrix(value, 2);
        if (!matrix || matrix.size(0) != rows.size() || matrix.size(1) != length(rows[0].*field))
            throw nb::type_error(("prices of field '" + std::string(name) + "' are no " + kType<One> + " matrix of " +
                                  std::to_string(rows.size()) + " rows of " +
                                  std::to_string(length(rows[0].*field))).c_str());
        for (std::size_t r = 0; r < rows.size(); ++r) price(rows[r].*field, matrix.data() + r * matrix.size(1));
    }
}

// Plans of one call by their objects: those of a step that stay the same are in many of its jobs.
using Known = std::unordered_map<PyObject*, Fields>;

const Fields& once(const nb::dict& plan, Known& known) {
    auto found = known.find(plan.ptr());
    if (found == known.end()) found = known.emplace(plan.ptr(), fields(plan)).first;
    return found->second;
}

// ([(plan, prices by field, seeds) by exchange], iterations)
Job job(const nb::tuple& of, Known& known) {
    Job out{{}, nb::cast<std::int64_t>(of[1])};
    for (const nb::handle each : nb::cast<nb::list>(of[0])) {
        const auto exchange = nb::cast<nb::tuple>(each);
        const auto plan = nb::cast<nb::dict>(exchange[0]), prices = nb::cast<nb::dict>(exchange[1]);
        const auto seeds = nb::cast<std::vector<Seed>>(exchange[2]);
        std::vector<Fields> rows(seeds.size(), once(plan, known));
        for (std::size_t r = 0; r < seeds.size(); ++r) rows[r].seed = seeds[r];
        if (out.rows.empty()) out.rows.resize(seeds.size());
        if (out.rows.size() != rows.size()) throw nb::type_error("exchanges of a step have as many rows");
        if (rows.empty()) continue;
#define SCALAR(type, name) price_all(rows, &Fields::name, NAME(name), prices);
#define TRIPLE(type, name)
#define ARRAY(type, name, ...) price_all(rows, &Fields::name, NAME(name), prices);
#include "recurrence/fields.def"
        for (std::size_t r = 0; r < rows.size(); ++r) out.rows[r].push_back(std::move(rows[r]));
    }
    return out;
}

nb::list simulate_all(const nb::list& of, int cores, KeptTimes* kept) {
    std::vector<Job> jobs;
    Known known;
    for (const nb::handle each : of) jobs.push_back(job(nb::cast<nb::tuple>(each), known));
    Watch watch{nb::none()};
    Outcomes outcomes;
    {
        const nb::gil_scoped_release release;
        outcomes = run_all(jobs, cores, std::ref(watch), kept);
    }
    watch.rethrow();
    nb::list out;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        nb::list made;
        for (std::size_t r = 0; r < outcomes[j].size(); ++r)
            made.append(reported(outcomes[j][r], jobs[j].rows[r].size()));
        out.append(made);
    }
    return out;
}

}  // namespace

NB_MODULE(_kernel, m) {
    m.doc() = "The engine's kernel, see pready.model.engine.";
    nb::set_leak_warnings(false);  // what an error's frames hold at exit is no leak, as pready freezes the collector
    m.attr("FIELDS") = described();
    nb::dict head;  // places in a record
    head["start"] = int{kStart}, head["join"] = int{kJoin}, head["done"] = int{kDone}, head["messages"] = int{kHead};
    m.attr("HEAD") = head;
    nb::class_<KeptTimes>(m, "KeptTimes").def(nb::init<>()).def("__len__", &KeptTimes::count);
    m.def("simulate_all", &simulate_all, nb::arg("jobs"), nb::arg("cores"), nb::arg("kept").none() = nb::none());
    nb::class_<Engine>(m, "Engine")
        .def("__init__",
             [](Engine* self, const nb::list& plans, const std::string& level) {
                 std::vector<Fields> step;
                 for (const nb::handle plan : plans) step.push_back(fields(nb::cast<nb::dict>(plan)));
                 new (self) Engine(step, level);
             },
             nb::arg("step"), nb::arg("level") = "")
        .def("run", &run, nb::arg("iterations"), nb::arg("cores"), nb::arg("chunk"),
             nb::arg("ends") = nb::none(), nb::arg("received") = nb::none(),
             nb::arg("kept") = nb::none(), nb::arg("kept_from") = 0,
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
        .def_prop_ro("widest_record", &Engine::widest_record);
}
