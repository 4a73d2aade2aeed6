// Lines of several ranks as mpirun and srun hand them on.
#pragma once

#include "profile/protocol.h"

#include <QByteArray>
#include <map>
#include <vector>

namespace gs {

/// Puts the pieces together. mpirun --tag-output marks each line "[1,RANK]<stdout>:" and srun --label "RANK:
/// "; a long line may come in several marked pieces with those of other ranks between them. Text without a
/// mark belongs to the rank that its message states.
class WorkerLines {
public:
    /// Messages that `bytes` completes; lines that cannot be read become warnings of their rank.
    std::vector<RankMessage> take(const QByteArray& bytes);

private:
    void takeLine(QByteArray line, std::vector<RankMessage>& out);
    void read(int32_t rank, const QByteArray& text, std::vector<RankMessage>& out);

    QByteArray rest_;                      ///< of the last line
    std::map<int32_t, QByteArray> pieces_; ///< by rank, of a message that is not complete
};

} // namespace gs
