// A 7-point halo exchange: six peers, all of them at once.

#pragma once

#include "motif.hpp"

namespace pready {

class PartHalo3D : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartHalo3D, "pready", "PartHalo3DMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0), "Partitioned or bulk 7-point halo exchange",
        SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_HALO3D(PREADY_ELI))

    PartHalo3D(SST::ComponentId_t id, SST::Params& params);
};

}  // namespace pready
