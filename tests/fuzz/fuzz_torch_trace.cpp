// A whole input as a user opens it: all readers, the choice of a graph, artifacts of structured logs,
// neighbours, pages.
#include "import/html_text.h"
#include "import/importer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    gs::Diagnostics diagnostics;
    gs::InputText input{"fuzz", std::string(reinterpret_cast<const char*>(data), size)};
    if (gs::looksLikeHtml(input.text))
        input.text = gs::textOfHtml(input.text);
    const auto imported = gs::importText(input, -1, -1, diagnostics, {});
    if (!imported && imported.error().message.empty())
        __builtin_trap(); // whatever it is, it has a name
    return 0;
}
