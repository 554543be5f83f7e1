// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// The glue between a plan (plan.hpp) and Ember: receives posted, computing, sends, waiting, times.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "mpi/embermpigen.h"

#include "arrivals.hpp"
#include "plan.hpp"
#include "record.hpp"
#include "settings.hpp"
#include "statistics.hpp"

namespace pready {

// The text of an argument, if it is given.
std::optional<std::string> argument(const SST::Params& params, const std::string& name);

// Every argument in `params` is one of the table.
void check_arguments(
    const SST::Params& params, const std::string& motif, const std::vector<SST::ElementInfoParam>& table);

class Motif : public SST::Ember::EmberMessagePassingGenerator {
   public:
    // Motifs of exchanges: they inherit this table of parameters, and Ember loads them as its generators.
    SST_ELI_REGISTER_SUBCOMPONENT_DERIVED_API(pready::Motif, SST::Ember::EmberGenerator)

    // In a text %20 is a blank and %3D is "=": Ember splits at both.
    SST_ELI_DOCUMENT_PARAMS(
        {"arg.approach", "single (bulk) - part (partitioned) - many (a send of its own per transport partition)", "single"},
        {"arg.threads", "user threads of a rank", "1"},
        {"arg.partitions", "user partitions of each thread", "1"},
        {"arg.transport", "transport partitions: messages per peer unless the approach is single", "1"},
        {"arg.iterations", "exchanges", "10"},
        {"arg.compute_ns", "when every user partition is ready - after the start - unless arrivals are given", "0"},
        {"arg.laggard_ns", "how much later the last user partition is ready", "0"},
        {"arg.arrivals", "file of ready times in seconds: a 2-D .npy array with rows rank x draw", ""},
        {"arg.barrier_ns", "time of the barrier in which the threads meet", "0"},
        {"arg.contention_ns", "what a send pays that finds its VCI's lock taken by another thread", "0"},
        {"arg.progress_ns", "interval at which MPI progresses while computing; 0: only inside MPI calls", "0"},
        {"arg.waiting_ns", "the same from the rank's first send on, whose thread waits in MPI (many); 0: as before", "0"},
        {"arg.answers", "1: rendezvous requests are looked for before each send", "0"},
        {"arg.record", "CSV file of times; no file if empty", ""},
        {"arg.messages", "1: the CSV also lists when each message completed", "0"})

    bool generate(std::queue<SST::Ember::EmberEvent*>& events) override;

   protected:
    // What a rank does in an iteration.
    using Pattern = std::vector<Phase> (*)(const Settings&, std::int32_t rank, std::int32_t ranks);

    Motif(SST::ComponentId_t id, SST::Params& params, const std::string& name,
        const std::vector<SST::ElementInfoParam>& table, Pattern pattern);

   private:
    using Events = std::queue<SST::Ember::EmberEvent*>;
    enum class State { enter, first, match, start, compute, receive, finish, next };

    void checked(const std::function<void()>& action);
    void enter(Events& events);
    void place();
    void match(Events& events);
    void prepare(Events& events);
    bool compute(Events& events);
    double in_mpi_every() const;
    bool computed_until(Events& events, double at, double every);
    void test(Events& events);
    bool completed();
    bool received(Events& events);
    void record();
    void ended();
    void post(Events& events, const Message& message, SST::Hermes::MP::MessageRequest& request);
    void send(Events& events, const Message& message, SST::Hermes::MP::MessageRequest& request);
    std::int64_t now() const { return static_cast<std::int64_t>(clock_()); }
    double since_origin() const { return static_cast<double>(now() - origin_) * 1e-3; }  // ns

    std::string name_;
    Pattern pattern_;
    Settings settings_;
    Statistics* statistics_ = nullptr;
    std::function<SST::SimTime_t()> clock_;  // ps
    std::uint32_t rank_ = 0;                 // written by Ember's calls at the start
    int size_ = 0;
    std::vector<Phase> phases_;
    std::unique_ptr<Arrivals> arrivals_;

    State state_ = State::enter;
    std::uint64_t iteration_ = 0;
    std::size_t phase_ = 0;
    Plan plan_;
    std::size_t step_ = 0;
    bool issuing_ = false, reached_ = false;  // sends go out; the next ones are ready
    std::size_t turns_ = 0;                   // messages that may be received before them
    double freed_ = 0;                        // when the VCI's lock was free again, ns after origin_
    bool asked_ = false, looked_ = false;     // for a message; in vain
    bool testing_ = false;                    // MPI_Parrived before the rank waits
    bool receives_done_ = false;
    int arrived_ = -1, flag_ = 0;
    std::int64_t origin_ = 0;  // ready times count from here
    std::vector<SST::Hermes::MP::MessageRequest> receives_, sends_;
    Record record_;
    std::vector<std::int64_t> sent_;  // when each message of the phase was
    Iteration sums_;
    std::int64_t begun_ = 0;
    std::string lines_;
};

}  // namespace pready
