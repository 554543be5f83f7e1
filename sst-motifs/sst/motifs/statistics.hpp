// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// Statistics of a motif in SST's own engine, and the one place that reaches past Ember's interface for them.
//
// Why it is needed. Ember loads each motif with ComponentInfo::SHARE_NONE and when its turn comes, so that a statistic of
// a motif has no place in the configuration, and none could be enabled (sst-elements #2043, PR #2453). Its EmberEngine
// is a component that every configuration has: a subcomponent that hangs in it and may insert statistics
// (INSERT_STATS) is enabled with sst.enableAllStatisticsForComponentType("ember.EmberEngine").
//
// What it reaches for. (1) `_enginePtr`: Ember hands each motif the address of its engine as text, for its own use. (2)
// loadAnonymousSubComponent is protected, as a component loads into itself only: `Door` derives from Component and names
// the member by a pointer, which C++ then allows on any component. (3) Motifs of one engine follow each other: the
// first hangs the subcomponent there, and a table by engine lets the later ones find it.
//
// An output that wants all statistics before the simulation begins (CSV) needs a motif of ours as the engine's first:
// it enters MPI by itself, without Ember's Init.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include <sst/core/component.h>
#include <sst/core/subcomponent.h>

#include "emberengine.h"

namespace pready {

// What an iteration of a rank adds to its statistics.
struct Iteration {
    std::uint64_t early = 0, sent = 0;     // messages sent before the threads joined, and in all
    std::uint64_t told = 0, received = 0;  // partitions that MPI_Parrived told of before the rank waited, and in all
    std::int64_t waited = 0;               // ps after the threads joined
};

class Statistics : public SST::SubComponent {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT_API(pready::Statistics)
    SST_ELI_REGISTER_SUBCOMPONENT(Statistics, "pready", "Statistics", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Statistics of the motifs, of each EmberEngine", pready::Statistics)
    SST_ELI_DOCUMENT_STATISTICS(
        {"iteration_time", "time of an iteration", "ps", 1},
        {"left_before_join", "messages of an iteration that were sent before the rank's threads joined", "percent", 1},
        {"parrived", "part: partitions of an iteration that MPI_Parrived told of before the rank waited", "percent", 1},
        {"wait_time", "time of an iteration after the threads joined", "ps", 1})

    Statistics(SST::ComponentId_t id, SST::Params&)
        : SubComponent(id),
          time_(registerStatistic<std::uint64_t>("iteration_time")),
          early_(registerStatistic<double>("left_before_join")),
          told_(registerStatistic<double>("parrived")),
          wait_(registerStatistic<std::uint64_t>("wait_time"))
    {
    }

    // Those of the engine that a motif with these parameters runs in.
    static Statistics* of(SST::Params& params)
    {
        static std::mutex mutex;
        static std::map<std::uint64_t, Statistics*> known;
        const auto address = params.find<std::uint64_t>("_enginePtr", 0);
        const std::lock_guard<std::mutex> lock(mutex);
        Statistics*& found = known[address];
        if (!found) found = Door::hang(reinterpret_cast<SST::Ember::EmberEngine*>(address));
        return found;
    }

    void add(std::int64_t time, const Iteration& of)
    {
        const auto percent = [](std::uint64_t some, std::uint64_t all) {
            return 100.0 * static_cast<double>(some) / static_cast<double>(all);
        };
        time_->addData(static_cast<std::uint64_t>(time));
        if (of.sent) early_->addData(percent(of.early, of.sent));
        if (of.received) told_->addData(percent(of.told, of.received));
        wait_->addData(static_cast<std::uint64_t>(of.waited));
    }

   private:
    struct Door : SST::Component {
        static Statistics* hang(SST::BaseComponent* engine)
        {
            Statistics* (SST::BaseComponent::*load)(const std::string&, const std::string&, int, std::uint64_t, SST::Params&) =
                &Door::loadAnonymousSubComponent<Statistics>;
            SST::Params none;
            return (engine->*load)("pready.Statistics", "", 0, SST::ComponentInfo::INSERT_STATS, none);
        }
    };

    SST::Statistics::Statistic<std::uint64_t>* time_;
    SST::Statistics::Statistic<double>* early_;
    SST::Statistics::Statistic<double>* told_;
    SST::Statistics::Statistic<std::uint64_t>* wait_;
};

}  // namespace pready
