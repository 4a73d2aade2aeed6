"""Votes of several ranks over one store, each rank a thread."""
from __future__ import annotations

import threading
import time
import unittest
from typing import Any, Callable, Optional

import torch.distributed as dist

from gatherscope_bridge.ranks import Decision, agree


class Votes(unittest.TestCase):
    def setUp(self) -> None:
        self.store = dist.HashStore()

    def vote(self, votes: list[Optional[dict[str, Any]]], timeout_s: float = 5, late: Callable[[int], float] = lambda rank: 0
             ) -> list[Optional[Decision]]:
        """Decisions of all ranks; a rank whose vote is None says nothing."""
        decisions: list[Optional[Decision]] = [None] * len(votes)

        def run(rank: int, vote: dict[str, Any]) -> None:
            time.sleep(late(rank))
            decisions[rank] = agree("topic", vote, timeout_s, self.store, rank, len(votes))

        threads = [threading.Thread(target=run, args=(rank, vote)) for rank, vote in enumerate(votes) if vote is not None]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
            self.assertFalse(thread.is_alive(), "a rank hangs")
        return decisions

    def test_equal_votes(self) -> None:
        decisions = self.vote([{"order": "a", "refused": ""}] * 4)
        self.assertEqual(decisions, [Decision(True)] * 4)

    def test_one_that_differs(self) -> None:
        decisions = self.vote([{"order": "a"}, {"order": "a"}, {"order": "b"}])
        self.assertEqual(decisions, [Decision(False, "rank 2 differs from rank 0 in its order")] * 3)

    def test_one_that_refuses(self) -> None:
        decisions = self.vote([{"order": "a", "refused": ""}, {"order": "", "refused": "no schedule"}])
        self.assertEqual(decisions, [Decision(False, "rank 1: no schedule")] * 2)

    def test_a_refusal_is_not_waited_for(self) -> None:
        """Whoever cannot take part says so at once, though a rank is silent."""
        began = time.monotonic()
        decisions = self.vote([{"order": "a"}, {"refused": "no schedule"}, None], timeout_s=20)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(decisions[:2], [Decision(False, "rank 1: no schedule")] * 2)

    def test_groups(self) -> None:
        """Two shard groups of HSDP at the same place are right; a group that not all of its ranks have there is not."""
        halves = [[["ranks 0 1", 2]], [["ranks 0 1", 2]], [["ranks 2 3", 2]], [["ranks 2 3", 2]]]
        self.assertEqual(self.vote([{"groups": groups} for groups in halves]), [Decision(True)] * 4)
        reason = "rank 1 runs collectives of its group 0 in another place than the others of that group"
        self.store = dist.HashStore()
        crossed = [[["a", 1], ["01", 2]], [["01", 2], ["b", 1]]]
        self.assertEqual(self.vote([{"groups": groups} for groups in crossed]), [Decision(False, reason)] * 2)

    def test_one_that_is_silent(self) -> None:
        began = time.monotonic()
        decisions = self.vote([{"order": "a"}, None, {"order": "a"}], timeout_s=1)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(decisions[0], Decision(False, "rank 1 did not vote within 1 s"))
        self.assertEqual(decisions[2], decisions[0])

    def test_one_that_is_late_gets_the_decision_of_the_others(self) -> None:
        """The case for which a plain gather is not enough: one has given up when the other's vote arrives."""
        decisions = self.vote([{"order": "a"}, {"order": "a"}], timeout_s=0.5, late=lambda rank: 2.0 * rank)
        self.assertEqual(decisions[0], decisions[1])
        self.assertFalse(decisions[0].agreed)

    def test_without_a_process_group_it_is_this_rank_alone(self) -> None:
        self.assertEqual(agree("alone", {"order": "a", "refused": ""}, 1), Decision(True))
        self.assertEqual(agree("alone", {"refused": "no"}, 1), Decision(False, "no"))

    def test_a_broken_store_refuses(self) -> None:
        class Broken(dist.Store):
            def check(self, keys: Any) -> bool:
                raise RuntimeError("gone")

        decision = agree("topic", {"order": "a"}, 1, Broken(), 0, 2)
        self.assertFalse(decision.agreed)


if __name__ == "__main__":
    unittest.main()
