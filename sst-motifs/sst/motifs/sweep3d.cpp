// Wavefront sweeps over a 2-D grid of ranks, one after the other from each octant.

#include "sweep.hpp"
#include "motif.hpp"

namespace pready {

class PartSweep3D : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartSweep3D, "pready", "PartSweep3DMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk wavefront sweep", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_SWEEP3D(PREADY_ELI))
    SST_ELI_DOCUMENT_STATISTICS(PREADY_STATISTICS(PREADY_STATISTIC))

    PartSweep3D(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartSweep3D", {PREADY_COMMON(PREADY_NAME) PREADY_SWEEP3D(PREADY_NAME)}, sweep)
    {
    }
};

}  // namespace pready
