#include "explain/counterfactuals.h"

#include "base/units.h"
#include "explain/names.h"
#include "schedule/manual_moves.h"
#include "schedule/scheduler.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace gs {

namespace {

using Kind = Counterfactual::Kind;

/// Names of the lowered graph's gathers that a launch stands for: the members of a bucket, or itself.
std::vector<std::string> memberNames(const Analysis& analysis, NodeId launch) {
    const Graph& graph = *analysis.after.graph;
    const Graph& lowered = *analysis.before.graph;
    std::vector<std::string> names;
    for (const StringId origin : graph.origins(launch)) {
        const std::optional<NodeId> member = lowered.find(graph.text(origin));
        if (member && lowered.node(*member).kind == NodeKind::Launch)
            names.emplace_back(graph.text(origin));
    }
    if (names.empty())
        names.emplace_back(graph.name(launch));
    return names;
}

/// `value` in three significant digits, which is what a person would type.
double rounded(double value) {
    return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr);
}

double relativeChange(double before, double after) {
    return std::abs(after - before) / std::max({std::abs(before), std::abs(after), 1e-9});
}

class Search {
public:
    Search(const Analysis& analysis, NodeId launch, const JobContext& job)
        : analysis_(analysis), graph_(*analysis.after.graph), schedule_(*analysis.after.schedule),
          decision_(*analysis.decisionFor(launch)), launch_(launch), job_(job) {
        analyser_.remember(analysis);
        for (NodeId id = 0; id < graph_.size(); ++id)
            total_ns_ += computeNs(id);
    }

    Result<std::vector<Counterfactual>> run() {
        using Step = void (Search::*)();
        constexpr std::pair<const char*, Step> kSteps[] = {
            {"launch", &Search::tryLaunch},         {"dependency", &Search::tryDependency},
            {"buckets", &Search::tryBuckets},       {"slack", &Search::trySlack},
            {"contention", &Search::tryContention}, {"transfer time", &Search::tryCommSpeed},
            {"budgets", &Search::tryBudgets},       {"schedulers", &Search::trySchedulers},
        };
        for (size_t i = 0; i < std::size(kSteps); ++i) {
            job_.report(kSteps[i].first, static_cast<double>(i) / std::size(kSteps));
            (this->*kSteps[i].second)();
            if (job_.cancelled())
                return Error{"cancelled", "the search was cancelled", {}, ""};
        }
        std::stable_sort(found_.begin(), found_.end(), [](const Counterfactual& a, const Counterfactual& b) {
            return std::tie(a.lengthens_step, a.smallness) < std::tie(b.lengthens_step, b.smallness);
        });
        return std::move(found_);
    }

private:
    /// Runs the request; true, with its result kept in last_, if the gather is hidden then.
    bool hides(const AnalysisRequest& request) {
        if (job_.cancelled())
            return false;
        const Result<AnalysisPtr> result = analyser_.analyse(request, {job_.stop, nullptr});
        if (!result || exposedIn(*result.value(), analysis_, launch_) != 0)
            return false;
        last_ = result.value();
        return true;
    }

    void keep(Kind kind, double smallness, std::string text) {
        const Timeline& timeline = *last_->after.timeline;
        found_.push_back({kind, std::move(text), smallness, last_->request, timeline.step_ns,
                          timeline.step_ns > analysis_.after.timeline->step_ns});
    }

    AnalysisRequest withSetting(Setting key, double value) const {
        AnalysisRequest request = analysis_.request;
        (void)request.settings.set(key, fmt::format("{}", value));
        return request;
    }

    AnalysisRequest withEdits(std::initializer_list<Edit> edits) const {
        AnalysisRequest request = analysis_.request;
        for (const Edit& edit : edits)
            request.edits = withEdit(std::move(request.edits), edit);
        return request;
    }

    bool reads(Setting key) const {
        const SchedulerInfo* info = findScheduler(schedule_.scheduler);
        return info && std::find(info->settings.begin(), info->settings.end(), key) != info->settings.end();
    }

    /// The nearest value that hides the gather: the first of `grid` (from near to far) that does, then
    /// bisected towards the last that did not. Nothing if none does.
    std::optional<double> nearest(Setting key, double now, const std::vector<double>& grid,
                                  int bisections = 6) {
        double misses = now;
        for (const double value : grid) {
            if (relativeChange(misses, value) < 1e-3 || !hides(withSetting(key, value))) {
                misses = value;
                continue;
            }
            double hit = value;
            AnalysisPtr best = last_;
            for (int i = 0; i < bisections; ++i) {
                const double middle = rounded((hit + misses) / 2);
                if (middle == hit || middle == misses)
                    break;
                if (hides(withSetting(key, middle))) {
                    hit = middle;
                    best = last_;
                } else {
                    misses = middle;
                }
            }
            last_ = best;
            return hit;
        }
        return std::nullopt;
    }

    void trySlack() {
        if (!reads(Setting::SlackNs))
            return;
        const double now = analysis_.request.settings.number(Setting::SlackNs);
        std::vector<double> up;
        for (const double more : {0.05, 0.2, 0.5, 1.0, 3.0, 10.0})
            up.push_back(rounded(now + more * std::max(decision_.need_ns, 1000.0)));
        for (const std::vector<double>& grid : {std::vector<double>{rounded(now / 2), 0}, up}) {
            const auto value = nearest(Setting::SlackNs, now, grid);
            if (value)
                keep(Kind::Slack, std::abs(*value - now) / std::max(decision_.need_ns, 1.0),
                     fmt::format("slack {} → {}", formatTime(std::llround(now)),
                                 formatTime(std::llround(*value))));
        }
    }

    void tryContention() {
        const double now = analysis_.request.settings.number(Setting::Contention);
        std::vector<double> grid;
        for (const double part : {0.1, 0.25, 0.5, 0.75, 1.0})
            grid.push_back(rounded(now - (now - 1) * part));
        if (const auto value = nearest(Setting::Contention, now, grid))
            keep(Kind::Contention, relativeChange(now, *value),
                 fmt::format("contention {} → {}", now, *value));
    }

    void tryCommSpeed() {
        const double now = analysis_.request.settings.number(Setting::CommScale);
        std::vector<double> grid;
        for (const double part : {0.97, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1})
            grid.push_back(rounded(now * part));
        if (const auto value = nearest(Setting::CommScale, now, grid))
            keep(Kind::CommSpeed, relativeChange(now, *value),
                 fmt::format("all transfers {:.1f} % shorter", 100 * (1 - *value / now)));
    }

    double computeNs(NodeId id) const {
        const NodeKind kind = graph_.node(id).kind;
        return kind == NodeKind::Launch || kind == NodeKind::Wait
                   ? 0.0
                   : static_cast<double>(analysis_.after.costs->ns(id));
    }

    /// Positions of the order where `need` times `parts` of compute lie between them and `from`, nearest
    /// first.
    std::vector<uint32_t> positionsBefore(uint32_t from, uint32_t first, double need) const {
        std::vector<uint32_t> positions;
        double sum = 0, wanted = need / 2;
        for (uint32_t at = from; at-- > first;) {
            sum += computeNs(schedule_.order[at]);
            if (sum >= wanted || at == first) {
                positions.push_back(at);
                wanted = std::max(sum, wanted) * 1.6;
            }
        }
        return positions;
    }

    /// Share of all compute that lies between two positions.
    double shareBetween(uint32_t first, uint32_t last) const {
        double sum = 0;
        for (uint32_t at = first; at < last; ++at)
            sum += computeNs(schedule_.order[at]);
        return sum / std::max(total_ns_, 1.0) + 1e-6 * (last - first);
    }

    Edit moveTo(NodeId node, uint32_t position) const {
        return {Edit::Kind::Move,
                std::string(graph_.name(node)),
                std::string(graph_.name(schedule_.order[position])),
                {}};
    }

    void tryLaunch() {
        const std::vector<NodeId> group = movingGroup(graph_, *analysis_.after.collectives, launch_);
        const MoveRange range = legalRange(graph_, schedule_.order, group);
        const std::vector<uint32_t> position = positionsOf(schedule_.order);
        const uint32_t now = position[launch_];
        const auto exposed = static_cast<double>(exposedIn(analysis_, analysis_, launch_));
        uint32_t misses = now;
        for (uint32_t at : positionsBefore(now, range.first, exposed)) {
            if (std::binary_search(group.begin(), group.end(), schedule_.order[at]))
                continue;
            if (!hides(withEdits({moveTo(launch_, at)}))) {
                misses = at;
                continue;
            }
            AnalysisPtr best = last_;
            for (uint32_t low = at, high = misses; high - low > 1;) {
                const uint32_t middle = low + (high - low) / 2;
                if (!std::binary_search(group.begin(), group.end(), schedule_.order[middle]) &&
                    hides(withEdits({moveTo(launch_, middle)}))) {
                    best = last_;
                    low = at = middle;
                } else {
                    high = middle;
                }
            }
            last_ = best;
            const NodeId anchor = schedule_.order[at];
            keep(Kind::Launch, shareBetween(at, now),
                 fmt::format("launched by hand in front of {}", placeName(graph_, anchor)));
            return;
        }
    }

    void tryDependency() {
        const NodeId floor = decision_.floor_node;
        const bool binds =
            decision_.reason == BindingReason::DataDependency || decision_.reason == BindingReason::Effect;
        if (!binds || floor == kNoNode || graph_.node(floor).kind == NodeKind::Placeholder)
            return;
        const std::vector<NodeId> group = movingGroup(graph_, *analysis_.after.collectives, floor);
        const MoveRange range = legalRange(graph_, schedule_.order, group);
        const std::vector<uint32_t> position = positionsOf(schedule_.order);
        const auto exposed = static_cast<double>(exposedIn(analysis_, analysis_, launch_));
        for (const uint32_t at : positionsBefore(position[floor], range.first, exposed)) {
            if (std::binary_search(group.begin(), group.end(), schedule_.order[at]) ||
                !hides(withEdits({moveTo(floor, at), moveTo(launch_, at)})))
                continue;
            keep(Kind::Dependency, 2 * shareBetween(at, position[floor]),
                 fmt::format("{} moved in front of {}, the launch right behind it", graph_.name(floor),
                             placeName(graph_, schedule_.order[at])));
            return;
        }
    }

    int64_t shardBytes(const std::string& member) const {
        const Program& lowered = analysis_.before;
        const NodeId node = lowered.graph->find(member).value_or(kNoNode);
        const int32_t index = node == kNoNode ? -1 : lowered.collectives->indexOf(node);
        return index < 0
                   ? 0
                   : std::max<int64_t>((*lowered.collectives)[static_cast<size_t>(index)].input_bytes, 0);
    }

    void tryBuckets() {
        const std::vector<std::string> members = memberNames(analysis_, launch_);
        const std::string& mode = analysis_.request.settings.text(Setting::BucketMode);
        const Collective& own = (*analysis_.after.collectives)[static_cast<size_t>(decision_.collective)];
        if (members.size() > 1 && own.kind == CollectiveKind::AllGatherCoalesced)
            trySplits(members);
        if (mode == "fsdp" && members.size() > 1)
            tryCap(members);
        if (members.size() == 1 || own.kind == CollectiveKind::AllGatherCoalesced)
            tryMerges(members, own);
    }

    void trySplits(const std::vector<std::string>& members) {
        int64_t total = 0, head = 0;
        for (const std::string& member : members)
            total += shardBytes(member);
        const size_t stride = std::max<size_t>(1, members.size() / 12);
        std::optional<Counterfactual> best;
        for (size_t cut = 1; cut < members.size(); ++cut) {
            head += shardBytes(members[cut - 1]);
            if (cut % stride != 0)
                continue;
            const auto middle = members.begin() + static_cast<ptrdiff_t>(cut);
            const AnalysisRequest request =
                withEdits({{Edit::Kind::Bucket, {}, {}, {members.begin(), middle}},
                           {Edit::Kind::Bucket, {}, {}, {middle, members.end()}}});
            const double share = static_cast<double>(std::min(head, total - head)) /
                                 static_cast<double>(std::max<int64_t>(total, 1));
            if ((best && best->smallness <= share) || !hides(request))
                continue;
            keep(Kind::Split, share,
                 fmt::format("its bucket split at {} ({} and {} gathers)", formatBytes(head), cut,
                             members.size() - cut));
            best = std::move(found_.back());
            found_.pop_back();
        }
        if (best)
            found_.push_back(std::move(*best));
    }

    void tryCap(const std::vector<std::string>& members) {
        double mib = 0;
        for (const std::string& member : members)
            mib += static_cast<double>(shardBytes(member)) / (1024.0 * 1024.0);
        for (const double part : {0.75, 0.5, 0.25, 0.1}) {
            const double cap = rounded(mib * part);
            if (cap <= 0 || !hides(withSetting(Setting::BucketCapMib, cap)))
                continue;
            keep(Kind::BucketCap, 1 - part, fmt::format("bucket cap {} MiB", cap));
            return;
        }
    }

    void tryMerges(const std::vector<std::string>& members, const Collective& own) {
        const auto all = analysis_.after.collectives->all();
        for (const int direction : {-1, 1}) {
            for (auto i = decision_.collective + direction; i >= 0 && i < static_cast<int32_t>(all.size());
                 i += direction) {
                const Collective& other = all[static_cast<size_t>(i)];
                if (!other.weight_gather || other.group != own.group)
                    continue;
                if (other.dtype == own.dtype)
                    tryMerge(members, other);
                break;
            }
        }
    }

    void tryMerge(std::vector<std::string> members, const Collective& other) {
        const std::vector<std::string> more = memberNames(analysis_, other.launch);
        int64_t own_bytes = 0, other_bytes = 0;
        for (const std::string& member : members)
            own_bytes += shardBytes(member);
        for (const std::string& member : more)
            other_bytes += shardBytes(member);
        members.insert(members.end(), more.begin(), more.end());
        if (!hides(withEdits({{Edit::Kind::Bucket, {}, {}, members}})))
            return;
        keep(Kind::Merge,
             static_cast<double>(std::min(own_bytes, other_bytes)) /
                 static_cast<double>(std::max<int64_t>(own_bytes + other_bytes, 1)),
             fmt::format("one bucket with {}", gatherLabel(graph_, other)));
    }

    void tryBudgets() {
        const Settings& settings = analysis_.request.settings;
        const std::optional<double> budget = settings.limit(Setting::GatherBudgetMib);
        if (reads(Setting::GatherBudgetMib) && budget)
            tryNumber(Kind::Budget, Setting::GatherBudgetMib, *budget, {1.1, 1.25, 1.5, 2, 4, 8},
                      "gather budget", "MiB");
        if (reads(Setting::MaxInFlightGb))
            tryNumber(Kind::Budget, Setting::MaxInFlightGb, settings.number(Setting::MaxInFlightGb),
                      {1.1, 1.25, 1.5, 2, 4, 8}, "in-flight limit", "GiB");
        const Phase phase = graph_.node(launch_).phase;
        for (const auto& [key, of] :
             {std::pair{Setting::ForwardDepth, Phase::Forward}, {Setting::BackwardDepth, Phase::Backward}}) {
            if (!reads(key) || (phase != of && phase != Phase::Unknown))
                continue;
            const auto now = static_cast<double>(settings.integer(key));
            for (const double more : {1, 2, 3, 5, 8}) {
                if (!hides(withSetting(key, now + more)))
                    continue;
                keep(Kind::Depth, more / (now + more),
                     fmt::format("{} {} → {}", settingSpec(key).name, now, now + more));
                break;
            }
        }
    }

    void tryNumber(Kind kind, Setting key, double now, const std::vector<double>& factors, const char* name,
                   const char* unit) {
        std::vector<double> grid;
        for (const double factor : factors)
            grid.push_back(rounded(now * factor));
        if (const auto value = nearest(key, now, grid))
            keep(kind, relativeChange(now, *value), fmt::format("{} {} → {} {}", name, now, *value, unit));
    }

    void trySchedulers() {
        for (const SchedulerInfo& info : schedulers()) {
            if (info.name == schedule_.scheduler || info.name == "program-order")
                continue;
            AnalysisRequest request = analysis_.request;
            (void)request.settings.set(Setting::Scheduler, info.name);
            if (hides(request))
                keep(Kind::Scheduler, 2, fmt::format("scheduler {}", info.name));
        }
    }

    const Analysis& analysis_;
    const Graph& graph_;
    const Schedule& schedule_;
    const Decision& decision_;
    NodeId launch_;
    JobContext job_;
    Analyser analyser_;
    AnalysisPtr last_;
    double total_ns_ = 0; ///< all compute
    std::vector<Counterfactual> found_;
};

} // namespace

int64_t exposedIn(const Analysis& other, const Analysis& analysis, NodeId launch) {
    const Graph& graph = *other.after.graph;
    std::set<int32_t> seen;
    int64_t sum = -1;
    for (const std::string& name : memberNames(analysis, launch)) {
        const NodeId node = resolveNode(graph, name);
        const int32_t index = node == kNoNode ? -1 : other.after.collectives->indexOf(node);
        if (index < 0 || !seen.insert(index).second)
            continue;
        sum = std::max<int64_t>(sum, 0) +
              other.after.timeline->transfers[static_cast<size_t>(index)].exposed_ns;
    }
    return sum;
}

Result<std::vector<Counterfactual>> findCounterfactuals(const Analysis& analysis, NodeId launch,
                                                        const JobContext& job) {
    const Decision* decision = analysis.decisionFor(launch);
    if (!decision || decision->collective < 0 || exposedIn(analysis, analysis, launch) <= 0)
        return std::vector<Counterfactual>();
    return Search(analysis, launch, job).run();
}

} // namespace gs
