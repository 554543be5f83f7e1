// Statistics of a motif in SST's own engine.
//
// Ember loads motifs without a place for statistics (SHARE_NONE), so that none of a motif's own could be enabled. This
// subcomponent hangs in the rank's EmberEngine, which may enable it: sst.enableAllStatisticsForComponentType(
// "ember.EmberEngine"). An output that wants all statistics before the simulation begins (CSV) needs a motif of ours
// as the engine's first: it enters MPI by itself, without Ember's Init.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include <sst/core/component.h>
#include <sst/core/subcomponent.h>

#include "emberengine.h"
#include "parameters.hpp"

// A statistic as SST documents it.
#define PREADY_STATISTIC(name, meaning, unit) {#name, meaning, unit, 1},

namespace pready {

class Statistics : public SST::SubComponent {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT_API(pready::Statistics)
    SST_ELI_REGISTER_SUBCOMPONENT(Statistics, "pready", "Statistics", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Statistics of the motifs, of each EmberEngine", pready::Statistics)
    SST_ELI_DOCUMENT_STATISTICS(PREADY_STATISTICS(PREADY_STATISTIC))

    Statistics(SST::ComponentId_t id, SST::Params&)
        : SubComponent(id),
          time_(registerStatistic<std::uint64_t>("iteration_time")),
          early_(registerStatistic<double>("left_before_join")),
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

    // An iteration: its time, how many of its messages were sent before the threads joined, and the wait after that.
    void add(std::int64_t time, std::uint64_t early, std::uint64_t messages, std::int64_t wait)
    {
        time_->addData(static_cast<std::uint64_t>(time));
        if (messages) early_->addData(100.0 * static_cast<double>(early) / static_cast<double>(messages));
        wait_->addData(static_cast<std::uint64_t>(wait));
    }

   private:
    // A component may load subcomponents into itself only.
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
    SST::Statistics::Statistic<std::uint64_t>* wait_;
};

}  // namespace pready
