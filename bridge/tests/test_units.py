"""The order of the scheduler's units, on units made by hand: what a fused kernel does to an order."""
from __future__ import annotations

import types
import unittest
from typing import Any, Optional
from unittest import mock

from gatherscope_bridge import units as unit_order


class Origin:
    def __init__(self, name: str, position: Optional[int], target: str) -> None:
        self.name, self.target = name, target
        self.meta = {} if position is None else {unit_order.POSITION: position}


class Unit:
    """A unit that defines one buffer of its own name and reads others."""

    def __init__(self, name: str, positions: list[Optional[int]], reads: tuple[str, ...] = (), target: str = "aten.mm") -> None:
        self.name = name
        origins = [Origin(f"{name}{i}", position, target) for i, position in enumerate(positions)]
        self.node = types.SimpleNamespace(get_origins=lambda: origins)
        self.read_writes = types.SimpleNamespace(reads=[types.SimpleNamespace(name=read) for read in reads])
        self.unmet_dependencies: list[Any] = []
        self.launch = "all_gather" in target

    def get_name(self) -> str:
        return self.name

    def get_buffer_names(self) -> list[str]:
        return [self.name]

    def get_nodes(self) -> list["Unit"]:
        return [self]


LAUNCH = "_c10d_functional.all_gather_into_tensor.default"


class Orders(unittest.TestCase):
    def setUp(self) -> None:
        for name, value in (("is_launch", lambda unit: unit.launch), ("is_wait", lambda unit: False)):
            patch = mock.patch.object(unit_order, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def names(self, units: list[Unit]) -> list[str]:
        return [units[i].name for i in unit_order.order_by_origins(units)]

    def test_scheduled(self) -> None:
        self.assertFalse(unit_order.scheduled([Unit("a", [None]), Unit("b", [])]))
        self.assertTrue(unit_order.scheduled([Unit("a", [None]), Unit("b", [3])]))

    def test_by_position(self) -> None:
        units = [Unit("a", [4]), Unit("b", [2, 3]), Unit("g", [0], target=LAUNCH)]
        self.assertEqual(self.names(units), ["g", "b", "a"])

    def test_a_launch_takes_what_it_needs_with_it(self) -> None:
        """A kernel that also computes later things is needed by a launch: it runs before the launch all the same."""
        units = [Unit("other", [2]), Unit("fused", [1, 9]), Unit("g", [3], ("fused",), LAUNCH), Unit("end", [4])]
        self.assertEqual(self.names(units), ["other", "fused", "g", "end"])
        order = unit_order.order_by_origins(units)
        self.assertIsNone(unit_order.broken_edge(units, order))
        self.assertEqual(unit_order.displaced([units[i] for i in order]), [])

    def test_a_collective_that_cannot_be_where_it_should(self) -> None:
        units = [Unit("late", [5], target=LAUNCH), Unit("fused", [6], ("late",)), Unit("early", [2], ("fused",), LAUNCH)]
        order = unit_order.order_by_origins(units)
        self.assertEqual([units[i].name for i in order], ["late", "fused", "early"])
        self.assertEqual(unit_order.displaced([units[i] for i in order]), ["early"])

    def test_nodes_without_a_place_stay_behind_their_neighbour(self) -> None:
        units = [Unit("a", [3]), Unit("new", [None]), Unit("b", [1])]
        self.assertEqual(self.names(units), ["b", "a", "new"])

    def test_units_out_of_order_are_not_ordered(self) -> None:
        with self.assertRaises(ValueError):
            self.names([Unit("a", [1], ("b",)), Unit("b", [0])])

    def test_broken_edge(self) -> None:
        units = [Unit("a", [0]), Unit("b", [1], ("a",))]
        self.assertEqual(unit_order.broken_edge(units, [1, 0]), ("a", "b"))

    def test_ties_change_nothing_before_they_are_set(self) -> None:
        """They are made before the ranks vote, so that nothing fails behind the vote."""
        class ReadWrites:
            def __init__(self, reads: list[Any]) -> None:
                self.reads = reads

            def with_read(self, dep: Any) -> "ReadWrites":
                return ReadWrites([*self.reads, dep])

        units = [Unit("a", [1]), Unit("b", [0])]
        for unit in units:
            unit.read_writes = ReadWrites([])
            unit.set_read_writes = lambda value, unit=unit: setattr(unit, "read_writes", value)
        ties = unit_order.tied(units, [1, 0])
        self.assertEqual([unit.read_writes.reads for unit in units], [[], []])
        self.assertEqual([unit.name for unit in unit_order.commit(ties)], ["b", "a"])
        self.assertEqual([[dep.name for dep in unit.read_writes.reads] for unit in units], [["b"], []])


if __name__ == "__main__":
    unittest.main()
