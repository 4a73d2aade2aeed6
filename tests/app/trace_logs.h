// Small TORCH_TRACE logs that tests write: every rank has each compilation at three stages.
#pragma once

#include <QByteArray>
#include <QString>

namespace gs::test {

inline constexpr const char* kStages[] = {"dynamo_output_graph", "aot_forward_graph",
                                          "after_post_grad_graph"};

/// One stage of a compilation with `layers` weight gathers, each with its wait and a product that needs it.
QByteArray stageText(const char* stage, int rank, int compilation, int layers);
/// The compilations of a rank; their stages have 2, 3 and 4 layers.
QByteArray logText(int rank, int compilations);
/// "trace/dedicated_log_torch_trace_rank_RANK_ab.log"
QString logName(int rank);

} // namespace gs::test
