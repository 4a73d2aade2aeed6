"""All ranks agree, or none does anything.

Ranks that run collectives in different orders wait for each other for ever, so a schedule is applied on every rank or
on none. Each rank puts what it would do into the store of the process group, waits a bounded time for what the others
would do, and then proposes a decision; the first proposal in the store is the decision for all. A gather of the votes
alone could not do that: a rank that gives up while another just receives its vote would decide differently. The store
also needs no collective, which must not be in flight while a compiler runs.
"""
from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from typing import Any, Optional

import torch.distributed as dist

_APPLY = "apply"


@dataclass(frozen=True)
class Decision:
    agreed: bool
    reason: str = ""


def _differences(votes: list[dict[str, Any]]) -> str:
    """What is not equal on all ranks; empty if nothing."""
    for key in votes[0]:
        for rank, vote in enumerate(votes):
            if key != "groups" and vote.get(key) != votes[0][key]:
                return f"rank {rank} differs from rank 0 in its {key}"
    return _group_differences([vote.get("groups", []) for vote in votes])


def _group_differences(groups: list[Any]) -> str:
    """Each rank's list of [what group, number of its ranks], in order of use: at one place all members of a group must have
    it, so there must be as many as it has ranks."""
    for index in range(max(map(len, groups), default=0)):
        at = [rank_groups[index] if index < len(rank_groups) else None for rank_groups in groups]
        for rank, group in enumerate(at):
            if group is not None and at.count(group) != group[1]:
                return f"rank {rank} runs collectives of its group {index} in another place than the others of that group"
    return ""


def agree(topic: str, vote: dict[str, Any], timeout_s: float, store: Optional[Any] = None,
          rank: Optional[int] = None, world_size: Optional[int] = None) -> Decision:
    """Decides `topic` once for all ranks. `vote` holds plain values that must be equal everywhere, but for two: `refused`
    is a reason of this rank alone, `groups` says with whom it communicates (`sequence.py`). Never blocks longer than about
    `timeout_s`; without a process group it is this rank alone."""
    if store is None and not (dist.is_available() and dist.is_initialized()):
        return Decision(not vote.get("refused"), vote.get("refused") or "")
    try:
        if store is None:
            store, rank, world_size = dist.distributed_c10d._get_default_store(), dist.get_rank(), dist.get_world_size()
        assert rank is not None and world_size is not None
        votes = dist.PrefixStore(f"gatherscope/{topic}", store)
        if votes.check(["decision"]):
            return _decision(votes.get("decision"))
        votes.set(str(rank), json.dumps(vote, sort_keys=True))
        if vote.get("refused"):  # nothing that others say can change it: nobody has to wait
            return _decision(votes.compare_set("decision", "", f"rank {rank}: {vote['refused']}"))
        if votes.add("count", 1) == world_size:  # the last one decides for all
            every = [json.loads(votes.get(str(other))) for other in range(world_size)]
            return _decision(votes.compare_set("decision", "", _differences(every) or _APPLY))
        return _wait(votes, world_size, timeout_s)
    except Exception as error:  # the store is gone: so is the job, or this rank is alone
        return Decision(False, f"the ranks' store failed: {error}")


def _wait(votes: Any, world_size: int, timeout_s: float) -> Decision:
    try:
        votes.wait(["decision"], datetime.timedelta(seconds=timeout_s))
        return _decision(votes.get("decision"))
    except Exception:  # timed out: names differ by version
        silent = ", ".join(str(rank) for rank in range(world_size) if not votes.check([str(rank)]))
        return _decision(votes.compare_set("decision", "", f"rank {silent} did not vote within {timeout_s:g} s"))


def _decision(value: Any) -> Decision:
    text = value.decode() if isinstance(value, bytes) else str(value)
    return Decision(text == _APPLY, "" if text == _APPLY else text)
