// One buffer from rank 2k to rank 2k + 1 and back, or an acknowledgement back.

#pragma once

#include "motif.hpp"

namespace pready {

class PartPingPong : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartPingPong, "pready", "PartPingPongMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0), "Partitioned or bulk ping-pong of rank pairs",
        SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_PINGPONG(PREADY_ELI))

    PartPingPong(SST::ComponentId_t id, SST::Params& params);
};

}  // namespace pready
