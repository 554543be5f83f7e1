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

// A parameter as SST documents it, and its name.
#define PREADY_ELI(name, type, fallback, meaning) {"arg." #name, meaning, #fallback},
#define PREADY_NAME(name, type, fallback, meaning) #name,

namespace pready {

using Names = std::vector<std::string>;

// Every argument in `params` is one of `names`.
void check_arguments(const SST::Params& params, const std::string& motif, const Names& names);

class Motif : public SST::Ember::EmberMessagePassingGenerator {
   public:
    bool generate(std::queue<SST::Ember::EmberEvent*>& events) override;

   protected:
    // What a rank does in an iteration.
    using Pattern = std::vector<Phase> (*)(const Settings&, std::int32_t rank, std::int32_t ranks);

    Motif(SST::ComponentId_t id, SST::Params& params, const std::string& name, const Names& arguments, Pattern pattern);

   private:
    using Events = std::queue<SST::Ember::EmberEvent*>;
    enum class State { enter, first, start, compute, receive, finish, work, next };

    void checked(const std::function<void()>& action);
    void enter(Events& events);
    void place();
    void prepare(Events& events);
    bool compute(Events& events);
    bool computed_until(Events& events, double at);
    bool received(Events& events);
    bool worked(Events& events);
    void record();
    std::int64_t now() const { return static_cast<std::int64_t>(getCurrentSimTime("1ps")); }

    std::string name_;
    Pattern pattern_;
    Settings settings_;
    Statistics* statistics_ = nullptr;
    std::uint32_t rank_ = 0;  // written by Ember's calls at the start
    int size_ = 0;
    std::vector<Phase> phases_;
    std::unique_ptr<Arrivals> arrivals_;

    State state_ = State::enter;
    std::uint64_t iteration_ = 0;
    std::size_t phase_ = 0;
    Plan plan_;
    std::size_t step_ = 0;
    bool issuing_ = false;
    double freed_ = 0;  // when the lock was free again, ns after origin_
    bool waiting_ = false;
    bool receives_done_ = false;
    int arrived_ = -1;
    std::int64_t origin_ = 0;  // ready times count from here
    std::vector<SST::Hermes::MP::MessageRequest> receives_, sends_;
    Work work_;               // on received partitions; ns after origin_
    std::vector<double> left_;  // each a partition that nothing is told of before the end
    Record record_;
    std::vector<std::int64_t> sent_;  // when each message of the phase was
    std::uint64_t early_ = 0, all_ = 0;  // messages of the iteration: sent before the threads joined, and in all
    std::int64_t begun_ = 0, waited_ = 0;
    std::string lines_;
};

}  // namespace pready
