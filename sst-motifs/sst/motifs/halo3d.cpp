// A 7-point halo exchange: six peers, all of them at once.

#include "halo.hpp"
#include "motif.hpp"

namespace pready {

class PartHalo3D : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartHalo3D, "pready", "PartHalo3DMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk 7-point halo exchange", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_HALO3D(PREADY_ELI))
    SST_ELI_DOCUMENT_STATISTICS(PREADY_STATISTICS(PREADY_STATISTIC))

    PartHalo3D(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartHalo3D", {PREADY_COMMON(PREADY_NAME) PREADY_HALO3D(PREADY_NAME)}, halo3d)
    {
    }
};

}  // namespace pready
