// Any pattern: who exchanges with whom is in a file of edges.

#include "exchange.hpp"
#include "motif.hpp"

namespace pready {

class PartExchange : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartExchange, "pready", "PartExchangeMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk exchange along the edges of a file", SST::Ember::EmberGenerator)
    SST_ELI_DOCUMENT_PARAMS(PREADY_COMMON(PREADY_ELI) PREADY_EXCHANGE(PREADY_ELI))
    SST_ELI_DOCUMENT_STATISTICS(PREADY_STATISTICS(PREADY_STATISTIC))

    PartExchange(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartExchange", {PREADY_COMMON(PREADY_NAME) PREADY_EXCHANGE(PREADY_NAME)}, exchange)
    {
    }
};

}  // namespace pready
