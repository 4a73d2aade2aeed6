#include "import/importer.h"
#include "import/readers.h"

namespace gs {

const std::vector<GraphReader>& graphReaders() {
    static const std::vector<GraphReader> kReaders = {
        bundleReader(),  gatherscopeJsonReader(), fxCodeReader(),      fxGraphReader(),
        fxTableReader(), inductorIrReader(),      inductorCodeReader()};
    return kReaders;
}

} // namespace gs
