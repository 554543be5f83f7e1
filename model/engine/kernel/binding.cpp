// The Python side of the kernel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "run.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace pready;

namespace {

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> row(const In<T, 1>& array) {
    return {array.data(), array.data() + array.size()};
}

template <class T>
nb::ndarray<nb::numpy, T> given(std::vector<T> values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

void must(bool holds, const std::string& what) {
    if (!holds) throw nb::type_error(what.c_str());
}

// No row names one rank twice.
bool all_differ(const std::vector<Index>& to, std::size_t ranks) {
    std::vector<std::size_t> named(ranks, ranks);
    const std::size_t most = ranks == 0 ? 0 : to.size() / ranks;
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (to[i] < 0) continue;
        if (std::exchange(named[static_cast<std::size_t>(to[i])], i / most) == i / most) return false;
    }
    return true;
}

// A plan with the pattern that it refers to.
struct Compiled {
    std::shared_ptr<const Pattern> pattern;
    Plan plan;
};

// (plan, kinds [rows][classes][fields], team [rows][fields], contention [rows][VCIs], arrivals)
Exchange exchange(const nb::tuple& of) {
    const auto compiled = nb::cast<std::shared_ptr<Compiled>>(of[0]);
    const auto kinds = nb::cast<In<double, 3>>(of[1]);
    const auto team = nb::cast<In<double, 2>>(of[2]), contention = nb::cast<In<double, 2>>(of[3]);
    const Plan& plan = compiled->plan;
    const std::size_t rows = kinds.shape(0), classes = plan.protocols.size(), vcis = plan.messages.vcis.size();
    must(kinds.shape(1) == classes && kinds.shape(2) == kKindFields.size(), "kinds: shape (rows, classes, KIND_FIELDS)");
    must(team.shape(0) == rows && team.shape(1) == kTeamFields.size(), "team: shape (rows, TEAM_FIELDS)");
    must(contention.shape(0) == rows && contention.shape(1) == vcis, "contention: shape (rows, VCIs)");
    Exchange out{{compiled, &compiled->plan}, std::vector<Costs>(rows), nb::cast<std::shared_ptr<Arrivals>>(of[4])};
    for (std::size_t r = 0; r < rows; ++r) {
        Costs& costs = out.rows[r];
        costs.kinds.resize(classes);
        std::memcpy(costs.kinds.data(), kinds.data() + r * classes * kKindFields.size(), classes * sizeof(Kind));
        std::memcpy(&costs.team, team.data() + r * kTeamFields.size(), sizeof(Team));
        costs.contention.assign(contention.data() + r * vcis, contention.data() + (r + 1) * vcis);
    }
    return out;
}

std::vector<Exchange> exchanges(const nb::list& of) {
    std::vector<Exchange> step;
    for (const nb::handle each : of) step.push_back(exchange(nb::cast<nb::tuple>(each)));
    must(!step.empty(), "no exchange");
    for (const Exchange& e : step) {
        must(e.plan->pattern.ranks == step[0].plan->pattern.ranks && e.plan->pattern.nodes() == step[0].plan->pattern.nodes(),
             "exchanges of other ranks");
        must(step.size() == 1 || !e.plan->pattern.ordered(), "a sweep or a tree beside other exchanges");
        must(e.rows.size() == step[0].rows.size(), "exchanges of other rows");
    }
    return step;
}

nb::dict reported(const Outcome& outcome) {
    std::vector<double> sums, extremes;
    for (const Sums& s : outcome.sums) sums.insert(sums.end(), s.of.begin(), s.of.end());
    for (const Sums& s : outcome.extremes)
        for (const double x : {s.shortest, s.longest, s.first_end, s.last_end}) extremes.push_back(x);
    const auto iterations = static_cast<std::size_t>(outcome.iterations);
    const std::size_t each = iterations == 0 ? 0 : outcome.sums.size() / iterations * iterations;
    sums.resize(each * kSums);  // without an exchange of an iteration that was not completed
    nb::dict out;
    out["iterations"] = outcome.iterations;
    out["sums"] = given(std::move(sums), {each, kSums});
    out["extremes"] = given(std::move(extremes), {iterations, 4});
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

nb::dict run_step(const nb::list& of, std::int64_t iterations, int cores, std::optional<Out> ends,
                  std::optional<Out> received, std::optional<std::int64_t> kept_from, const nb::object& poll) {
    const std::vector<Exchange> step = exchanges(of);
    must(step[0].plan->pattern.alone == 0 || iterations == 1, "exchanges from rest have one iteration");
    Options options;
    options.iterations = iterations;
    options.cores = cores;
    if (ends) options.ends = ends->data();
    if (received) options.received = received->data();
    Kept kept;
    if (kept_from) {
        kept.from = *kept_from;
        options.kept = &kept;
    }
    Watch watch{poll, true};
    options.poll = std::ref(watch);
    Outcome outcome;
    {
        const nb::gil_scoped_release release;
        outcome = run(step, 0, 0, options);
    }
    watch.rethrow();
    nb::dict out = reported(outcome);
    nb::list ranks, traces;
    for (const std::vector<Rank>& of_ranks : kept.ranks) {
        std::vector<double> values(of_ranks.size() * kRankFields.size());
        std::memcpy(values.data(), of_ranks.data(), values.size() * sizeof(double));
        ranks.append(given(std::move(values), {of_ranks.size(), kRankFields.size()}));
    }
    for (const std::vector<Trace>& sent : kept.traces) {
        std::vector<std::uint8_t> bytes(sent.size() * sizeof(Trace));
        std::memcpy(bytes.data(), sent.data(), bytes.size());
        traces.append(given(std::move(bytes), {sent.size() * sizeof(Trace)}));
    }
    out["ranks"] = ranks;
    out["traces"] = traces;
    return out;
}

// ([exchange], firsts by row, iterations)
nb::list simulate_all(const nb::list& of, int cores) {
    std::vector<Job> jobs;
    for (const nb::handle each : of) {
        const auto job = nb::cast<nb::tuple>(each);
        jobs.push_back({exchanges(nb::cast<nb::list>(job[0])), nb::cast<std::vector<std::int64_t>>(job[1]),
                        nb::cast<std::int64_t>(job[2])});
        must(jobs.back().firsts.empty() || jobs.back().firsts.size() == jobs.back().step[0].rows.size(), "firsts: one a row");
    }
    Watch watch{nb::none()};
    std::vector<std::vector<Outcome>> outcomes;
    {
        const nb::gil_scoped_release release;
        outcomes = run_all(jobs, cores, std::ref(watch));
    }
    watch.rethrow();
    nb::list out;
    for (const std::vector<Outcome>& rows : outcomes) {
        nb::list made;
        for (const Outcome& outcome : rows) made.append(reported(outcome));
        out.append(made);
    }
    return out;
}

template <std::size_t N>
nb::list names(const std::array<const char*, N>& of) {
    nb::list out;
    for (const char* name : of) out.append(name);
    return out;
}

using Table = std::array<In<Index, 1>, 4>;

}  // namespace

NB_MODULE(_kernel, m) {
    m.doc() = "The engine's kernel, see pready.model.engine.";
    nb::set_leak_warnings(false);  // what an error's frames hold at exit is no leak, as pready freezes the collector
    m.attr("KIND_FIELDS") = names(kKindFields);
    m.attr("SUM_FIELDS") = names(kSumFields);
    m.attr("TEAM_FIELDS") = names(kTeamFields);
    m.attr("RANK_FIELDS") = names(kRankFields);
    nb::class_<Interface>(m, "Interface")
        .def("__init__",
             [](Interface* self, bool joins, bool granted, bool two_sided, bool one_by_one, bool own_threads, bool deferred,
                bool tells, bool windows_per_thread, bool tests, int sync, int receivers) {
                 new (self) Interface{joins, granted, two_sided, one_by_one, own_threads, deferred, tells, windows_per_thread, tests,
                                      static_cast<Sync>(sync), static_cast<Receivers>(receivers)};
             },
             nb::kw_only(), "joins"_a, "granted"_a, "two_sided"_a, "one_by_one"_a, "own_threads"_a, "deferred"_a, "tells"_a,
             "windows_per_thread"_a, "tests"_a, "sync"_a, "receivers"_a);
    nb::class_<Setting>(m, "Setting")
        .def("__init__",
             [](Setting* self, int threads, int theta, bool two_way, bool computing, bool progress_thread, int consumers,
                int received_in, double boundary, double slower) {
                 new (self) Setting{threads, theta, two_way, computing, progress_thread, consumers, received_in, boundary, slower};
             },
             nb::kw_only(), "threads"_a, "theta"_a, "two_way"_a, "computing"_a, "progress_thread"_a, "consumers"_a,
             "received_in"_a, "boundary"_a, "slower"_a);
    nb::class_<Messages>(m, "Messages")
        .def("__init__",
             [](Messages* self, int transports, bool mapped, double in_order, Lists vcis, Lists needs, Lists serving, std::vector<double> packing) {
                 new (self) Messages{transports, mapped, in_order, std::move(vcis), std::move(needs), std::move(serving), std::move(packing)};
             },
             nb::kw_only(), "transports"_a, "mapped"_a, "in_order"_a, "vcis"_a, "needs"_a, "serving"_a, "packing"_a);
    nb::class_<Pattern>(m, "Pattern")
        .def("__init__",
             [](Pattern* self, int sources, const std::vector<Table>& tables, const In<Index, 1>& profile,
                const In<Index, 2>& kind, const In<std::int64_t, 1>& node_start, const In<std::int64_t, 1>& node_rank,
                std::int64_t alone, bool tree, std::int64_t blocks) {
                 new (self) Pattern{static_cast<std::int64_t>(profile.size()), static_cast<int>(kind.shape(1)), sources, {}, row(profile),
                                    {kind.data(), kind.data() + kind.size()}, row(node_start), row(node_rank), alone, tree, blocks};
                 for (const auto& [to, from, slot, order] : tables) {
                     self->tables.push_back({row(to), row(from), row(slot), row(order)});
                     must(to.size() == profile.size() * kind.shape(1) && from.size() == profile.size() * static_cast<std::size_t>(sources),
                          "tables: receivers and senders of each rank");
                     self->distinct = self->distinct && alone == 0 && all_differ(self->tables.back().to, profile.size());
                 }
             },
             nb::kw_only(), "sources"_a, "tables"_a, "profile"_a, "kind"_a, "node_start"_a, "node_rank"_a, "alone"_a, "tree"_a,
             "blocks"_a);
    nb::class_<Compiled>(m, "Plan")
        .def("__init__",
             [](Compiled* self, std::shared_ptr<const Pattern> pattern, const Interface& interface, const Setting& setting,
                const Messages& messages, const std::vector<std::array<bool, 5>>& protocols) {
                 new (self) Compiled{pattern, {*pattern, interface, setting, messages, {}}};
                 for (const auto& [asks, in_mpi, leaves, inside, sender] : protocols)
                     self->plan.protocols.push_back({asks, in_mpi, leaves, inside, sender});
             },
             nb::kw_only(), "pattern"_a, "interface"_a, "setting"_a, "messages"_a, "protocols"_a);
    nb::class_<Arrivals>(m, "Arrivals")
        .def("__init__",
             [](Arrivals* self, int times, int select, int density, std::uint64_t seed, int threads, int theta, double base,
                double noise, double sd, double cut, double width, const In<double, 1>& share, const In<double, 1>& table,
                const In<double, 1>& centre, const In<double, 1>& centre_cut) {
                 new (self) Arrivals({static_cast<Times>(times), static_cast<Select>(select), static_cast<Density>(density), seed,
                                     threads, theta, base, noise, sd, cut, width, row(share), row(table), row(centre), row(centre_cut)});
             },
             nb::kw_only(), "times"_a, "select"_a = 0, "density"_a = 0, "seed"_a, "threads"_a, "theta"_a, "base"_a = 0.0,
             "noise"_a = 0.0, "sd"_a = 0.0, "cut"_a = 0.0, "width"_a = 0.0, "share"_a, "table"_a, "centre"_a, "centre_cut"_a)
        .def("draw", [](const Arrivals& self, std::int64_t rank, std::int64_t first, std::int64_t samples) {
            const auto n = static_cast<std::size_t>(self.partitions());
            const auto kept = self.kept();
            std::vector<double> one(self.room()), all;
            for (std::int64_t k = first; k < first + samples; ++k) {
                const double* times = self.at(*kept, rank, k, one.data());
                all.insert(all.end(), times, times + n);
            }
            return given(std::move(all), {static_cast<std::size_t>(samples), n});
        }, "rank"_a, "first"_a, "samples"_a);
    m.def("memory", [](const nb::list& step) { return memory(exchanges(step)); }, "step"_a);
    m.def("run_step", &run_step, "step"_a, "iterations"_a, "cores"_a, "ends"_a.none() = nb::none(),
          "received"_a.none() = nb::none(), "kept_from"_a.none() = nb::none(), "poll"_a.none() = nb::none());
    m.def("simulate_all", &simulate_all, "jobs"_a, "cores"_a);
}
