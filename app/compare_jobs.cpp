#include "app/compare_jobs.h"

#include <QDateTime>
#include <QFileInfo>

#include <algorithm>

namespace gs {

namespace {

constexpr int kPublishMs = 50;

bool sameGraph(const Analysis& a, const Analysis& b) {
    return a.request.graph_file == b.request.graph_file && a.request.graph_index == b.request.graph_index &&
           a.request.rank == b.request.rank && a.request.stage == b.request.stage &&
           a.source.graph->structuralHash() == b.source.graph->structuralHash();
}

/// The one setting in which two variants of a scheduler differ; Count if there is no such one.
Setting onlyChange(const CompareRow& from, const CompareRow& to) {
    const std::vector<Setting> changed = changedSettings(to.request.settings, from.request.settings);
    return from.scheduler == to.scheduler && changed.size() == 1 ? changed.front() : Setting::Count;
}

/// Changes whenever a file that the costs of a request come from does; does not read them.
QByteArray stateOfFiles(const AnalysisRequest& request) {
    QByteArray state;
    const auto add = [&](const std::string& path) {
        const QFileInfo file(QString::fromStdString(path));
        state += QByteArray::number(file.exists() ? file.lastModified().toMSecsSinceEpoch() : -1) + '/' +
                 QByteArray::number(file.size()) + ' ';
    };
    for (const std::string& path : request.cost_files)
        add(path);
    const std::string store(request.settings.text(Setting::ProfileStore));
    if (store != "none") {
        add(store);
        add(store + "-wal"); // what is written last stands there
    }
    return state;
}

} // namespace

CompareJobs::CompareJobs(AnalyseFactory factory, QObject* parent)
    : QObject(parent), factory_(std::move(factory)), state_(std::make_shared<CompareState>()) {
    publish_.setSingleShot(true);
    publish_.setInterval(kPublishMs);
    connect(&publish_, &QTimer::timeout, this, &CompareJobs::publish);
    connect(&jobs_, &CompareWorker::progressed, this, [this](const QString& stage, double fraction) {
        next_.stage = stage;
        next_.fraction = fraction;
        change();
    });
    for (CompareWorker* worker : {&jobs_, &diffs_})
        connect(worker, &CompareWorker::failed, this, [this](const Error& error) { next_.error = error; });
}

void CompareJobs::show(const AnalysisPtr& analysis) {
    const bool same = analysis && shown_ && sameGraph(*analysis, *shown_);
    if (!same) {
        jobs_.drop();
        diffs_.drop();
        next_ = {};
        id_of_.clear();
        files_.clear();
        pinned_[0] = pinned_[1] = nullptr;
        order_id_ = dragged_row_ = 0;
        baseline_chosen_ = false;
    }
    shown_ = analysis;
    if (analysis) {
        const std::vector<uint64_t> changed = changedOnDisk();
        addProgramOrder();
        addShown();
        markStale(changed);
    }
    publish();
}

std::vector<uint64_t> CompareJobs::changedOnDisk() const {
    std::vector<uint64_t> changed;
    for (const CompareEntryPtr& entry : next_.entries) {
        const auto files = files_.find(entry->id);
        if (files != files_.end() && files->second != stateOfFiles(entry->row.request))
            changed.push_back(entry->id);
    }
    return changed;
}

/// Rows keep the numbers of files as they were. They are marked until they are made again; pinned ones are at
/// once.
void CompareJobs::markStale(const std::vector<uint64_t>& changed) {
    const std::vector<uint64_t> still = changedOnDisk();
    for (const uint64_t id : still) {
        CompareEntry marked = *entryOf(id);
        marked.stale = true;
        replace(entryOf(id), std::move(marked));
    }
    bool pinned = false;
    for (const uint64_t id : changed) {
        for (int i : {0, 1})
            if (pinned_id_[i] == id)
                pinned_[i] = nullptr;
        pinned = pinned || id == next_.pin_a || id == next_.pin_b;
    }
    if (pinned)
        compareBoth();
}

void CompareJobs::replace(const CompareEntryPtr& old, CompareEntry entry) {
    *std::find(next_.entries.begin(), next_.entries.end(), old) =
        std::make_shared<const CompareEntry>(std::move(entry));
}

CompareEntryPtr CompareJobs::entryOf(uint64_t id) const {
    const auto found = std::find_if(next_.entries.begin(), next_.entries.end(),
                                    [id](const CompareEntryPtr& entry) { return entry->id == id; });
    return found == next_.entries.end() ? nullptr : *found;
}

CompareEntryPtr CompareJobs::entryWith(const std::string& key) const {
    const auto found = id_of_.find(key);
    return found == id_of_.end() ? nullptr : entryOf(found->second);
}

/// The row of an equal request takes the new numbers (the files may have changed), else a new one is added.
uint64_t CompareJobs::put(CompareRow row, CompareEntry::Origin origin) {
    const std::string key = variantKey(row.request);
    const CompareEntryPtr old = entryWith(key);
    // A row that is only there beside the snapshot becomes one that was asked for, never the other way.
    const bool keeps = old && old->origin != CompareEntry::Origin::ProgramOrder;
    CompareEntry entry{old ? old->id : ++last_id_, keeps ? old->origin : origin, std::move(row)};
    const uint64_t id = entry.id;
    files_[id] = stateOfFiles(entry.row.request);
    if (old)
        replace(old, std::move(entry));
    else
        next_.entries.push_back(std::make_shared<const CompareEntry>(std::move(entry)));
    id_of_[key] = id;
    return id;
}

void CompareJobs::remove(uint64_t id) {
    const CompareEntryPtr entry = entryOf(id);
    if (!entry)
        return;
    id_of_.erase(variantKey(entry->row.request));
    files_.erase(id);
    std::erase(next_.entries, entry);
}

void CompareJobs::removeAll() {
    const auto kept = [this](const CompareEntryPtr& entry) {
        return entry->id == next_.current || entry->id == next_.baseline || entry->id == order_id_ ||
               entry->id == next_.pin_a || entry->id == next_.pin_b;
    };
    for (const CompareEntryPtr& entry : std::vector<CompareEntryPtr>(next_.entries)) {
        if (!kept(entry))
            remove(entry->id);
    }
    next_.search.reset();
}

/// Costs and the simulated world change program order as well. Its row follows them, unless it is held for a
/// purpose.
void CompareJobs::addProgramOrder() {
    CompareRow row = programOrderRow(*shown_);
    const CompareEntryPtr old = entryOf(order_id_);
    const bool other = old && variantKey(old->row.request) != variantKey(row.request);
    const bool held = baseline_chosen_ && order_id_ == next_.baseline;
    if (other && old->origin == CompareEntry::Origin::ProgramOrder && !held && order_id_ != next_.pin_a &&
        order_id_ != next_.pin_b)
        remove(order_id_);
    order_id_ = put(std::move(row), CompareEntry::Origin::ProgramOrder);
    if (!baseline_chosen_)
        next_.baseline = order_id_;
}

void CompareJobs::addShown() {
    CompareRow row = makeCompareRow(*shown_);
    const CompareEntryPtr last = entryOf(next_.current);
    const Setting changed = last ? onlyChange(last->row, row) : Setting::Count;
    const bool is_new = !entryWith(variantKey(row.request));
    const bool used =
        last && (last->id == next_.baseline || last->id == next_.pin_a || last->id == next_.pin_b);
    // The same setting as the newest row was made by, again, and soon: a step of one drag.
    if (is_new && last && last->id == dragged_row_ && changed == dragged_ && changed != Setting::Count &&
        !used && since_shown_.elapsed() < kDragGapMs)
        remove(last->id);
    next_.current = put(std::move(row), CompareEntry::Origin::Shown);
    dragged_row_ = is_new ? next_.current : 0;
    dragged_ = changed;
    since_shown_.start();
}

void CompareJobs::command(const CompareCommand& command) {
    using Kind = CompareCommand::Kind;
    const CompareEntryPtr entry = entryOf(command.entry);
    const bool on_entry = command.kind != Kind::RunAll && command.kind != Kind::Search &&
                          command.kind != Kind::Cancel && command.kind != Kind::RemoveAll;
    if (!shown_ || (on_entry && !entry))
        return;
    switch (command.kind) {
    case Kind::RunAll:
        runAll();
        break;
    case Kind::Search:
        search(command.limits);
        break;
    case Kind::Cancel:
        next_.stopping = jobs_.busy();
        jobs_.stop();
        break;
    case Kind::MakeBaseline:
        baseline_chosen_ = command.entry != order_id_;
        next_.baseline = command.entry;
        break;
    case Kind::PinA:
        pin(next_.pin_a, next_.pin_b, command.entry);
        break;
    case Kind::PinB:
        pin(next_.pin_b, next_.pin_a, command.entry);
        break;
    case Kind::Remove:
        if (command.entry != next_.current && command.entry != next_.baseline &&
            command.entry != next_.pin_a && command.entry != next_.pin_b)
            remove(command.entry);
        break;
    case Kind::RemoveAll:
        removeAll();
        break;
    }
    publish();
}

void CompareJobs::begin(Job job) {
    next_.job = job;
    next_.stage.clear();
    next_.fraction = 0;
    next_.stopping = false;
    next_.error.reset();
    next_.search.reset();
}

void CompareJobs::runAll() {
    begin(Job::RunAll);
    const auto variants = variantsOfAllSchedulers(shown_->request);
    jobs_.start(
        [this, variants, factory = factory_](const JobContext& job, const CompareWorker::Post& post) {
            compareVariants(factory(), variants, job, [&](const CompareRow& row) {
                post([this, row] {
                    put(row, CompareEntry::Origin::Tried);
                    change();
                });
            });
        },
        [this] {
            next_.job = Job::None;
            publish();
        });
}

void CompareJobs::search(const SearchLimits& limits) {
    begin(Job::Search);
    jobs_.start(
        [this, limits, request = shown_->request, factory = factory_](const JobContext& job,
                                                                      const CompareWorker::Post& post) {
            const SearchResult result =
                searchSettings(factory(), request, limits, job, [&](const CompareRow& row) {
                    post([this, row] {
                        put(row, CompareEntry::Origin::Searched);
                        change();
                    });
                });
            post([this, result, limits] { searchEnded(result, limits); });
        },
        [this] {
            next_.job = Job::None;
            publish();
        });
}

void CompareJobs::searchEnded(const SearchResult& result, const SearchLimits& limits) {
    next_.error = result.error;
    SearchOutcome outcome{result.end, 0, result.within_limit, result.rows.size(), limits};
    if (result.best >= 0)
        outcome.best = put(result.rows[static_cast<size_t>(result.best)], CompareEntry::Origin::Searched);
    next_.search = outcome;
}

void CompareJobs::pin(uint64_t& slot, uint64_t& other, uint64_t id) {
    if (slot == id)
        slot = 0;
    else {
        slot = id;
        if (other == id)
            other = 0;
    }
    compareBoth();
}

AnalysisPtr CompareJobs::analysisOf(uint64_t id) const {
    if (id == next_.current)
        return shown_;
    for (int i : {0, 1}) {
        if (pinned_id_[i] == id)
            return pinned_[i];
    }
    return nullptr;
}

/// Both pinned variants again in full; rows keep no more than their numbers.
void CompareJobs::compareBoth() {
    diffs_.drop();
    next_.diff = nullptr;
    next_.comparing = next_.pin_a != 0 && next_.pin_b != 0;
    if (!next_.comparing) {
        pinned_[0] = pinned_[1] = nullptr;
        pinned_id_[0] = pinned_id_[1] = 0;
        return;
    }
    next_.error.reset();
    const uint64_t ids[2] = {next_.pin_a, next_.pin_b};
    AnalysisPtr sides[2] = {analysisOf(ids[0]), analysisOf(ids[1])};
    const AnalysisRequest requests[2] = {entryOf(ids[0])->row.request, entryOf(ids[1])->row.request};
    for (int i : {0, 1}) {
        pinned_id_[i] = ids[i];
        pinned_[i] = sides[i];
    }
    diffs_.start(
        [this, a = sides[0], b = sides[1], request_a = requests[0], request_b = requests[1],
         factory = factory_](const JobContext& job, const CompareWorker::Post& post) {
            const AnalyseFunction analyse = factory();
            const Result<AnalysisPtr> made_a = a ? Result<AnalysisPtr>(a) : analyse(request_a, job);
            const Result<AnalysisPtr> made_b = b ? Result<AnalysisPtr>(b) : analyse(request_b, job);
            if (!made_a || !made_b) {
                post([this, error = made_a ? made_b.error() : made_a.error()] { next_.error = error; });
                return;
            }
            auto diff = std::make_shared<const GatherDiff>(compareGathers(*made_a.value(), *made_b.value()));
            post([this, diff, made_a, made_b] {
                next_.diff = diff;
                pinned_[0] = made_a.value();
                pinned_[1] = made_b.value();
                for (int i : {0, 1}) {
                    const CompareEntryPtr entry = entryOf(pinned_id_[i]);
                    if (entry && entry->stale)
                        put(makeCompareRow(*pinned_[i]), entry->origin);
                }
            });
        },
        [this] {
            next_.comparing = false;
            publish();
        });
}

void CompareJobs::change() {
    if (!publish_.isActive())
        publish_.start();
}

void CompareJobs::publish() {
    publish_.stop();
    state_ = std::make_shared<const CompareState>(next_);
    emit stateChanged(state_);
}

} // namespace gs
