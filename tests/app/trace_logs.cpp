#include "trace_logs.h"

namespace gs::test {

QByteArray stageText(const char* stage, int rank, int compilation, int layers) {
    QByteArray text =
        QStringLiteral("V1201 10:00:00.000000 100 torch/_inductor/compile_fx.py:10] {\"artifact\": "
                       "{\"name\": \"%1\", \"encoding\": \"string\"}, \"rank\": %2, \"frame_id\": %3, "
                       "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"00\"}\n")
            .arg(QLatin1String(stage))
            .arg(rank)
            .arg(compilation)
            .toUtf8();
    text += "\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x_1: \"f32[8, 8][8, 1]cpu\"";
    for (int i = 1; i <= layers; ++i)
        text += QStringLiteral(", arg%1_1: \"f32[4, 8][8, 1]cpu\"").arg(i).toUtf8();
    text += "):\n";
    QString input = QStringLiteral("x_1");
    for (int i = 1; i <= layers; ++i) {
        text += QStringLiteral(
                    "\t        ag_%1: \"f32[8, 8][8, 1]cpu\" = "
                    "torch.ops._c10d_functional.all_gather_into_tensor.default(arg%1_1, 2, '0')\n"
                    "\t        wait_%1: \"f32[8, 8][8, 1]cpu\" = "
                    "torch.ops._c10d_functional.wait_tensor.default(ag_%1)\n"
                    "\t        mm_%1: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.mm.default(%2, wait_%1)\n")
                    .arg(i)
                    .arg(input)
                    .toUtf8();
        input = QStringLiteral("mm_%1").arg(i);
    }
    return text + "\t        return (" + input.toUtf8() + ",)\n";
}

QByteArray logText(int rank, int compilations) {
    QByteArray text;
    for (int compilation = 0; compilation < compilations; ++compilation)
        for (int stage = 0; stage < 3; ++stage)
            text += stageText(kStages[stage], rank, compilation, 2 + stage);
    return text;
}

QString logName(int rank) {
    return QStringLiteral("trace/dedicated_log_torch_trace_rank_%1_ab.log").arg(rank);
}

} // namespace gs::test
