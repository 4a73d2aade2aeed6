#include "import/shape_rules.h"

namespace gs {

const Arg* ShapeCall::kwarg(std::string_view keyword) const {
    return keyword.empty() ? nullptr : graph_.kwarg(id_, keyword);
}

const Arg* ShapeCall::arg(size_t index, std::string_view keyword) const {
    const Arg* found = graph_.arg(id_, index);
    return found ? found : kwarg(keyword);
}

const Value* ShapeCall::value(size_t index) const {
    const Arg* found = graph_.arg(id_, index);
    if (!found || found->node() == kNoNode || graph_.value(found->node()).kind == Value::Kind::None)
        return nullptr;
    return &graph_.value(found->node());
}

const TensorMeta* ShapeCall::tensor(size_t index) const {
    const Value* found = value(index);
    return found && found->kind == Value::Kind::Tensor ? &found->tensor : nullptr;
}

std::vector<TensorMeta> ShapeCall::tensors(size_t index) const {
    const Arg* list = graph_.arg(id_, index);
    std::vector<TensorMeta> found;
    if (!list || list->kind != Arg::Kind::List)
        return found;
    for (const Arg& item : graph_.children(*list)) {
        if (item.node() == kNoNode || graph_.value(item.node()).kind != Value::Kind::Tensor)
            return {};
        found.push_back(graph_.value(item.node()).tensor);
    }
    return found;
}

int64_t ShapeCall::integer(size_t index, int64_t fallback, std::string_view keyword) const {
    const Arg* found = arg(index, keyword);
    if (!found)
        return fallback;
    if (found->kind == Arg::Kind::Int)
        return found->integer;
    return found->kind == Arg::Kind::Node ? dimOf(*found).value : fallback;
}

bool ShapeCall::flag(size_t index, bool fallback, std::string_view keyword) const {
    const Arg* found = arg(index, keyword);
    return found && found->kind == Arg::Kind::Bool ? found->integer != 0 : fallback;
}

Dim ShapeCall::dimOf(const Arg& arg) const {
    if (arg.kind == Arg::Kind::Int)
        return {arg.integer, kEmptyString};
    if (arg.kind == Arg::Kind::Symbol)
        return {arg.integer, arg.text};
    if (arg.kind == Arg::Kind::Node) {
        const Value& value = graph_.value(arg.node());
        if (value.kind == Value::Kind::Number)
            return {static_cast<int64_t>(value.number), kEmptyString};
        return {kUnknownSize, graph_.node(arg.node()).name};
    }
    return {kUnknownSize, kEmptyString};
}

std::vector<Dim> ShapeCall::dims(size_t index) const {
    std::vector<Dim> found;
    const Arg* list = graph_.arg(id_, index);
    if (list && list->kind == Arg::Kind::List) {
        for (const Arg& item : graph_.children(*list))
            found.push_back(dimOf(item));
    }
    return found;
}

std::vector<int64_t> ShapeCall::integers(size_t index, std::string_view keyword) const {
    std::vector<int64_t> found;
    const Arg* list = arg(index, keyword);
    if (list && list->kind == Arg::Kind::Int)
        found.push_back(list->integer);
    if (list && list->kind == Arg::Kind::List) {
        for (const Arg& item : graph_.children(*list))
            found.push_back(dimOf(item).value);
    }
    return found;
}

DType ShapeCall::dtype(std::string_view keyword, DType fallback) const {
    const Arg* found = kwarg(keyword);
    return found && found->kind == Arg::Kind::DType ? dtypeFromName(graph_.text(found->text)) : fallback;
}

std::vector<TensorMeta> ShapeCall::inputs() const {
    std::vector<TensorMeta> found;
    bool known = true;
    const auto visit = [&](const auto& self, const Arg& item) -> void {
        if (item.kind == Arg::Kind::Node) {
            const Value& value = graph_.value(item.node());
            known = known && value.kind != Value::Kind::None;
            if (value.kind == Value::Kind::Tensor)
                found.push_back(value.tensor);
        } else if (item.kind == Arg::Kind::List) {
            for (const Arg& child : graph_.children(item))
                self(self, child);
        }
    };
    visit(visit, graph_.node(id_).args);
    if (!known)
        found.clear();
    return found;
}

DType ShapeCall::dtypeAt(size_t index, DType fallback) const {
    const Arg* found = arg(index);
    return found && found->kind == Arg::Kind::DType ? dtypeFromName(graph_.text(found->text)) : fallback;
}

} // namespace gs
