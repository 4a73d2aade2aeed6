// Every exporter on analyses of the corpus and on a hostile graph: read back, add up, byte-identical.
#include "base/hash.h"
#include "cost/cost_model.h"
#include "export/csv.h"
#include "export/exporter.h"
#include "export/file_writer.h"
#include "graph/graph_builder.h"
#include "passes/pass.h"
#include "schedule/scheduler.h"
#include "support/test_data.h"
#include "support/trace_check.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <sys/stat.h>

using Json = nlohmann::json;
using namespace gs;

namespace {

AnalysisPtr analysisOf(const std::string& name,
                       const std::vector<std::pair<Setting, std::string>>& settings) {
    const auto graph = test::corpusPath("graphs/" + name + ".json");
    if (!graph)
        return nullptr;
    AnalysisRequest request;
    request.graph_file = *graph;
    if (name.rfind("prim29_", 0) != 0) { // the corpus prices no Dynamo graphs
        if (const auto costs = test::corpusPath("costs/" + name + ".roofline.json"))
            request.cost_files.push_back(*costs);
    }
    for (const auto& [key, value] : settings) {
        if (!request.settings.set(key, value).ok())
            return nullptr;
    }
    Analyser analyser;
    Result<AnalysisPtr> analysis = analyser.analyse(request, {});
    return analysis ? analysis.value() : nullptr;
}

/// A small program whose names try to break every format.
AnalysisPtr hostileAnalysis() {
    GraphBuilder b;
    b.info().name = "evil \"graph\"\n<b>,\x01 \xff";
    const auto tensor = [&](NodeId id, int64_t rows) {
        Value value;
        value.kind = Value::Kind::Tensor;
        value.tensor.dtype = DType::BFloat16;
        value.tensor.shape = {{rows, kEmptyString}};
        b.setValue(id, value);
    };
    const NodeId x = b.addNode("x", NodeOp::Placeholder, "x");
    const NodeId p = b.addNode("=cmd|' /C calc'!A0", NodeOp::Placeholder, "p");
    tensor(x, 1 << 20);
    tensor(p, 1 << 20);
    b.meta(p).fqn = b.intern("+layer \"0\", weight\n\xc3\xa4 \xff");
    NodeId last = x;
    for (int i = 0; i < 3; ++i) {
        last = b.addNode(fmt::format("mm{}", i), NodeOp::CallFunction, "aten.mm.default");
        b.setArgs(last, {b.nodeArg(i == 0 ? x : last - 1), b.nodeArg(x)});
        tensor(last, 1 << 20);
    }
    const NodeId gather =
        b.addNode("@gather|\"\\\n", NodeOp::CallFunction, "_c10d_functional.all_gather_into_tensor.default");
    b.setArgs(gather, {b.nodeArg(p), b.intArg(8), b.textArg(Arg::Kind::String, "group \"0\"|\n")});
    tensor(gather, 8 << 20);
    const NodeId wait = b.addNode("-wait,", NodeOp::CallFunction, "_c10d_functional.wait_tensor.default");
    b.setArgs(wait, {b.nodeArg(gather)});
    tensor(wait, 8 << 20);
    const NodeId mm = b.addNode("use", NodeOp::CallFunction, "aten.mm.default");
    b.setArgs(mm, {b.nodeArg(last), b.nodeArg(wait)});
    tensor(mm, 1 << 20);
    const NodeId output = b.addNode("output", NodeOp::Output, "output");
    b.setArgs(output, {b.nodeArg(mm)});

    auto analysis = std::make_shared<Analysis>();
    Program program;
    program.graph = b.finish(nullptr);
    program.collectives = std::make_shared<CollectiveTable>(*program.graph);
    CostChain chain;
    for (NodeId id = 0; id < program.graph->size(); ++id) {
        if (program.graph->isCall(id))
            chain.node_overrides[std::string(program.graph->name(id))] = 12345 + id;
    }
    program.costs = priceGraph(*program.graph, *program.collectives, chain);
    const ScheduleInput input{
        *program.graph, *program.collectives, *program.costs, analysis->request.settings, {}};
    analysis->source.graph = program.graph;
    analysis->before = analysis->after = program;
    analysis->before.schedule = std::make_shared<Schedule>(findScheduler("program-order")->run(input));
    analysis->after.schedule = std::make_shared<Schedule>(findScheduler("latest-safe-launch")->run(input));
    for (Program* item : {&analysis->before, &analysis->after})
        item->timeline = simulate(*item->graph, *item->collectives, *item->costs, item->schedule->order, {});
    return analysis;
}

std::string written(const Analysis& analysis, const char* format) {
    const Exporter* exporter = findExporter(format);
    if (!exporter)
        return {};
    Result<std::string> text = exporter->write(analysis);
    return text ? text.value() : "error: " + text.error().message;
}

/// Cells of a table after RFC 4180; strict about quotes and line ends.
std::vector<std::vector<std::string>> readCsv(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1);
    std::string cell;
    bool inside = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
            cell += '"';
            ++i;
        } else if (c == '"') {
            inside = !inside;
        } else if (!inside && (c == ',' || c == '\r')) {
            rows.back().push_back(std::exchange(cell, {}));
            if (c == '\r') {
                rows.emplace_back();
                if (i + 1 >= text.size() || text[++i] != '\n')
                    return {};
            }
        } else {
            cell += c;
        }
    }
    rows.pop_back();
    return inside ? std::vector<std::vector<std::string>>() : rows;
}

} // namespace

namespace QTest {
template <>
char* toString(const std::string& text) {
    return qstrdup(text.c_str());
}
} // namespace QTest

class TestExporters : public QObject {
    Q_OBJECT

private slots:
    void registryIsSound();
    void scheduleJson();
    void scheduleOfBuckets();
    void traces();
    void tables();
    void logLines();
    void environment();
    void targets();
    void profile();
    void hostileNames();
    void sameBytesTwice();
    void csvCells();
    void filesAreWhole();
    void fileNames();

private:
    static constexpr const char* kGraph = "lm2_fsdp8_joint";
};

void TestExporters::registryIsSound() {
    std::set<std::string_view> names;
    for (const Exporter& exporter : exporters()) {
        QVERIFY(names.insert(exporter.name).second);
        QVERIFY(!exporter.title.empty() && !exporter.extension.empty() && exporter.make);
        QVERIFY(findExporter(exporter.name));
    }
    QVERIFY(!findExporter("nothing"));
}

void TestExporters::scheduleJson() {
    const AnalysisPtr analysis = analysisOf(kGraph, {});
    if (!analysis)
        return;
    const Json json = Json::parse(written(*analysis, "schedule"));
    QVERIFY(json.at("format") == "gatherscope.schedule");
    QVERIFY(json.at("version") == 1);
    QCOMPARE(json.at("order").size(), analysis->after.graph->size());
    QCOMPARE(json.at("moves").size(), analysis->after.schedule->moved);
    QVERIFY(analysis->after.schedule->moved > 0);
    const std::string before = json.at("structural_hash").at("before");
    QCOMPARE(before, hexDigits(analysis->after.graph->structuralHash()));
    QVERIFY(json.at("structural_hash").at("source") == json.at("structural_hash").at("before"));
    QVERIFY(json.at("structural_hash").at("after") != json.at("structural_hash").at("before"));
    std::map<std::string, size_t> position;
    for (const Json& name : json.at("order"))
        position.emplace(name.get<std::string>(), position.size());
    QCOMPARE(position.size(), analysis->after.graph->size());
    std::set<std::string> moved;
    for (const Json& move : json.at("moves"))
        moved.insert(move.at("group").begin(), move.at("group").end());
    for (const Json& move : json.at("moves")) {
        QVERIFY(move.at("from") != move.at("to"));
        QVERIFY(move.at("group").size() >= 1);
        // The launch is where the schedule put it: in front of what was at the target.
        const std::string target(analysis->after.graph->name(move.at("to").get<NodeId>()));
        QVERIFY(moved.count(target) || position.at(move.at("launch")) < position.at(target));
    }
    QCOMPARE(json.at("settings").size(), settingSpecs().size());

    // The hash of the result is the hash of a graph with the nodes in that order.
    AnalysisRequest request = analysis->request;
    QVERIFY(request.settings.set(Setting::Scheduler, "program-order").ok());
    Analyser analyser;
    const Json unmoved = Json::parse(written(*analyser.analyse(request, {}).value(), "schedule"));
    QVERIFY(unmoved.at("structural_hash").at("after") == unmoved.at("structural_hash").at("before"));
    QVERIFY(unmoved.at("moves").empty());
}

void TestExporters::scheduleOfBuckets() {
    const AnalysisPtr analysis = analysisOf("prim29_lm4_fsdp8", {{Setting::BucketMode, "coalesced"}});
    if (!analysis)
        return;
    const Json json = Json::parse(written(*analysis, "schedule"));
    QVERIFY(json.at("structural_hash").at("source") != json.at("structural_hash").at("before"));
    QVERIFY(json.at("settings").at("bucket_mode") == "coalesced");
    QCOMPARE(json.at("order").size(), analysis->after.graph->size());
}

void TestExporters::traces() {
    for (const char* name :
         {kGraph, "lm3_hsdp8x8_joint", "partial_wait_on_input", "coalesced3x3_fsdp8_fwd"}) {
        const AnalysisPtr analysis = analysisOf(name, {});
        if (!analysis)
            continue;
        const Json trace = Json::parse(written(*analysis, "trace"));
        QCOMPARE(test::traceFault(trace), std::string());
        std::map<int, double> end, compute;
        std::map<int, std::set<std::string>> names;
        for (const Json& event : trace.at("traceEvents")) {
            if (event.at("ph") != "X")
                continue;
            const int pid = event.at("pid");
            end[pid] = std::max(end[pid], event.at("ts").get<double>() + event.at("dur").get<double>());
            if (event.at("cat") == "compute")
                compute[pid] += event.at("dur").get<double>();
            names[pid].insert(event.at("name").get<std::string>());
        }
        QVERIFY(end[1] <= double(analysis->before.timeline->step_ns) / 1e3 + 1e-6);
        QVERIFY(end[2] <= double(analysis->after.timeline->step_ns) / 1e3 + 1e-6);
        QVERIFY(std::abs(compute[2] - double(analysis->after.timeline->compute_ns) / 1e3) < 1e-3);
        QVERIFY(names[1] == names[2]); // nothing is lost between the two
    }
}

void TestExporters::tables() {
    const AnalysisPtr analysis = analysisOf(kGraph, {});
    if (!analysis)
        return;
    const auto gathers = readCsv(written(*analysis, "gathers-csv"));
    QCOMPARE(gathers.size(), analysis->after.schedule->decisions.size() + 1);
    std::map<std::string, size_t> column;
    for (size_t i = 0; i < gathers[0].size(); ++i)
        column[gathers[0][i]] = i;
    int64_t exposed = 0;
    for (size_t i = 1; i < gathers.size(); ++i) {
        QCOMPARE(gathers[i].size(), gathers[0].size());
        const Decision& decision = analysis->after.schedule->decisions[i - 1];
        QCOMPARE(std::stoll(gathers[i][column.at("target")]), int64_t(decision.target));
        QCOMPARE(std::stod(gathers[i][column.at("need_ns")]), decision.need_ns);
        exposed += std::stoll(gathers[i][column.at("exposed_after_ns")]);
    }
    QVERIFY(exposed <= analysis->after.timeline->exposed_ns);

    const auto costs = readCsv(written(*analysis, "costs-csv"));
    QCOMPARE(costs.size(), analysis->after.costs->entries().size() + 1);
    const auto transfers = readCsv(written(*analysis, "transfers-csv"));
    QCOMPARE(transfers.size(),
             analysis->before.collectives->size() + analysis->after.collectives->size() + 1);
    for (const auto& table : {costs, transfers}) {
        for (const auto& row : table)
            QCOMPARE(row.size(), table[0].size());
    }
}

void TestExporters::logLines() {
    const AnalysisPtr analysis = analysisOf(kGraph, {});
    if (!analysis)
        return;
    std::istringstream log(written(*analysis, "magi-log"));
    size_t placements = 0, rows = 0, infos = 0;
    double last_total = 1e300;
    for (std::string line; std::getline(log, line);) {
        if (line.rfind("DEBUG FSDP overlap placement: launch ", 0) == 0) {
            int64_t cur = 0, target = 0, consumer = 0, lower = 0;
            double comm = 0, acc = 0, need = 0;
            char verdict[32] = {};
            const std::string numbers = line.substr(line.find(" cur=") + 1);
            QCOMPARE(std::sscanf(numbers.c_str(),
                                 "cur=%ld -> target=%ld fc=%ld lower=%ld | comm=%lfus acc_upstream=%lfus "
                                 "need=%lfus %31s",
                                 &cur, &target, &consumer, &lower, &comm, &acc, &need, verdict),
                     8);
            const bool hidden = std::string(verdict) == "hidden";
            QVERIFY(hidden || std::string(verdict) == "COMPUTE-LIMITED");
            ++placements;
        } else if (line.rfind("INFO FSDP overlap reorder: repositioned ", 0) == 0) {
            int moved = -1, all = -1, distinct = -1, measured = -1, reused = -1;
            QCOMPARE(std::sscanf(line.c_str(),
                                 "INFO FSDP overlap reorder: repositioned %d/%d weight all-gather launch(es) "
                                 "(cost table: %d distinct ops, measured=%d reused=%d)",
                                 &moved, &all, &distinct, &measured, &reused),
                     5);
            QCOMPARE(size_t(moved), analysis->after.schedule->moved);
            ++infos;
        } else {
            QCOMPARE(line.rfind("ESTLINE|", 0), size_t(0));
            QCOMPARE(std::count(line.begin(), line.end(), '|'), std::ptrdiff_t(6));
            const size_t end = line.rfind('|'), begin = line.rfind('|', end - 1);
            const double total = std::stod(line.substr(begin + 1, end - begin - 1));
            QVERIFY(total <= last_total);
            last_total = total;
            ++rows;
        }
    }
    QCOMPARE(placements, analysis->after.schedule->candidates);
    QCOMPARE(infos, size_t(1));
    QCOMPARE(rows,
             analysis->after.costs->entries().size() - analysis->after.costs->count(Provenance::Missing));
}

void TestExporters::environment() {
    const AnalysisPtr analysis = analysisOf(
        kGraph,
        {{Setting::BucketMode, "coalesced"}, {Setting::BucketCapMib, "25"}, {Setting::Contention, "1.4"}});
    if (!analysis)
        return;
    const std::string text = written(*analysis, "magi-env");
    for (const char* line :
         {"export MAGI_COMPILE_ENABLE_FSDP_FULLGRAPH_OVERLAP=True\n",
          "export MAGI_COMPILE_DISABLE_GRAPH_SPLIT=True\n", "export MAGI_COMPILE_CUDAGRAPH_MODE=NONE\n",
          "export MAGI_COMPILE_FSDP_FULLGRAPH_BUCKET_MODE=coalesced\n",
          "export MAGI_COMPILE_FSDP_FULLGRAPH_BUCKET_SIZE_MIB=25\n",
          "export MAGI_COMPILE_FSDP_OVERLAP_COMM_CONTENTION_FACTOR=1.4\n",
          "export MAGI_COMPILE_FSDP_OVERLAP_SLACK_NS=5000\n"})
        QVERIFY2(text.find(line) != std::string::npos, line);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        QVERIFY2(line.empty() || line[0] == '#' || line.rfind("export MAGI_COMPILE_", 0) == 0 ||
                     line.rfind("unset MAGI_COMPILE_", 0) == 0,
                 line.c_str());
}

void TestExporters::targets() {
    const AnalysisPtr analysis = analysisOf(kGraph, {{Setting::Scheduler, "overlap-scheduler-upstream"}});
    if (!analysis)
        return;
    const Exporter* inductor = findExporter("inductor");
    QVERIFY(inductor->targets().size() >= 7);
    QCOMPARE(inductor->write(*analysis, {"torch-1.0"}).error().code, std::string("unknown-target"));
    QCOMPARE(findExporter("schedule")->write(*analysis, {"torch-2.15"}).error().code,
             std::string("unknown-target"));
    for (const std::string& target : inductor->targets()) {
        const std::string text = inductor->write(*analysis, {target}).value();
        // A version without the scheduler gets no field of it, and the file says so.
        const bool has = target != "torch-2.9";
        QCOMPARE(text.find("enable_overlap_scheduling\": True") != std::string::npos, has);
        QVERIFY(has || text.find("enable_overlap_scheduling = True: this version has no such option") !=
                           std::string::npos);
        QVERIFY(text.find("# Not expressed") != std::string::npos);
    }
    // Nothing that was changed is dropped silently.
    const AnalysisPtr changed = analysisOf(kGraph, {{Setting::Carry, "false"}, {Setting::Contention, "2"}});
    for (const char* format : {"magi-env", "magi-python", "magi-yaml", "inductor", "torchtitan"}) {
        const std::string text = written(*changed, format);
        QVERIFY2(text.find("carry = false, changed") != std::string::npos, format);
        QVERIFY2(text.find("contention = 2, changed") != std::string::npos ||
                     text.find("contention_factor") != std::string::npos ||
                     text.find("CONTENTION_FACTOR=2") != std::string::npos,
                 format);
        QVERIFY(!findExporter(format)->warnings(*changed).empty());
    }
}

void TestExporters::profile() {
    const AnalysisPtr analysis = analysisOf(kGraph, {});
    if (!analysis)
        return;
    const Json trace = Json::parse(written(*analysis, "pge"));
    std::map<int64_t, double> kernels;
    size_t operators = 0;
    for (const Json& event : trace.at("traceEvents")) {
        if (event.value("cat", "") == "kernel")
            QVERIFY(
                kernels.emplace(event.at("args").at("External id").get<int64_t>(), event.at("dur")).second);
        operators += event.value("cat", "") == "cpu_op" ? 1 : 0;
    }
    QVERIFY(operators > 0 && kernels.size() > operators); // the others are collectives
    for (const auto& [id, microseconds] : kernels)
        QVERIFY(microseconds > 0);
}

void TestExporters::hostileNames() {
    const AnalysisPtr analysis = hostileAnalysis();
    QVERIFY(analysis);
    const Json schedule = Json::parse(written(*analysis, "schedule"));
    QCOMPARE(schedule.at("order").size(), analysis->after.graph->size());
    QCOMPARE(test::traceFault(Json::parse(written(*analysis, "trace"))), std::string());
    const auto rows = readCsv(written(*analysis, "gathers-csv"));
    QCOMPARE(rows.size(), size_t(2));
    QCOMPARE(rows[1][0], std::string("'@gather|\"\\\n"));
    QCOMPARE(rows[1][1], std::string("'+layer \"0\", weight\n\xc3\xa4 \xff"));
    for (const char* format : {"gathers-csv", "costs-csv", "transfers-csv"}) {
        const auto table = readCsv(written(*analysis, format));
        QVERIFY(table.size() >= 2);
        for (const auto& row : table)
            QCOMPARE(row.size(), table[0].size());
    }
    std::istringstream log(written(*analysis, "magi-log"));
    for (std::string line; std::getline(log, line);)
        QVERIFY2(line.rfind("DEBUG ", 0) == 0 || line.rfind("INFO ", 0) == 0 ||
                     line.rfind("ESTLINE|", 0) == 0,
                 line.c_str());
    std::istringstream environment(written(*analysis, "magi-env"));
    for (std::string line; std::getline(environment, line);)
        QVERIFY(line.empty() || line[0] == '#' || line.rfind("export MAGI", 0) == 0 ||
                line.rfind("unset MAGI", 0) == 0);
}

void TestExporters::sameBytesTwice() {
    for (const char* name : {kGraph, "coalesced3x3_fsdp8_fwd"}) {
        const AnalysisPtr first = analysisOf(name, {}), second = analysisOf(name, {});
        if (!first)
            continue;
        for (const Exporter& exporter : exporters())
            QCOMPARE(written(*first, exporter.name.data()), written(*second, exporter.name.data()));
    }
}

void TestExporters::csvCells() {
    CsvTable table({"a", "b"});
    table.text("plain").number(int64_t{-5}).endRow();
    table.text("a,b").text("say \"hi\"").endRow();
    table.text("-1").number(0.1).endRow();
    table.text("=1+1").empty().endRow();
    table.number(1e300).text("line\r\nend").endRow();
    QCOMPARE(table.str(), std::string("a,b\r\nplain,-5\r\n\"a,b\",\"say \"\"hi\"\"\"\r\n\"'-1\",0.1\r\n"
                                      "\"'=1+1\",\r\n1e+300,\"line\r\nend\"\r\n"));
}

void TestExporters::filesAreWhole() {
    QTemporaryDir folder;
    const std::string path = folder.path().toStdString() + "/out.json";
    QVERIFY(writeFile(path, "first").ok());
    QVERIFY(::chmod(path.c_str(), 0640) == 0);
    QVERIFY(writeFile(path, std::string(3'000'000, 'x')).ok());
    struct stat info {};
    QVERIFY(::stat(path.c_str(), &info) == 0);
    QCOMPARE(info.st_size, off_t(3'000'000));
    QCOMPARE(int(info.st_mode & 0777), 0640);
    const std::string link = folder.path().toStdString() + "/link.json";
    std::filesystem::create_symlink(path, link);
    QVERIFY(writeFile(link, "through the link").ok());
    QVERIFY(std::filesystem::is_symlink(link));
    QCOMPARE(test::readAll(path), std::string("through the link"));
    // Nothing is left beside the files.
    size_t files = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(folder.path().toStdString()))
        ++files;
    QCOMPARE(files, size_t(2));
    for (const std::string& bad :
         {folder.path().toStdString(), folder.path().toStdString() + "/no/such/file", std::string()}) {
        const Status status = writeFile(bad, "x");
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, std::string("write-failed"));
    }
    QVERIFY(writeFile(path, "").ok());
    QCOMPARE(std::filesystem::file_size(path), uintmax_t(0));
}

void TestExporters::fileNames() {
    QCOMPARE(safeFileName("layers.0/attention wq"), std::string("layers.0_attention_wq"));
    QCOMPARE(safeFileName("../../etc/passwd"), std::string("_.._.._etc_passwd"));
    QCOMPARE(safeFileName("-rf"), std::string("_-rf"));
    QCOMPARE(safeFileName(""), std::string("_"));
    QCOMPARE(safeFileName("ä"), std::string("ä"));
    const std::string longest = safeFileName(std::string(199, 'a') + "ä");
    QCOMPARE(longest, std::string(199, 'a'));
}

QTEST_GUILESS_MAIN(TestExporters)
#include "tst_exporters.moc"
