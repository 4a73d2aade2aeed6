#include "graph/op_traits.h"
#include "support/test_data.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace gs;
using namespace gs::test;
using Json = nlohmann::json;

namespace {

/// The seven properties that graph files state as tags.
constexpr std::pair<const char*, OpTrait> kTags[] = {
    {"pointwise", kTraitPointwise},   {"view", kTraitView}, {"compute", kTraitCompute},
    {"collective", kTraitCollective}, {"wait", kTraitWait}, {"reduction", kTraitReduction},
    {"mutable", kTraitMutable}};

std::string tagsOf(std::string_view target) {
    std::string text;
    for (const auto& [name, bit] : kTags)
        text += (opTraits(target).bits & bit) ? std::string(name) + " " : "";
    return text;
}

std::string tagsOf(const Json& tags) {
    std::string text;
    for (const auto& [name, bit] : kTags)
        text += std::find(tags.begin(), tags.end(), name) != tags.end() ? std::string(name) + " " : "";
    return text;
}

} // namespace

class TstOpTraits : public QObject {
    Q_OBJECT
private slots:
    void equalTheTagsOfEveryCorpusGraph();
    void overloads();
    void collectives();
    void schemas();
};

void TstOpTraits::equalTheTagsOfEveryCorpusGraph() {
    // Inductor's scheduler nodes are extern kernels: those files leave compute and mutable out for them, so
    // that flash attention, mm.out and all_reduce_ have a second tag set there. The reader takes each file's
    // own tags; the table has those of the ATen operator.
    const std::set<std::string> leaves_out = {
        "aten.mm.out", "aten.addmm.out", "aten._scaled_dot_product_flash_attention.default",
        "aten._scaled_dot_product_flash_attention_backward.default", "_c10d_functional.all_reduce_.default"};
    size_t targets = 0;
    std::map<std::string, std::string> faults;
    std::set<std::pair<std::string, std::string>> seen;
    for (const std::string& name : corpusGraphs()) {
        const auto path = corpusPath("graphs/" + name + ".json");
        if (!path)
            continue;
        bool scheduler = false;
        for (const std::string& line : readLines(*path)) { // one node a line
            scheduler = scheduler || (line.find("\"level\"") != std::string::npos &&
                                      line.find("\"scheduler\"") != std::string::npos);
            if (line.find("\"op\":\"call_function\"") == std::string::npos)
                continue;
            const Json node = Json::parse(line.substr(0, line.rfind('}') + 1));
            const std::string target = node.at("target");
            const std::string tags = tagsOf(node.at("tags"));
            targets += seen.emplace(target, tags).second ? 1 : 0;
            if (tags != tagsOf(std::string_view(target)) && !(scheduler && leaves_out.count(target)))
                faults[target] =
                    name + ": file has " + tags + ", table has " + tagsOf(std::string_view(target));
        }
    }
    for (const auto& [target, fault] : faults)
        qWarning("%s: %s", target.c_str(), fault.c_str());
    QVERIFY(faults.empty());
    if (!corpusGraphs().empty())
        QVERIFY(targets > 10);
}

void TstOpTraits::overloads() {
    QVERIFY(opTraits("aten.mm.default").bits & kTraitCompute);
    QVERIFY(opTraits("aten.mm.out").bits & kTraitMutable);
    QVERIFY(opTraits("aten.mm.out").bits & kTraitCompute);
    QVERIFY(opTraits("aten.add_.Tensor").bits & kTraitMutable);
    QVERIFY(opTraits("aten.add_.Tensor").bits & kTraitPointwise);
    QCOMPARE(opTraits("aten.add_.Tensor").mutated_args, std::vector<uint8_t>{0});
    // max over a dimension reduces, max of two tensors does not
    QVERIFY(opTraits("aten.max.dim").bits & kTraitReduction);
    QVERIFY(!(opTraits("aten.max.dim").bits & kTraitPointwise));
    QVERIFY(opTraits("aten.max.other").bits & kTraitPointwise);
    QVERIFY(!(opTraits("aten.max.other").bits & kTraitReduction));
    // an overload whose row only states arguments keeps the facts of its packet
    QVERIFY(opTraits("aten.div.Tensor_mode").bits & kTraitPointwise);
    QCOMPARE(opTraits("aten.div.Tensor_mode").string_args, std::vector<std::string>{"rounding_mode"});
    QVERIFY(opTraits("aten.div_.Tensor_mode").bits & kTraitMutable);
    QCOMPARE(opTraits("no.such_op.default").bits, 0);
    QCOMPARE(&opTraits("no.such_op.default"), &opTraits("no.such_op.default"));
}

void TstOpTraits::collectives() {
    const OpTraits& gather = opTraits("_c10d_functional.all_gather_into_tensor.default");
    QCOMPARE(gather.collective, CollectiveKind::AllGather);
    QCOMPARE(int(gather.group_size_arg), 1);
    QCOMPARE(int(gather.group_arg), 2);
    QCOMPARE(opTraits("_c10d_functional.all_gather_into_tensor").collective, CollectiveKind::AllGather);
    QCOMPARE(opTraits("_c10d_functional.all_reduce_.default").collective, CollectiveKind::AllReduce);
    QCOMPARE(int(opTraits("c10d_functional.reduce_scatter_tensor.default").group_arg), 2);
    QCOMPARE(opTraits("c10d._allgather_base_.default").collective, CollectiveKind::AllGather);
    QVERIFY(opTraits("c10d_functional.wait_tensor.default").bits & kTraitWait);
    QVERIFY(opTraits("inductor.resize_storage_bytes_.default").bits & kTraitFree);
}

void TstOpTraits::schemas() {
    // every collective that names its group states where the name is, as a string
    for (const char* target :
         {"_c10d_functional.all_gather_into_tensor.default",
          "_c10d_functional.all_gather_into_tensor_out.default",
          "_c10d_functional.all_gather_into_tensor_coalesced.default",
          "_c10d_functional.reduce_scatter_tensor.default",
          "_c10d_functional.reduce_scatter_tensor_coalesced.default", "_c10d_functional.all_reduce.default",
          "_c10d_functional.all_reduce_.default", "_c10d_functional.all_reduce_coalesced.default",
          "_c10d_functional.all_to_all_single.default", "_c10d_functional.broadcast.default",
          "c10d_functional.all_gather_into_tensor.default", "c10d_functional.reduce_scatter_tensor.default",
          "c10d_functional.all_reduce.default", "_c10d_functional_autograd.all_to_all_single.default"}) {
        const OpTraits& traits = opTraits(target);
        QVERIFY2(traits.group_arg >= 0 && static_cast<size_t>(traits.group_arg) < traits.arg_names.size(),
                 target);
        const std::string& group = traits.arg_names[static_cast<size_t>(traits.group_arg)];
        QVERIFY2(std::count(traits.string_args.begin(), traits.string_args.end(), group) == 1, target);
        if (traits.reduce_op_arg >= 0) {
            const std::string& op = traits.arg_names[static_cast<size_t>(traits.reduce_op_arg)];
            QVERIFY2(std::count(traits.string_args.begin(), traits.string_args.end(), op) == 1, target);
        }
    }
}

QTEST_GUILESS_MAIN(TstOpTraits)
#include "tst_op_traits.moc"
