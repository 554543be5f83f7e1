#include "part_halo3d26.hpp"

namespace pready {

PartHalo3D26::PartHalo3D26(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartHalo3D26", halo3d26) {}

}  // namespace pready
