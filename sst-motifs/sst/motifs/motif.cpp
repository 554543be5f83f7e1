// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

#include "motif.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

using SST::Ember::EmberMessagePassingGenerator;

namespace pready {

namespace {

const std::string PREFIX = "arg.";
constexpr std::uint32_t MATCHING = 0x8000000;  // tags of MPI_Psend_init's messages; those from 0x10000000 on are Firefly's
constexpr Count SHOWN = 100;                   // iterations that are said, at most

}  // namespace

std::optional<std::string> argument(const SST::Params& params, const std::string& name)
{
    if (!params.contains(PREFIX + name)) return std::nullopt;
    return params.find<std::string>(PREFIX + name);
}

void check_arguments(
    const SST::Params& params, const std::string& motif, const std::vector<SST::ElementInfoParam>& table)
{
    std::vector<std::string> names;
    for (const auto& row : table)
        if (const std::string name = row.name; name.rfind(PREFIX, 0) == 0) names.push_back(name.substr(PREFIX.size()));
    for (const std::string& key : params.getKeys()) {
        if (key.rfind(PREFIX, 0) != 0) continue;
        const std::string name = key.substr(PREFIX.size());
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        std::string valid;
        for (const std::string& one : names) valid += (valid.empty() ? "" : ", ") + one;
        throw std::invalid_argument(motif + " has no argument " + name + "; valid: " + valid);
    }
}

Motif::Motif(SST::ComponentId_t id, SST::Params& params, const std::string& name,
    const std::vector<SST::ElementInfoParam>& table, Pattern pattern)
    : EmberMessagePassingGenerator(id, params, name),
      name_(name),
      pattern_(pattern),
      // A converter is made once; whether it is a pointer depends on SST's version.
      clock_([this, ps = getTimeConverter("1ps")] { return getCurrentSimTime(ps); })
{
    checked([&] {
        check_arguments(params, name, table);
        settings_ = Settings::read([&](const std::string& key) { return argument(params, key); });
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
            arrivals_ = std::make_unique<Arrivals>(settings_.arrivals, static_cast<std::uint64_t>(rank()),
                static_cast<std::uint64_t>(size()), settings_.user_partitions());
        phases_ = pattern_(settings_, rank(), size());
    });
    if (rank() == 0)
        output("pready.%s: %d ranks, %s, %llu threads x %llu partitions, %llu iterations\n",
            name_.c_str(), size(), settings_.approach.c_str(), static_cast<unsigned long long>(settings_.threads),
            static_cast<unsigned long long>(settings_.partitions), static_cast<unsigned long long>(settings_.iterations));
}

// What MPI_Psend_init and MPI_Precv_init do before the first iteration, so that requests are matched once: each sender says
// which partitions come under which tags, and its receiver answers.
void Motif::match(Events& events)
{
    std::vector<Message> incoming, outgoing;
    const auto add = [](std::vector<Message>& list, const Peer& peer, std::uint32_t answer) {
        list.push_back({peer.rank, MATCHING + 2 * peer.direction + answer, 64});
    };
    for (const Phase& phase : phases_) {
        for (const Peer& peer : phase.from) add(incoming, peer, 0), add(outgoing, peer, 1);
        for (const Peer& peer : phase.to) add(incoming, peer, 1), add(outgoing, peer, 0);
    }
    receives_.assign(incoming.size(), nullptr);
    sends_.assign(outgoing.size(), nullptr);
    for (std::size_t i = 0; i < incoming.size(); ++i) post(events, incoming[i], receives_[i]);
    for (std::size_t i = 0; i < outgoing.size(); ++i) send(events, outgoing[i], sends_[i]);
    if (!incoming.empty()) enQ_waitall(events, static_cast<int>(receives_.size()), receives_.data());
    if (!outgoing.empty()) enQ_waitall(events, static_cast<int>(sends_.size()), sends_.data());
}

void Motif::post(Events& events, const Message& m, SST::Hermes::MP::MessageRequest& request)
{
    enQ_irecv(events, static_cast<SST::Hermes::MP::Addr>(nullptr), m.bytes, SST::Hermes::MP::CHAR, m.rank, m.tag,
        SST::Hermes::MP::GroupWorld, &request);
}

void Motif::send(Events& events, const Message& m, SST::Hermes::MP::MessageRequest& request)
{
    enQ_isend(events, static_cast<SST::Hermes::MP::Addr>(nullptr), m.bytes, SST::Hermes::MP::CHAR, m.rank, m.tag,
        SST::Hermes::MP::GroupWorld, &request);
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
            if (settings_.partitioned()) match(events);
            state_ = State::match;
            break;
        case State::match:
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
            state_ = State::next;
            break;
        case State::next:
            record();
            if (++phase_ == phases_.size()) {
                phase_ = 0;
                statistics_->add(now() - begun_, sums_);
                sums_ = {};
                ++iteration_;
                ended();
                if (iteration_ == settings_.iterations) return true;
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
        plan_ = plan(settings_, phase, arrivals_ ? (*arrivals_)(draw) : built_in(settings_), iteration_);
    });
    step_ = 0;
    receives_done_ = issuing_ = reached_ = asked_ = looked_ = false;
    testing_ = settings_.partitioned();
    record_ = Record{};
    sends_.clear();
    sent_.clear();
    std::size_t sends = 0;
    for (const Step& step : plan_.steps) sends += step.sends.size();
    sends_.reserve(sends);  // requests are written where they lie
    receives_.assign(plan_.receives.size(), nullptr);
    for (std::size_t i = 0; i < receives_.size(); ++i) post(events, plan_.receives[i], receives_[i]);
}

// Computes until the next transport partition is ready and sends it; true when the threads have met.
bool Motif::compute(Events& events)
{
    const bool received = !issuing_ && completed();
    if (issuing_ || received) freed_ = since_origin();  // who sends or receives has the VCI's lock
    issuing_ = false;
    if (step_ == plan_.steps.size()) {
        if (record_.messages && record_.issued < 0) record_.issued = now();
        if (!phases_[phase_].computes) return true;
        if (!computed_until(events, plan_.join, in_mpi_every())) return false;
        record_.ready = origin_ + std::llround(plan_.ready * 1e3);
        record_.join = origin_ + std::llround(plan_.join * 1e3);
        return true;
    }
    const Step& step = plan_.steps[step_];
    // Behind a step that it queued for, as many messages are received as that one sent, if they have come; a thread that is
    // ready while another receives has the lock after the next message.
    if (since_origin() < step.at) turns_ = 0;
    else if (received && turns_ > 0) --turns_;
    if (!reached_ && (turns_ > 0 || since_origin() < step.at) && !computed_until(events, step.at, in_mpi_every())) return false;
    reached_ = true;
    // Who finds the lock taken pays for it, once for each message.
    if (step_ && !computed_until(events, freed_ + settings_.contention_ns * static_cast<double>(step.sends.size()), 0)) return false;
    reached_ = false;
    issuing_ = true;
    turns_ = step.sends.size();
    for (const Message& m : step.sends) {
        // In a call Firefly handles either one completed receive or the requests that have come. Without a call more between
        // two sends, receives that complete keep the neighbours' requests waiting.
        if (settings_.answers) enQ_makeProgress(events);
        sends_.push_back(nullptr);
        send(events, m, sends_.back());
        sent_.push_back(now());
        ++record_.messages;
        record_.bytes += m.bytes;
    }
    ++step_;
    return false;
}

// How often a thread looks for messages while others compute, ns; 0: none is in MPI.
double Motif::in_mpi_every() const
{
    if (settings_.progress_ns > 0) return settings_.progress_ns;
    return step_ > 0 ? settings_.waiting_ns : 0;
}

// True when the time `at` (ns) has come. Otherwise the rank computes towards it; with a thread in MPI, which receives one
// message after the other, it looks for the next one when there was none, after `every`.
bool Motif::computed_until(Events& events, double at, double every)
{
    if (every > 0 && !looked_ && !receives_.empty()) {
        test(events);
        return false;
    }
    looked_ = false;
    const double left = at - since_origin();
    if (left < 0.5) return true;
    enQ_compute(events, static_cast<std::uint64_t>(std::max(1LL, std::llround(every > 0 ? std::min(left, every) : left))));
    return false;
}

void Motif::test(Events& events)
{
    asked_ = true;
    flag_ = 0;
    enQ_testany(events, static_cast<int>(receives_.size()), receives_.data(), &arrived_, &flag_);
}

// Did the call before complete a receive? Notes it.
bool Motif::completed()
{
    looked_ = asked_ && !flag_;
    if (!std::exchange(asked_, false) || !flag_) return false;
    if (settings_.partitioned()) ++sums_.received;
    if (testing_) ++sums_.told;
    receives_.erase(receives_.begin() + arrived_);
    if (record_.first_arrival < 0) record_.first_arrival = now();
    if (settings_.messages) record_.arrivals.push_back(now());
    record_.completion = now();
    return true;
}

// True when every receive is complete; otherwise waits for the next one. Where partitions are told of one by one, the rank
// asks first which are there (MPI_Parrived).
bool Motif::received(Events& events)
{
    if (asked_ && !completed()) testing_ = false;
    if (receives_.empty()) return true;
    if (testing_) {
        test(events);
    } else {
        asked_ = true;
        flag_ = 1;
        enQ_waitany(events, static_cast<int>(receives_.size()), receives_.data(), &arrived_);
    }
    return false;
}

void Motif::record()
{
    record_.end = now();
    // Ranks that do not compute wait from the start.
    const std::int64_t join = record_.join < 0 ? record_.start : record_.join;
    sums_.early += static_cast<std::uint64_t>(std::count_if(sent_.begin(), sent_.end(), [&](auto at) { return at < join; }));
    sums_.sent += sent_.size();
    sums_.waited += std::max<std::int64_t>(0, record_.end - join);
    lines_ += line(rank(), iteration_, phase_, record_);
}

// After an iteration: rank 0 says how far it is, and after the last all write what they recorded.
void Motif::ended()
{
    const Count each = (settings_.iterations + SHOWN - 1) / SHOWN;
    if (rank() == 0 && iteration_ % each == 0) {
        output("pready: iteration %llu of %llu\n", static_cast<unsigned long long>(iteration_),
            static_cast<unsigned long long>(settings_.iterations));
        std::fflush(stdout);  // who runs SST reads it meanwhile
    }
    if (iteration_ == settings_.iterations && !settings_.record.empty())
        checked([&] { append_record(settings_.record, getRank().rank, getNumRanks().rank, lines_); });
}

}  // namespace pready
