// The motifs as SST knows them: each a name, who talks to whom, and its parameters.

#include "motif.hpp"

namespace pready {

// One buffer from rank 2k to rank 2k + 1 and back, or an acknowledgement back.
class PartPingPong : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartPingPong, "pready", "PartPingPongMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk ping-pong of rank pairs", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_PINGPONG(PREADY_ELI))

    PartPingPong(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartPingPong", pingpong) {}
};

// A 7-point halo exchange: six peers, all of them at once.
class PartHalo3D : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartHalo3D, "pready", "PartHalo3DMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk 7-point halo exchange", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_HALO3D(PREADY_ELI))

    PartHalo3D(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartHalo3D", halo3d) {}
};

// A 27-point halo exchange: 26 peers, with buffers of their own size across edges and corners.
class PartHalo3D26 : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartHalo3D26, "pready", "PartHalo3D26Motif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk 27-point halo exchange", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_HALO3D(PREADY_ELI) PREADY_HALO3D26(PREADY_ELI))

    PartHalo3D26(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartHalo3D26", halo3d26) {}
};

// Wavefront sweeps over a 2-D grid of ranks, one after the other from each octant.
class PartSweep3D : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartSweep3D, "pready", "PartSweep3DMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk wavefront sweep", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_SWEEP3D(PREADY_ELI))

    PartSweep3D(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartSweep3D", sweep) {}
};

}  // namespace pready
