// The NCCL model and the saturation sizes against every row that PyTorch 2.15 computed.
#include "cost/nccl_model.h"
#include "cost/saturation.h"
#include "support/golden_count.h"
#include "support/test_data.h"

#include <QTest>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

using namespace gs;
using Json = nlohmann::json;

namespace {

constexpr double kTolerance = 1e-12;

bool near(double got, double want) {
    return std::abs(got - want) <= kTolerance * std::max(std::abs(want), 1e-300);
}

std::optional<NcclCollective> collectiveByName(const std::string& name) {
    static const std::map<std::string, NcclCollective> kNames = {
        {"ALL_REDUCE", NcclCollective::AllReduce},
        {"ALL_GATHER", NcclCollective::AllGather},
        {"REDUCE_SCATTER", NcclCollective::ReduceScatter},
        {"ALL_TO_ALL", NcclCollective::AllToAll},
        {"P2P", NcclCollective::PointToPoint}};
    const auto found = kNames.find(name);
    return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

NcclSystem systemOf(const std::string& gpu, bool nvlink = true) {
    NcclSystem system;
    system.generation = ncclGenerationFromName(gpu).value();
    system.nvlink = nvlink;
    return system;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields(1);
    for (char c : line) {
        if (c == ',')
            fields.emplace_back();
        else if (c != '\r')
            fields.back() += c;
    }
    return fields;
}

std::string upper(std::string_view text) {
    std::string out;
    for (char c : text)
        out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
}

} // namespace

class TestNcclModel : public QObject {
    Q_OBJECT

private slots:
    void estimates() {
        const auto path = test::corpusPath("golden/comm/nccl_estimate.csv");
        if (!path)
            return;
        const auto lines = test::readLines(*path);
        size_t checked = 0;
        for (size_t i = 1; i < lines.size(); ++i) {
            const auto f = split(lines[i]);
            const auto collective = collectiveByName(f[2]);
            const double want = std::stod(f[5]);
            if (!collective) { // the reference says 0 for what it does not know; we say nothing
                QCOMPARE(want, 0.0);
                ++checked;
                continue;
            }
            const auto got =
                ncclEstimate(systemOf(f[0], f[1] == "1"), {std::stoi(f[3])}, *collective, std::stoll(f[4]));
            QVERIFY2(got && near(got->us / 1000.0, want), lines[i].c_str());
            if (!f[6].empty()) {
                QVERIFY2(upper(ncclAlgorithmName(got->algorithm)) == f[6], lines[i].c_str());
                QVERIFY2(upper(ncclProtocolName(got->protocol)) == f[7], lines[i].c_str());
            }
            ++checked;
        }
        std::printf("nccl_estimate.csv: %zu rows\n", checked);
        test::reportGoldens("comm", "nccl_estimate", {checked, 0, {}});
        QCOMPARE(checked, size_t{40320});
    }

    void overridesAndAlgorithms() {
        const auto path = test::corpusPath("golden/comm/nccl_estimate_more.json");
        if (!path)
            return;
        const Json data = Json::parse(test::readAll(*path));
        for (const Json& row : data.at("overrides")) {
            NcclSystem system = systemOf(row[0]);
            if (!row[1].is_null())
                system.intra_node_gbps = row[1].get<double>();
            if (!row[2].is_null())
                system.inter_node_gbps = row[2].get<double>();
            const auto got = ncclEstimate(system, {row[4].get<int32_t>()}, *collectiveByName(row[3]), row[5]);
            const double want = row[6];
            // A bandwidth of 0 is "0 ms" there and no estimate here.
            QVERIFY2(want == 0 ? !got : got && near(got->us / 1000.0, want), row.dump().c_str());
        }
        for (const Json& row : data.at("algo_times")) {
            const auto algorithm = row[4] == "TREE" ? NcclAlgorithm::Tree : NcclAlgorithm::Ring;
            const auto protocol = row[5] == "LL"      ? NcclProtocol::LL
                                  : row[5] == "LL128" ? NcclProtocol::LL128
                                                      : NcclProtocol::Simple;
            const auto got = ncclTime(systemOf(row[0]), {row[2].get<int32_t>()}, *collectiveByName(row[1]),
                                      row[3], algorithm, protocol);
            const double want = row[6];
            QVERIFY2(want < 0 ? !got : got && near(*got, want), row.dump().c_str());
        }
        std::printf("nccl_estimate_more.json: %zu overrides, %zu algorithm times\n",
                    data.at("overrides").size(), data.at("algo_times").size());
        test::reportGoldens("comm", "nccl_estimate_more",
                            {data.at("overrides").size() + data.at("algo_times").size(), 0, {}});
    }

    void saturation() {
        const auto path = test::corpusPath("golden/comm/saturation.json");
        if (!path)
            return;
        const Json data = Json::parse(test::readAll(*path));
        for (const Json& row : data.at("saturation")) {
            const NcclSystem system = systemOf(row[0], row[1] == 1);
            const NcclGroup group{row[2].get<int32_t>()};
            const std::string what = row.dump();
            QVERIFY2(interconnectName(detectInterconnect(system, group)) == row[3], what.c_str());
            QVERIFY2(saturationBytes(system, group, NcclCollective::AllGather) == row[4], what.c_str());
            QVERIFY2(saturationBytes(system, group, NcclCollective::ReduceScatter) == row[5], what.c_str());
            QVERIFY2(saturationBytes(system, group, NcclCollective::AllReduce) == row[6], what.c_str());
            QVERIFY2(near(preBucketCapMib(system, group), row[7]), what.c_str());
        }
        for (const Json& row : data.at("caps")) {
            const NcclSystem system = systemOf(row[0], row[1] == 1);
            const NcclGroup group{row[2].get<int32_t>()};
            PreBucketLimits limits{row[3], row[4], row[5], {}};
            QVERIFY2(near(preBucketCapMib(system, group, limits), row[6]), row.dump().c_str());
            limits.override_mib = 33.5;
            QVERIFY2(near(preBucketCapMib(system, group, limits), row[7]), row.dump().c_str());
        }
        for (const Json& row : data.at("efficiency")) {
            const auto got =
                saturationBytes(systemOf(row[0]), {row[1].get<int32_t>()}, NcclCollective::AllGather, row[2]);
            QVERIFY2(got == row[3], row.dump().c_str());
        }
        std::printf("saturation.json: %zu sizes, %zu caps, %zu efficiencies\n", data.at("saturation").size(),
                    data.at("caps").size(), data.at("efficiency").size());
        test::reportGoldens(
            "comm", "saturation",
            {data.at("saturation").size() + data.at("caps").size() + data.at("efficiency").size(), 0, {}});
    }

    /// Numbers that hold without the corpus: computed by hand from the tables in NCCL's tuning.cc.
    void knownValues() {
        // Hopper, ring Simple within a node: 8.4 + 7 × 3.4 µs, and the bytes at 370 × 8/7 GB/s.
        const auto time =
            ncclTime({}, {8}, NcclCollective::AllGather, 1 << 30, NcclAlgorithm::Ring, NcclProtocol::Simple);
        QVERIFY(time && near(*time, 8.4 + 7 * 3.4 + (1 << 30) / (1000.0 * 370.0 * (8.0 / 7.0))));
        const auto saturated = saturationBytes({}, {8}, NcclCollective::AllGather);
        QCOMPARE(saturated.value_or(-1), int64_t{93960000});
    }

    /// Ranks spread over nodes use the network, even if they would fit in one.
    void placement() {
        const auto together = ncclEstimate({}, {8, 1}, NcclCollective::AllReduce, 64 << 20);
        const auto packed = ncclEstimate({}, {8}, NcclCollective::AllReduce, 64 << 20);
        const auto spread = ncclEstimate({}, {8, 8}, NcclCollective::AllReduce, 64 << 20);
        QVERIFY(together && packed && spread);
        QCOMPARE(together->us, packed->us);
        QVERIFY(spread->us > 4 * together->us);
        QCOMPARE(detectInterconnect({}, {8, 8}), Interconnect::InfinibandNdr);
    }

    /// No input gives a negative time, NaN or a silent 0.
    void extremes() {
        constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
        QVERIFY(!ncclEstimate({}, {8}, NcclCollective::AllGather, -1));
        QVERIFY(!ncclEstimate({}, {0}, NcclCollective::AllGather, 1));
        QVERIFY(!ncclEstimate({}, {-5}, NcclCollective::AllGather, 1));
        QCOMPARE(ncclEstimate({}, {1}, NcclCollective::AllGather, 1)->us, 0.0);
        for (int32_t ranks : {2, 8, 9, 100'000, std::numeric_limits<int32_t>::max()}) {
            for (int64_t bytes : {int64_t{0}, int64_t{1}, kMost}) {
                for (auto collective : {NcclCollective::AllReduce, NcclCollective::AllGather,
                                        NcclCollective::AllToAll, NcclCollective::PointToPoint}) {
                    const auto got = ncclEstimate({}, {ranks}, collective, bytes);
                    QVERIFY(got && std::isfinite(got->us) && got->us > 0);
                }
            }
        }
        NcclSystem broken;
        broken.intra_node_gbps = -1.0;
        QVERIFY(!ncclEstimate(broken, {8}, NcclCollective::AllGather, 1));
        broken.intra_node_gbps = std::numeric_limits<double>::quiet_NaN();
        QVERIFY(!ncclEstimate(broken, {8}, NcclCollective::AllGather, 1));
        broken.gpus_per_node = 0;
        QCOMPARE(ncclNodes(broken, {8}), 8);
        QVERIFY(!saturationBytes({}, {8}, NcclCollective::AllToAll));
        QVERIFY(!saturationBytes({}, {8}, NcclCollective::AllGather, 1.0));
        QVERIFY(!saturationBytes({}, {8}, NcclCollective::AllGather, 0.0));
    }

    void names() {
        QCOMPARE(ncclGenerationFromName("hopper").value(), NcclGeneration::Hopper);
        QVERIFY(!ncclGenerationFromName("kepler"));
        QVERIFY(!ncclGenerationFromName(""));
        QVERIFY(!ncclCollective(CollectiveKind::Broadcast));
        QCOMPARE(ncclCollective(CollectiveKind::AllGatherCoalesced).value(), NcclCollective::AllGather);
    }
};

QTEST_GUILESS_MAIN(TestNcclModel)
#include "tst_nccl_model.moc"
