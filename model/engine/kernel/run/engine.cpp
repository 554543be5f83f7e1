#include "run/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "run/grid_run.hpp"
#include "run/memory.hpp"
#include "run/ordered_run.hpp"

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
    p.rendezvous = std::any_of(p.asks, p.asks + p.classes, [](std::uint8_t asks) { return asks != 0; });
    p.needs_out = p.opens || p.granted || p.two_sided || p.rendezvous;
    p.gated = std::any_of(p.answered_in_mpi, p.answered_in_mpi + p.classes, [](std::uint8_t is) { return is != 0; });
    p.gates = p.gated;
    return p;
}

}  // namespace

void draw_times(const Fields& fields, std::int64_t iteration, double* out) {
    const Passes& passes = choose("");
    const Plan plan = decoded(fields);
    const Memory scratch = allocate(passes.scratch(plan));
    passes.times(plan, scratch.get(), iteration, 0, plan.ranks, out);
}

Engine::Part::Part(Fields made) : fields(std::move(made)), plan(decoded(fields)), sorting(plan) {}

Engine::Engine(const std::vector<Fields>& step, const std::string& level) : passes_(choose(level)) {
    if (step.empty()) throw std::invalid_argument("no exchange");
    for (const Fields& fields : step) {
        if (fields.ranks != step[0].ranks || fields.nodes != step[0].nodes)
            throw std::invalid_argument("exchanges of other ranks");
        if ((fields.pattern == Pattern::sweep || fields.pattern == Pattern::tree) && step.size() > 1)
            throw std::invalid_argument("a sweep or a tree beside other exchanges");
        parts_.push_back(std::make_unique<Part>(fields));
    }
}

void Engine::reprice(const std::vector<Fields>& step) {
    for (std::size_t e = 0; e < step.size(); ++e) {
        parts_[e]->fields.take(step[e]);
        parts_[e]->fields.point(parts_[e]->plan);
    }
}

Step Engine::step() const {
    Step out;
    for (const auto& part : parts_) out.push_back(&part->plan);
    return out;
}

std::vector<double> Engine::draw(std::int64_t rank, std::int64_t iteration) const {
    const Plan& plan = first();
    const Memory scratch = allocate(passes_.scratch(plan));
    std::vector<double> out(static_cast<std::size_t>(plan.threads) * static_cast<std::size_t>(plan.theta));
    passes_.times(plan, scratch.get(), iteration, rank, rank + 1, out.data());
    return out;
}

std::int64_t Engine::memory(int cores, std::int64_t chunk) const {
    Options options;
    options.cores = cores;
    options.chunk = chunk;
    const Step all = step();
    const std::vector<Layout> divided = layouts(all, options);
    const RunMemory need = memory_of(all, passes_, divided);
    int gates = 0;
    for (const Plan* p : all) gates = std::max(gates, p->gates ? p->groups : 0);
    const std::int64_t ranks = first().ranks, workers = std::min<std::int64_t>(cores, divided[0].chunks);
    const std::int64_t halo = 4 + 2 * gates;
    const bool ordered = first().pattern == Pattern::sweep || first().pattern == Pattern::tree;
    const std::int64_t arrays = ordered ? 4 : halo;
    std::int64_t bytes = ranks * 8 * (arrays + (all.size() > 1 ? 1 : 0)) + first().nodes * 8;
    bytes += std::max(need.shared, need.window) + (workers - 1) * need.window;
    bytes += (ranks / kBlock + 1) * kSums * 8;
    bytes += cores * need.scratch;
    return bytes;
}

std::int64_t Engine::widest_record() const {
    int most = 0;
    for (const auto& part : parts_) most = std::max(most, part->plan.record);
    return most;
}

Outcome Engine::run(const Options& options) const {
    if (first().alone > 0 && options.iterations > 1)
        throw std::invalid_argument("exchanges from rest have one iteration");
    if (first().pattern == Pattern::sweep) return run_sweep(first(), passes_, options);
    if (first().pattern == Pattern::tree) return run_tree(first(), passes_, options);
    return run_grid(step(), passes_, options);
}

}  // namespace pready
