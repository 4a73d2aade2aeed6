// A small least-recently-used memory of one stage's results.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <utility>

namespace gs {

/// Results by key. Each result gets a number that never repeats in this cache; later stages put it into their
/// own keys, so that equal keys mean equal inputs.
template <typename T>
class StageCache {
public:
    struct Item {
        std::string key;
        uint64_t number = 0;
        T value;
    };

    explicit StageCache(size_t capacity) : capacity_(capacity) {}

    /// The remembered result, or null. Valid until the next insert().
    const Item* find(const std::string& key) {
        for (auto it = items_.begin(); it != items_.end(); ++it) {
            if (it->key == key) {
                items_.splice(items_.begin(), items_, it);
                return &items_.front();
            }
        }
        return nullptr;
    }

    const Item& insert(std::string key, T value) {
        items_.push_front({std::move(key), ++last_number_, std::move(value)});
        if (items_.size() > capacity_)
            items_.pop_back();
        return items_.front();
    }

private:
    size_t capacity_;
    uint64_t last_number_ = 0;
    std::list<Item> items_;
};

} // namespace gs
