// One buffer from rank 2k to rank 2k + 1 and back, or an acknowledgement back.

#include "ping_pong.hpp"
#include "motif.hpp"

namespace pready {

class PartPingPong : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartPingPong, "pready", "PartPingPongMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk ping-pong of rank pairs", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_PINGPONG(PREADY_ELI))
    SST_ELI_DOCUMENT_STATISTICS(PREADY_STATISTICS(PREADY_STATISTIC))

    PartPingPong(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartPingPong", {PREADY_COMMON(PREADY_NAME) PREADY_PINGPONG(PREADY_NAME)}, pingpong)
    {
    }
};

}  // namespace pready
