// Bytes of gathers that were launched early and are not yet read, along a program that changes.
#pragma once

#include "schedule/parameter_prefetch/program_list.h"

namespace gs {

/// Document 002's budget: replicas count from their launch to their first reader. One linear walk a question.
class LiveReplicas {
public:
    LiveReplicas(const ProgramList& program, int64_t budget_bytes)
        : program_(program), budget_bytes_(budget_bytes), is_event_(program.end(), false),
          booked_(program.end(), false) {}

    /// Books a launch at its present place, unless it is booked already (a booking follows its launch).
    void add(NodeId launch, NodeId first_user, int64_t bytes);
    /// Would `bytes` from just before `target` to `first_user` fit? A booking of `launch` itself is left out.
    /// Bytes below 0 are unknown and never fit.
    bool fits(NodeId launch, NodeId target, NodeId first_user, int64_t bytes);
    /// `id` was moved.
    void moved(NodeId id) { unsorted_ |= is_event_[id]; }

private:
    struct Event {
        NodeId node = kNoNode;
        int64_t delta = 0;
        NodeId launch = kNoNode; ///< whose event it is
    };
    bool less(const Event& a, const Event& b) const {
        const uint64_t left = program_.label(a.node), right = program_.label(b.node);
        return left != right ? left < right : a.delta < b.delta;
    }
    void insert(const Event& event);
    void sort();

    const ProgramList& program_;
    int64_t budget_bytes_;
    std::vector<bool> is_event_;
    std::vector<bool> booked_;
    std::vector<Event> events_; ///< in program order; at one node what ends comes first
    bool unsorted_ = false;
};

} // namespace gs
