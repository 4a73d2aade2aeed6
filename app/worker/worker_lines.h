// Lines of several ranks as mpirun and srun hand them on.
#pragma once

#include "profile/protocol.h"

#include <QByteArray>
#include <map>
#include <vector>

namespace gs {

/// Puts the pieces together. mpirun --tag-output (OpenMPI 4.1) puts "[1,RANK]<stdout>:" before each line, and
/// before each fragment of some 4 KB that it reads from a rank, in the middle of a line too; the fragment of
/// another rank may follow on the same line. Such a mark is found anywhere: messages have no '<'
/// (encodeMessage). srun --label puts "RANK: " before each line and cuts long lines into several. Text
/// without a mark belongs to the rank that its message states.
class WorkerLines {
public:
    /// Messages that `bytes` completes; lines that cannot be read become warnings of their rank.
    std::vector<RankMessage> take(const QByteArray& bytes);

private:
    void takeLine(int32_t rank, QByteArray line, std::vector<RankMessage>& out);
    void read(int32_t rank, const QByteArray& text, std::vector<RankMessage>& out);

    QByteArray rest_;                      ///< may become a mark
    int32_t rank_ = -1;                    ///< whose text comes; -1 = not marked
    std::map<int32_t, QByteArray> lines_;  ///< by rank, of a line that has not ended
    std::map<int32_t, QByteArray> pieces_; ///< by rank, of a message that is not complete
};

} // namespace gs
