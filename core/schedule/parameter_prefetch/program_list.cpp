#include "schedule/parameter_prefetch/program_list.h"

namespace gs {

ProgramList::ProgramList(const Order& order)
    : next_(order.size() + 1), previous_(order.size() + 1), label_(order.size() + 1) {
    NodeId last = end();
    for (const NodeId id : order) {
        link(last, id);
        last = id;
    }
    link(last, end());
    spreadLabels();
}

void ProgramList::spreadLabels() {
    const uint64_t gap = (uint64_t{1} << 62) / next_.size();
    uint64_t label = gap;
    for (NodeId id = first(); id != end(); id = next_[id], label += gap)
        label_[id] = label;
    label_[end()] = label;
}

void ProgramList::moveBefore(NodeId id, NodeId place) {
    if (id == place || next_[id] == place)
        return;
    link(previous_[id], next_[id]);
    link(previous_[place], id);
    link(id, place);
    const uint64_t low = previous_[id] == end() ? 0 : label_[previous_[id]];
    if (label_[place] - low < 2)
        spreadLabels();
    else
        label_[id] = low + (label_[place] - low) / 2;
}

Order ProgramList::order() const {
    Order order;
    order.reserve(next_.size() - 1);
    for (NodeId id = first(); id != end(); id = next_[id])
        order.push_back(id);
    return order;
}

} // namespace gs
