// Runs the programs of all ranks against each other: a collective is done when every rank of its group has
// issued it and those before it on its group are done. A wait stops what comes after it on its rank; so does
// a host sync, for everything issued so far. Where nothing can go on, the ranks wait for each other.
#include "explain/rank_parts.h"
#include "graph/op_patterns.h"

#include <algorithm>
#include <map>

namespace gs::ranks {

namespace {

/// A communicator: the ranks that really meet on it.
struct Communicator {
    std::vector<int32_t> members;
    std::vector<uint32_t> issued; ///< per member
    uint32_t done = 0;
    std::vector<int32_t> waiting; ///< ranks that wait for something on it
};

struct Event {
    enum class Kind : uint8_t { Issue, Wait, Sync } kind = Kind::Issue;
    uint32_t communicator = 0;
    uint32_t index = 0; ///< n-th of the communicator on this rank
    NodeId node = kNoNode;
    int32_t collective = -1;
};

struct Runner {
    std::vector<Event> events;
    std::vector<int32_t> first; ///< per communicator and index: the rank's collective
    size_t at = 0;
    std::map<uint32_t, uint32_t> issued; ///< communicator → number issued
    bool blocked = false;
    uint32_t on = 0;    ///< communicator it waits for
    uint32_t until = 0; ///< number that must be done
};

class LockStep {
public:
    LockStep(const RankComparison& comparison, bool serial) : comparison_(comparison), serial_(serial) {
        makeCommunicators();
        runners_.resize(comparison.ranks.size());
        for (size_t r = 0; r < runners_.size(); ++r)
            makeEvents(static_cast<int32_t>(r));
    }

    /// The waits that no rank can leave, from the first one that is stuck; empty if all ranks come to their
    /// end.
    WaitCycle run() {
        std::vector<int32_t> ready;
        for (size_t r = runners_.size(); r-- > 0;)
            ready.push_back(static_cast<int32_t>(r));
        while (!ready.empty()) {
            const int32_t rank = ready.back();
            ready.pop_back();
            advance(rank, ready);
        }
        for (size_t r = 0; r < runners_.size(); ++r) {
            if (runners_[r].blocked)
                return trace(static_cast<int32_t>(r));
        }
        return {};
    }

private:
    const ComparedRank& rankAt(int32_t rank) const { return comparison_.ranks[static_cast<size_t>(rank)]; }

    /// Ranks that share a name share a communicator; so do those that a group's rank list names, and those
    /// that issue nothing on it where no list is known.
    void makeCommunicators() {
        for (uint32_t g = 0; g < comparison_.groups.size(); ++g) {
            const RankGroup& group = comparison_.groups[g];
            for (const std::string& name : group.names) {
                if (name.empty() || by_name_.count({g, name}))
                    continue;
                Communicator made;
                const std::vector<int32_t> listed = listOf(name);
                for (size_t r = 0; r < group.names.size(); ++r) {
                    const int32_t number = rankAt(static_cast<int32_t>(r)).program.rank;
                    const bool in_list =
                        number >= 0 && std::find(listed.begin(), listed.end(), number) != listed.end();
                    if (group.names[r] == name || in_list || (listed.empty() && group.names[r].empty()))
                        made.members.push_back(static_cast<int32_t>(r));
                }
                made.issued.assign(made.members.size(), 0);
                by_name_[{g, name}] = static_cast<uint32_t>(communicators_.size());
                communicators_.push_back(std::move(made));
            }
        }
    }

    std::vector<int32_t> listOf(const std::string& name) const {
        for (const ComparedRank& rank : comparison_.ranks) {
            for (const RankGraph& of : rank.program.graphs) {
                const GroupId id = of.graph->findGroup(name);
                if (id != kNoGroup && !of.graph->groups()[id].ranks.empty())
                    return of.graph->groups()[id].ranks;
            }
        }
        return {};
    }

    void makeEvents(int32_t rank) {
        const ComparedRank& of = rankAt(rank);
        Runner& runner = runners_[static_cast<size_t>(rank)];
        size_t next = 0;
        for (uint32_t g = 0; g < of.program.graphs.size(); ++g) {
            const Graph& graph = *of.program.graphs[g].graph;
            const CollectiveTable table(graph);
            const std::vector<bool> syncs = matchTargets(graph, hostSyncOps());
            std::vector<Event> issued(graph.size());
            for (NodeId id = 0; id < graph.size(); ++id) {
                const bool here = next < of.collectives.size() && of.collectives[next].graph == g &&
                                  of.collectives[next].node == id;
                if (here) {
                    issued[id] = issue(rank, runner, next++);
                    runner.events.push_back(issued[id]);
                    if (serial_ ||
                        graph.node(id).kind != NodeKind::Launch) // an operator of its own waits itself
                        runner.events.push_back(waitFor(issued[id], id));
                } else if (graph.node(id).kind == NodeKind::Wait && table.indexOf(id) >= 0) {
                    const NodeId launch = table[static_cast<size_t>(table.indexOf(id))].launch;
                    if (launch != kNoNode && launch < id)
                        runner.events.push_back(waitFor(issued[launch], id));
                } else if (graph.isCall(id) && syncs[graph.node(id).target]) {
                    sync(runner, id);
                }
            }
        }
        sync(runner, kNoNode);
    }

    Event issue(int32_t rank, Runner& runner, size_t collective) const {
        const RankCollective& item = rankAt(rank).collectives[collective];
        const std::string& name = comparison_.groups[item.group].names[static_cast<size_t>(rank)];
        const uint32_t communicator = by_name_.at({item.group, name});
        return {Event::Kind::Issue, communicator, runner.issued[communicator]++, item.node,
                static_cast<int32_t>(collective)};
    }

    static Event waitFor(Event issued, NodeId at) {
        issued.kind = Event::Kind::Wait;
        issued.node = at;
        return issued;
    }

    /// Waits for the last collective of each communicator.
    static void sync(Runner& runner, NodeId at) {
        for (const auto& [communicator, count] : runner.issued)
            runner.events.push_back({Event::Kind::Sync, communicator, count - 1, at, -1});
    }

    void advance(int32_t rank, std::vector<int32_t>& ready) {
        Runner& runner = runners_[static_cast<size_t>(rank)];
        runner.blocked = false;
        for (; runner.at < runner.events.size(); ++runner.at) {
            const Event& event = runner.events[runner.at];
            Communicator& on = communicators_[event.communicator];
            if (event.kind == Event::Kind::Issue) {
                issueOn(on, rank, ready);
            } else if (on.done <= event.index) {
                runner.blocked = true;
                runner.on = event.communicator;
                runner.until = event.index;
                on.waiting.push_back(rank);
                return;
            }
        }
    }

    void issueOn(Communicator& on, int32_t rank, std::vector<int32_t>& ready) {
        uint32_t least = UINT32_MAX;
        for (size_t i = 0; i < on.members.size(); ++i) {
            on.issued[i] += on.members[i] == rank ? 1 : 0;
            least = std::min(least, on.issued[i]);
        }
        if (least <= on.done)
            return;
        on.done = least;
        std::erase_if(on.waiting, [&](int32_t other) {
            if (runners_[static_cast<size_t>(other)].until >= on.done)
                return false;
            ready.push_back(other);
            return true;
        });
    }

    /// A member that has not issued the collective that holds `on` up.
    int32_t missingOn(const Communicator& on) const {
        int32_t missing = -1;
        for (size_t i = 0; i < on.members.size(); ++i) {
            if (on.issued[i] > on.done)
                continue;
            if (missing < 0 ||
                runners_[static_cast<size_t>(on.members[i])].at < runners_[static_cast<size_t>(missing)].at)
                missing = on.members[i];
        }
        return missing;
    }

    WaitStep stepOf(int32_t rank) const {
        const Runner& runner = runners_[static_cast<size_t>(rank)];
        const Communicator& on = communicators_[runner.on];
        WaitStep step;
        step.rank = rank;
        step.blocked_at = runner.events[runner.at].node;
        // The first that is not done holds up those behind it.
        for (const Event& event : runner.events) {
            if (event.kind == Event::Kind::Issue && event.communicator == runner.on &&
                event.index == on.done) {
                step.collective = sideOf(comparison_, rank, event.collective);
                break;
            }
        }
        step.missing_rank = missingOn(on);
        return step;
    }

    WaitCycle trace(int32_t rank) const {
        WaitCycle cycle;
        std::vector<int32_t> seen;
        while (rank >= 0 && std::find(seen.begin(), seen.end(), rank) == seen.end()) {
            if (!runners_[static_cast<size_t>(rank)].blocked) {
                cycle.closed = false; // it has come to its end
                return cycle;
            }
            seen.push_back(rank);
            cycle.steps.push_back(stepOf(rank));
            rank = cycle.steps.back().missing_rank;
        }
        const auto begin = std::find(seen.begin(), seen.end(), rank) - seen.begin();
        cycle.steps.erase(cycle.steps.begin(), cycle.steps.begin() + begin); // the way into the ring
        return cycle;
    }

    const RankComparison& comparison_;
    bool serial_;
    std::vector<Communicator> communicators_;
    std::map<std::pair<uint32_t, std::string>, uint32_t> by_name_;
    std::vector<Runner> runners_;
};

} // namespace

void findWaitCycles(RankComparison& comparison) {
    for (const bool serial : {false, true}) {
        WaitCycle cycle = LockStep(comparison, serial).run();
        if (cycle.steps.empty())
            continue;
        cycle.certain = !serial;
        comparison.cycles.push_back(std::move(cycle));
        return; // what is stuck for certain is stuck in series, too
    }
}

} // namespace gs::ranks
