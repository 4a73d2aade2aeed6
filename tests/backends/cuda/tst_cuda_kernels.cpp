// Every kernel that the samples and the corpus ask for compiles for the devices that people have. Needs no
// device.
#include "profile/backends/cuda/nvrtc.h"
#include "profile/backends/kernels/fused_kernel.h"
#include "support/kernel_cases.h"

#include <QTest>
#include <set>

using namespace gs;
using namespace gs::test;

class TestCudaKernels : public QObject {
    Q_OBJECT

private slots:
    void everyKernelCompiles_data() {
        QTest::addColumn<QString>("architecture");
        for (const char* name : {"sm_80", "sm_90", "sm_100"})
            QTest::newRow(name) << name;
    }

    void everyKernelCompiles() {
        QFETCH(QString, architecture);
        const std::vector<std::string>& sources = programs();
        // Many kernels a program: the prelude is read once for all of them.
        constexpr size_t kBatch = 64;
        size_t kernels = 0;
        for (size_t first = 0; first < sources.size(); first += kBatch) {
            std::string source(kernelPrelude(KernelTarget::Cuda));
            for (size_t i = first; i < std::min(sources.size(), first + kBatch); ++i, ++kernels)
                source += sources[i];
            const auto code = cuda::compileKernels(source, architecture.toStdString());
            QVERIFY2(code, code ? "" : code.error().message.substr(0, 4000).c_str());
            QVERIFY(code.value().size() > 1000);
        }
        std::printf("%zu kernels compiled for %s\n", kernels, qPrintable(architecture));
        QVERIFY(kernels > 100);
    }

    void whatDoesNotCompileSaysWhere() {
        const auto code = cuda::compileKernels("extern \"C\" __global__ void k() { nonsense }", "sm_90");
        QVERIFY(!code);
        QCOMPARE(code.error().code, std::string("kernel-does-not-compile"));
        QVERIFY(code.error().message.find("nonsense") != std::string::npos);
    }

private:
    /// Sources of all kernels, each text once: kernels of equal shapes differ in their names only.
    static const std::vector<std::string>& programs() {
        static const std::vector<std::string> kSources = [] {
            std::vector<std::string> sources;
            std::set<std::string> seen;
            for (const KernelCase& item : kernelCases()) {
                const auto program = generateKernels(*item.graph, item.region, "same");
                if (!program)
                    continue;
                std::string all;
                for (const Kernel& kernel : program.value().kernels)
                    all += kernel.source;
                if (!seen.insert(all).second)
                    continue;
                const auto named =
                    generateKernels(*item.graph, item.region, "k" + std::to_string(sources.size()));
                all.clear();
                for (const Kernel& kernel : named.value().kernels)
                    all += kernel.source;
                sources.push_back(std::move(all));
            }
            return sources;
        }();
        return kSources;
    }
};

QTEST_GUILESS_MAIN(TestCudaKernels)
#include "tst_cuda_kernels.moc"
