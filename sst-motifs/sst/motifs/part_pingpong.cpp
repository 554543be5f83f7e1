#include "part_pingpong.hpp"

namespace pready {

PartPingPong::PartPingPong(SST::ComponentId_t id, SST::Params& params) : Motif(id, params, "PartPingPong", pingpong) {}

}  // namespace pready
