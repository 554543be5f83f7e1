// A 27-point halo exchange: 26 peers, with buffers of their own size across edges and corners.

#include "halo.hpp"
#include "motif.hpp"

namespace pready {

class PartHalo3D26 : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartHalo3D26, "pready", "PartHalo3D26Motif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk 27-point halo exchange", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_HALO3D(PREADY_ELI) PREADY_HALO3D26(PREADY_ELI))
    SST_ELI_DOCUMENT_STATISTICS(PREADY_STATISTICS(PREADY_STATISTIC))

    PartHalo3D26(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartHalo3D26", {PREADY_COMMON(PREADY_NAME) PREADY_HALO3D(PREADY_NAME) PREADY_HALO3D26(PREADY_NAME)}, halo3d26)
    {
    }
};

}  // namespace pready
