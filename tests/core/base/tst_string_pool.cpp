// Interned texts: equal texts have one id, ids and views stay, a pool that extends another one keeps its ids.
#include "base/string_pool.h"

#include <QTest>
#include <random>
#include <unordered_map>

using namespace gs;

class TstStringPool : public QObject {
    Q_OBJECT
private slots:
    void againstAMap();
    void extended();
};

void TstStringPool::againstAMap() {
    StringPool pool;
    QCOMPARE(pool.find(""), kEmptyString);
    QCOMPARE(pool.intern(""), kEmptyString);
    QCOMPARE(pool.size(), size_t{1});
    std::unordered_map<std::string, StringId> known{{"", kEmptyString}};
    std::vector<std::string_view> views{pool.view(kEmptyString)};
    std::mt19937 random(1);
    for (int round = 0; round < 200'000; ++round) {
        std::string text = "node_" + std::to_string(random() % 60'000);
        if (round % 5000 == 0)
            text.append(100'000, 'x'); // longer than a block
        if (round % 7 == 0)
            text += '\0'; // texts are bytes
        const auto found = known.find(text);
        QCOMPARE(pool.find(text), found == known.end() ? kEmptyString : found->second);
        const StringId id = pool.intern(text);
        if (found == known.end()) {
            QCOMPARE(size_t{id}, views.size());
            known.emplace(text, id);
            views.push_back(pool.view(id));
        }
        QCOMPARE(id, known.at(text));
    }
    QCOMPARE(pool.size(), known.size());
    for (const auto& [text, id] : known) {
        QVERIFY(pool.view(id) == text);
        QVERIFY(views[id].data() == pool.view(id).data()); // never moved
    }
}

void TstStringPool::extended() {
    auto base = std::make_shared<StringPool>();
    const StringId a = base->intern("a");
    StringPool more(base);
    QCOMPARE(more.size(), size_t{2});
    QCOMPARE(more.intern("a"), a);
    QCOMPARE(more.intern(""), kEmptyString);
    const StringId b = more.intern("b");
    QCOMPARE(size_t{b}, size_t{2});
    QVERIFY(more.view(a) == "a" && more.view(b) == "b");
    QCOMPARE(base->find("b"), kEmptyString); // the base is as it was
    StringPool moved(std::move(more));
    QCOMPARE(moved.find("b"), b);
    QCOMPARE(moved.intern("c"), b + 1);
}

QTEST_GUILESS_MAIN(TstStringPool)
#include "tst_string_pool.moc"
