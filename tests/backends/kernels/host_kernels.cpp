#include "backends/kernels/host_kernels.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <dlfcn.h>
#include <fstream>

namespace gs::test {

std::optional<std::string> hostCompiler() {
    for (const char* name : {"c++", "g++", "clang++"}) {
        if (const QString path = QStandardPaths::findExecutable(name); !path.isEmpty())
            return path.toStdString();
    }
    return std::nullopt;
}

std::unique_ptr<HostKernels> HostKernels::compile(const std::vector<const FusedProgram*>& programs,
                                                  std::string& message) {
    const QTemporaryDir folder;
    const std::string source = folder.filePath("kernels.cpp").toStdString();
    const std::string library = folder.filePath("kernels.so").toStdString();
    std::ofstream out(source);
    out << kernelPrelude(KernelTarget::Host);
    for (const FusedProgram* program : programs) {
        for (const Kernel& kernel : program->kernels)
            out << kernel.source;
    }
    out.close();
    QProcess compiler;
    compiler.setProcessChannelMode(QProcess::MergedChannels);
    compiler.start(QString::fromStdString(hostCompiler().value_or("c++")),
                   {"-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-shared",
                    "-fPIC", "-o", QString::fromStdString(library), QString::fromStdString(source)});
    if (!compiler.waitForFinished(240000) || compiler.exitCode() != 0) {
        message = compiler.readAll().left(4000).toStdString();
        return nullptr;
    }
    auto kernels = std::make_unique<HostKernels>();
    kernels->library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!kernels->library_) {
        message = dlerror();
        return nullptr;
    }
    return kernels;
}

HostKernels::~HostKernels() {
    if (library_)
        dlclose(library_);
}

bool HostKernels::run(const Kernel& kernel, const std::vector<void*>& tensors) const {
    auto function = reinterpret_cast<void (*)(void**)>(dlsym(library_, kernel.name.c_str()));
    if (!function)
        return false;
    std::vector<void*> arguments;
    for (uint32_t tensor : kernel.tensors)
        arguments.push_back(tensors[tensor]);
    function(arguments.data());
    return true;
}

} // namespace gs::test
