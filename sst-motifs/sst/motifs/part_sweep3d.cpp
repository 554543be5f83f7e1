#include "part_sweep3d.hpp"

namespace pready {

PartSweep3D::PartSweep3D(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartSweep3D", sweep) {}

}  // namespace pready
