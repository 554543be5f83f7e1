#include "motif.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

using SST::Ember::EmberMessagePassingGenerator;

namespace pready {

void check_arguments(const SST::Params& params, const std::string& motif, const Names& names)
{
    for (const std::string& key : params.getKeys()) {
        if (key.rfind("arg.", 0) != 0 || std::find(names.begin(), names.end(), key.substr(4)) != names.end()) continue;
        std::string valid;
        for (const std::string& name : names) valid += (valid.empty() ? "" : ", ") + name;
        throw std::invalid_argument(motif + " has no argument " + key.substr(4) + "; valid: " + valid);
    }
}

Motif::Motif(
    SST::ComponentId_t id, SST::Params& params, const std::string& name, const Names& arguments, Pattern pattern)
    : EmberMessagePassingGenerator(id, params, name), name_(name), pattern_(pattern)
{
    checked([&] {
        check_arguments(params, name, arguments);
        settings_ = Settings::read([&](const std::string& key, const std::string& fallback) {
            return params.find<std::string>("arg." + key, fallback);
        });
    });
    statistics_ = Statistics::of(params);
}

// What Ember's motif Init does, unless that went before: an engine's first motif alone can register statistics.
void Motif::enter(Events& events)
{
    if (size()) return;
    enQ_init(events);
    enQ_rank(events, SST::Hermes::MP::GroupWorld, &rank_);
    enQ_size(events, SST::Hermes::MP::GroupWorld, &size_);
}

// With whom this rank exchanges what.
void Motif::place()
{
    if (size_) {
        setRank(static_cast<int>(rank_));
        setSize(size_);
    }
    checked([&] {
        if (!settings_.arrivals.empty())
            arrivals_ = std::make_unique<Arrivals>(
                settings_.arrivals, static_cast<std::uint64_t>(size()), settings_.user_partitions());
        phases_ = pattern_(settings_, rank(), size());
    });
    if (rank() == 0)
        output("pready.%s: %d ranks, %s, %llu threads x %llu partitions, %llu iterations\n",
            name_.c_str(), size(), settings_.approach.c_str(), static_cast<unsigned long long>(settings_.threads),
            static_cast<unsigned long long>(settings_.partitions), static_cast<unsigned long long>(settings_.iterations));
}

// Errors of the plain headers end the simulation with one line.
void Motif::checked(const std::function<void()>& action)
{
    try {
        action();
    } catch (const std::exception& error) {
        fatal(CALL_INFO, 1, "pready: error: %s\n", error.what());
    }
}

// Called whenever everything enqueued has happened: a state machine in simulated time.
bool Motif::generate(Events& events)
{
    while (events.empty()) {
        switch (state_) {
        case State::enter:
            enter(events);
            state_ = State::first;
            break;
        case State::first:
            place();
            if (phases_.empty()) return true;  // nobody to talk to
            prepare(events);
            state_ = State::start;
            break;
        case State::start:
            origin_ = record_.start = now();
            if (phase_ == 0) begun_ = origin_;
            state_ = phases_[phase_].receives_first ? State::receive : State::compute;
            break;
        case State::compute:
            if (compute(events)) state_ = receives_done_ ? State::finish : State::receive;
            break;
        case State::receive:
            if (!received(events)) break;
            receives_done_ = true;
            if (phases_[phase_].receives_first) {
                origin_ = now();
                state_ = State::compute;
            } else {
                state_ = State::finish;
            }
            break;
        case State::finish:
            if (!sends_.empty()) enQ_waitall(events, static_cast<int>(sends_.size()), sends_.data());
            if (plan_.meet >= 0.5) {
                enQ_compute(events, static_cast<std::uint64_t>(std::llround(plan_.meet)));
                if (record_.completion >= 0) record_.completion += std::llround(plan_.meet * 1e3);
            }
            state_ = State::work;
            break;
        case State::work:
            if (worked(events)) state_ = State::next;
            break;
        case State::next:
            record();
            if (++phase_ == phases_.size()) {
                phase_ = 0;
                statistics_->add(now() - begun_, early_, all_, waited_);
                early_ = all_ = 0;
                waited_ = 0;
                if (++iteration_ == settings_.iterations) {
                    const unsigned process = getRank().rank;
                    if (!settings_.record.empty())
                        checked([&] { append_record(record_path(settings_.record, process), lines_); });
                    return true;
                }
            }
            prepare(events);
            state_ = State::start;
            break;
        }
    }
    return false;
}

// Plans the current phase and posts its receives.
void Motif::prepare(Events& events)
{
    checked([&] {
        const Phase& phase = phases_[phase_];
        const Count draw = iteration_ * phase.draws + phase.draw;
        const auto who = static_cast<std::uint64_t>(rank());
        plan_ = plan(settings_, phase, arrivals_ ? (*arrivals_)(who, draw) : built_in(settings_), iteration_);
    });
    step_ = 0;
    receives_done_ = waiting_ = issuing_ = false;
    work_ = Work(settings_.consumers, phases_[phase_].computes ? plan_.join : 0);
    left_.clear();
    record_ = Record{};
    sends_.clear();
    sent_.clear();
    std::size_t sends = 0;
    for (const Step& step : plan_.steps) sends += step.sends.size();
    sends_.reserve(sends);  // requests are written where they lie
    receives_.assign(plan_.receives.size(), nullptr);
    for (std::size_t i = 0; i < receives_.size(); ++i) {
        const Message& m = plan_.receives[i];
        enQ_irecv(events, static_cast<SST::Hermes::MP::Addr>(nullptr), m.bytes, SST::Hermes::MP::CHAR, m.rank, m.tag,
            SST::Hermes::MP::GroupWorld, &receives_[i]);
    }
}

// Computes until the next transport partition is ready and sends it; true when the threads have met.
bool Motif::compute(Events& events)
{
    if (step_ < plan_.steps.size()) {
        const Step& step = plan_.steps[step_];
        if (issuing_) {
            issuing_ = false;
            freed_ = static_cast<double>(now() - origin_) * 1e-3;
        }
        // Who finds the VCI's lock taken pays for it, once for each message.
        const double behind = step_ ? freed_ + settings_.contention_ns * static_cast<double>(step.sends.size()) : 0.0;
        if (!computed_until(events, std::max(step.at, behind))) return false;
        issuing_ = true;
        for (const Message& m : step.sends) {
            // In a call Firefly handles either one completed receive or the requests that have come. Without a call more
            // between two sends, receives that complete keep the neighbours' requests waiting.
            enQ_makeProgress(events);
            sends_.push_back(nullptr);
            enQ_isend(events, static_cast<SST::Hermes::MP::Addr>(nullptr), m.bytes, SST::Hermes::MP::CHAR, m.rank, m.tag,
                SST::Hermes::MP::GroupWorld, &sends_.back());
            sent_.push_back(now());
            ++record_.messages;
            record_.bytes += m.bytes;
        }
        ++step_;
        return false;
    }
    if (record_.messages && record_.issued < 0) record_.issued = now();
    if (!phases_[phase_].computes) return true;
    if (!computed_until(events, plan_.join)) return false;
    record_.ready = origin_ + std::llround(plan_.ready * 1e3);
    record_.join = origin_ + std::llround(plan_.join * 1e3);
    return true;
}

// True when the time `at` (ns) has come; otherwise computes towards it, entering MPI now and then if progress is modelled.
bool Motif::computed_until(Events& events, double at)
{
    const double left = at - static_cast<double>(now() - origin_) * 1e-3;
    if (left < 0.5) return true;
    const bool pause = settings_.progress_ns > 0 && left > settings_.progress_ns;
    enQ_compute(events, static_cast<std::uint64_t>(std::max(1LL, std::llround(pause ? settings_.progress_ns : left))));
    if (pause) enQ_makeProgress(events);
    return false;
}

// True when every receive is complete; otherwise waits for the next one.
bool Motif::received(Events& events)
{
    if (waiting_) {
        waiting_ = false;
        const double each = plan_.receives[static_cast<std::size_t>(arrived_)].work;
        if (plan_.tells)
            work_.take(static_cast<double>(now() - origin_) * 1e-3 + settings_.tested_ns, plan_.received_in, each);
        else
            left_.insert(left_.end(), plan_.received_in, each);
        receives_.erase(receives_.begin() + arrived_);
        plan_.receives.erase(plan_.receives.begin() + arrived_);
        if (record_.first_arrival < 0) record_.first_arrival = now();
        if (settings_.messages) record_.arrivals.push_back(now());
        record_.completion = now();
    }
    if (receives_.empty()) return true;
    waiting_ = true;
    enQ_waitany(events, static_cast<int>(receives_.size()), receives_.data(), &arrived_);
    return false;
}

// True when the threads have worked on all that came. They do so beside the rank's MPI calls; where MPI tells of nothing
// before the end, they meet first, as one of them has waited.
bool Motif::worked(Events& events)
{
    if (plan_.received_in == 0 || record_.completion < 0) return true;
    const double ended = static_cast<double>(now() - origin_) * 1e-3 + settings_.barrier_ns;
    for (const double each : left_) work_.take(ended, 1, each);
    left_.clear();
    record_.completion = std::max<std::int64_t>(record_.completion, origin_ + std::llround(work_.last() * 1e3));
    return computed_until(events, work_.last());
}

void Motif::record()
{
    record_.end = now();
    // Ranks that do not compute wait from the start.
    const std::int64_t join = record_.join < 0 ? record_.start : record_.join;
    early_ += static_cast<std::uint64_t>(std::count_if(sent_.begin(), sent_.end(), [&](auto at) { return at < join; }));
    all_ += sent_.size();
    waited_ += std::max<std::int64_t>(0, record_.end - join);
    lines_ += line(rank(), iteration_, phase_, record_);
}

}  // namespace pready
