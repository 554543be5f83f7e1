// Background traffic: every rank sends messages to one rank after the other, without end.

#include <cstdint>
#include <queue>

#include "motif.hpp"

namespace pready {

class Traffic : public SST::Ember::EmberMessagePassingGenerator {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(Traffic, "pready", "TrafficMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Messages to a random rank after the other until the other jobs end", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_TRAFFIC(PREADY_ELI))

    Traffic(SST::ComponentId_t id, SST::Params& params) : EmberMessagePassingGenerator(id, params, "Traffic")
    {
        try {
            check_arguments(params, "Traffic", {PREADY_TRAFFIC(PREADY_NAME)});
#define PREADY_READ(name, type, fallback, meaning) parse(#name, params.find<std::string>("arg." #name, #fallback), name##_);
            PREADY_TRAFFIC(PREADY_READ)
#undef PREADY_READ
            if (bytes_ < 1 || bytes_ >> 31)
                throw std::invalid_argument("bytes = " + std::to_string(bytes_) + "; valid: 1 to 2147483647");
        } catch (const std::exception& error) {
            fatal(CALL_INFO, 1, "pready: error: %s\n", error.what());
        }
    }

    // The simulation does not wait for it.
    bool primary() override { return false; }

    bool generate(std::queue<SST::Ember::EmberEvent*>& events) override
    {
        const auto ranks = static_cast<std::uint64_t>(size()), here = static_cast<std::uint64_t>(rank());
        if (ranks < 2) return true;
        // All ranks send as far along the ring, so that who receives knows from whom.
        const std::uint64_t step = 1 + mixed(seed_ + ++round_) % (ranks - 1);
        const auto other = [&](std::uint64_t by) { return static_cast<std::uint32_t>((here + by) % ranks); };
        const auto tag = static_cast<std::uint32_t>(round_ % 1024);
        enQ_irecv(events, static_cast<SST::Hermes::MP::Addr>(nullptr), static_cast<std::uint32_t>(bytes_),
            SST::Hermes::MP::CHAR, other(ranks - step), tag, SST::Hermes::MP::GroupWorld, &requests_[0]);
        enQ_isend(events, static_cast<SST::Hermes::MP::Addr>(nullptr), static_cast<std::uint32_t>(bytes_),
            SST::Hermes::MP::CHAR, other(step), tag, SST::Hermes::MP::GroupWorld, &requests_[1]);
        enQ_waitall(events, 2, requests_);
        if (pause_ns_ >= 0.5) enQ_compute(events, static_cast<std::uint64_t>(pause_ns_ + 0.5));
        return false;
    }

   private:
    // SplitMix64.
    static std::uint64_t mixed(std::uint64_t x)
    {
        x += 0x9e3779b97f4a7c15U;
        x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
        x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
        return x ^ x >> 31U;
    }

#define PREADY_FIELD(name, type, fallback, meaning) type name##_{};
    PREADY_TRAFFIC(PREADY_FIELD)
#undef PREADY_FIELD
    std::uint64_t round_ = 0;
    SST::Hermes::MP::MessageRequest requests_[2] = {};
};

}  // namespace pready
