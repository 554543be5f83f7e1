#include "engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "grid_run.hpp"
#include "memory.hpp"
#include "sweep_run.hpp"

namespace pready {
namespace {

const Passes& choose(const std::string& level) {
#ifdef PREADY_X86_LEVELS
    const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v4 && (level.empty() || level == "avx512")) return passes_avx512();
    if (__builtin_cpu_supports("avx2") && (level.empty() || level == "avx2")) return passes_avx2();
#endif
    if (!level.empty() && level != "baseline")
        throw std::invalid_argument("this processor or build has no version for " + level);
    return passes_baseline();
}

Plan decoded(const Fields& fields) {
    Plan p{};
    fields.point(p);
    for (int a = 0; a < 3; ++a) {
        if (p.dims[a] > 1) p.outer = a;
    }
    p.jobs = static_cast<int>(fields.jobs());
    p.needs_out = p.opens || p.two_sided || p.rendezvous;
    for (int c = 0; c < p.classes; ++c) p.cools = p.cools || p.cold[c] > 0;
    return p;
}

}  // namespace

void draw_times(const Fields& fields, const std::string& level, std::int64_t iteration, double* out) {
    const Passes& passes = choose(level);
    const Plan plan = decoded(fields);
    const Memory scratch = allocate(passes.scratch(plan));
    passes.times(plan, scratch.get(), iteration, out);
}

Engine::Engine(Fields fields, const std::string& level)
    : passes_(choose(level)), fields_(std::move(fields)), plan_(decoded(fields_)), sorting_(plan_) {}

bool Engine::reprice(const Fields& fields) {
    if (!fields_.reprice(fields)) return false;
    plan_.cools = false;
    fields_.point(plan_);
    for (int c = 0; c < plan_.classes; ++c) plan_.cools = plan_.cools || plan_.cold[c] > 0;
    return true;
}

std::vector<double> Engine::draw(std::int64_t rank, std::int64_t iteration) const {
    const Memory scratch = allocate(passes_.scratch(plan_));
    std::vector<double> out(static_cast<std::size_t>(plan_.threads) *
                            static_cast<std::size_t>(plan_.theta));
    passes_.draw(plan_, scratch.get(), rank, iteration, out.data());
    return out;
}

std::int64_t Engine::memory(int cores, std::int64_t chunk) const {
    const Layout l(plan_, cores, chunk);
    const std::int64_t halo = 4 + (plan_.gate_is_join ? 2 : 0) + (plan_.shaped ? 2 : 0);
    const std::int64_t arrays = plan_.pattern == Pattern::sweep ? 4 : halo;
    const std::int64_t windows = l.shared ? 1 : std::min<std::int64_t>(cores, l.chunks);
    std::int64_t bytes = plan_.ranks * 8 * arrays;
    bytes += windows * l.capacity * plan_.record * 8;
    bytes += (plan_.ranks / kBlock + 1) * kSums * 8;
    bytes += cores * passes_.scratch(plan_);
    return bytes;
}

Outcome Engine::run(const Options& options) const {
    const auto way = plan_.pattern == Pattern::sweep ? run_sweep : run_grid;
    return way(plan_, passes_, options);
}

}  // namespace pready
