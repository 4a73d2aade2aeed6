// What happens on one process group, in order: launches, waits and the compute between them.
// Source: PGEvent and its list in overlap_preserving_bucketer.py of PyTorch 2.15.
#pragma once

#include "base/ids.h"

#include <cstdint>
#include <vector>

namespace gs {

struct GroupEvent {
    enum class Kind : uint8_t { Launch, Wait, Compute };
    NodeId node = kNoNode;
    Kind kind = Kind::Compute;
    uint32_t position = 0; ///< stays when others are taken out
    int32_t previous = -1;
    int32_t next = -1;
};

/// A doubly linked list of events and which event each node belongs to.
class GroupTimeline {
public:
    explicit GroupTimeline(size_t nodes) : event_of_(nodes, -1) {}

    void clear() {
        for (const NodeId node : touched_)
            event_of_[node] = -1;
        touched_.clear();
        events_.clear();
    }
    /// Adds an event at the end; returns the node before it, or kNoNode.
    NodeId append(NodeId node, GroupEvent::Kind kind) {
        const auto index = static_cast<int32_t>(events_.size());
        events_.push_back({node, kind, static_cast<uint32_t>(index), index - 1, -1});
        if (index > 0)
            events_[static_cast<size_t>(index) - 1].next = index;
        event_of_[node] = index;
        touched_.push_back(node);
        return index > 0 ? events_[static_cast<size_t>(index) - 1].node : kNoNode;
    }
    bool has(NodeId node) const { return event_of_[node] >= 0; }
    int32_t eventOf(NodeId node) const { return event_of_[node]; }
    void setEvent(NodeId node, int32_t event) { event_of_[node] = event; }
    const GroupEvent& event(int32_t index) const { return events_[static_cast<size_t>(index)]; }
    const GroupEvent& of(NodeId node) const { return event(event_of_[node]); }
    uint32_t position(NodeId node) const { return of(node).position; }

    void unlink(int32_t index) {
        GroupEvent& event = events_[static_cast<size_t>(index)];
        if (event.previous >= 0)
            events_[static_cast<size_t>(event.previous)].next = event.next;
        if (event.next >= 0)
            events_[static_cast<size_t>(event.next)].previous = event.previous;
        event.previous = event.next = -1;
    }
    void insertBetween(int32_t index, int32_t previous, int32_t next) {
        GroupEvent& event = events_[static_cast<size_t>(index)];
        event.previous = previous;
        event.next = next;
        if (previous >= 0)
            events_[static_cast<size_t>(previous)].next = index;
        if (next >= 0)
            events_[static_cast<size_t>(next)].previous = index;
    }

private:
    std::vector<GroupEvent> events_;
    std::vector<int32_t> event_of_; ///< per node, -1 = none
    std::vector<NodeId> touched_;
};

} // namespace gs
