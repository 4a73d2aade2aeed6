// Every public case is claimed by a test of its own name. The tests are found in their sources: functions
// "case18ActivationGathers" and rows "case 20 twice".
#include "support/test_data.h"

#include <QTest>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

namespace fs = std::filesystem;
using namespace gs::test;

class TstEveryCase : public QObject {
    Q_OBJECT
private slots:
    void every_case_has_a_test();
};

/// Number of a case → the tests that name it.
static std::map<int, std::set<std::string>> claims() {
    static const std::regex kFunction(R"(void (?:\w+::)?(case(\d\d)\w*)\(\))");
    static const std::regex kRow(R"(newRow\("(case (\d\d)[^"]*)\"\))");
    std::map<int, std::set<std::string>> found;
    for (const auto& item : fs::recursive_directory_iterator(fs::path(GATHERSCOPE_SOURCE_DIR) / "tests")) {
        const std::string file = item.path().stem().string();
        if (item.path().extension() != ".cpp" || file.rfind("tst_", 0) != 0 || file == "tst_every_case")
            continue;
        const std::string text = readAll(item.path().string());
        for (const std::regex* pattern : {&kFunction, &kRow}) {
            for (std::sregex_iterator match(text.begin(), text.end(), *pattern), end; match != end; ++match)
                found[std::stoi((*match)[2])].insert(file + " " + (*match)[1].str());
        }
    }
    return found;
}

void TstEveryCase::every_case_has_a_test() {
    const auto claimed = claims();
    QVERIFY(claimed.size() >= 44);
    const auto readme = casePath("README.md");
    if (!readme)
        return; // printed as NOT RUN
    std::set<int> cases;
    for (const auto& item : fs::directory_iterator(fs::path(*readme).parent_path())) {
        const std::string name = item.path().filename().string();
        if (!item.is_directory() || !fs::exists(item.path() / "about.md"))
            continue;
        QVERIFY2(name.size() > 2 && std::isdigit(static_cast<unsigned char>(name[0])), name.c_str());
        const int number = std::stoi(name);
        cases.insert(number);
        const auto tests = claimed.find(number);
        QVERIFY2(tests != claimed.end(), (name + " has no test of its name").c_str());
        std::string list;
        for (const std::string& test : tests->second)
            list += (list.empty() ? "" : ", ") + test;
        std::printf("case %s: %s\n", name.c_str(), list.c_str());
    }
    for (const auto& [number, tests] : claimed)
        QVERIFY2(cases.count(number), (*tests.begin() + " names a case that is not there").c_str());
    qInfo("%zu cases, each with a test", cases.size());
}

QTEST_GUILESS_MAIN(TstEveryCase)
#include "tst_every_case.moc"
