// A control plane of one rank.
#pragma once

#include "profile/control_plane.h"

namespace gs::test {

class OneRank : public ControlPlane {
public:
    int32_t rank() const override { return 0; }
    int32_t size() const override { return 1; }
    int32_t localRank() const override { return 0; }
    int32_t localSize() const override { return 1; }
    Status barrier() override { return Unit{}; }
    Result<std::string> broadcast(std::string bytes, int32_t) override { return bytes; }
    Result<std::vector<std::string>> allGather(const std::string& bytes) override {
        return std::vector<std::string>{bytes};
    }
    Result<std::vector<int64_t>> allMax(const std::vector<int64_t>& values) override { return values; }
};

} // namespace gs::test
