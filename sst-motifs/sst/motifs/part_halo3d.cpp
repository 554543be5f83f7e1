#include "part_halo3d.hpp"

namespace pready {

PartHalo3D::PartHalo3D(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartHalo3D", halo3d) {}

}  // namespace pready
