"""The solver of sums: a proof-number search over the parts into which positions fall apart.

It has the interface of a :class:`~cutnode.search.proof_numbers.ProofNumberSolver`, and asks its
questions of :mod:`cutnode.kernels.sums`.
"""

from __future__ import annotations

from typing import Any

from cutnode.compiler.jit import Kernel
from cutnode.compiler.memory import Memory
from cutnode.contract.dispatch import defines, game_constant, game_name, value_limit
from cutnode.contract.errors import GameError
from cutnode.kernels.sums import LOOK_UP, sum_dtype, sum_root
from cutnode.search.proof_numbers import ProofNumberSolver
from cutnode.search.solving import Resources
from cutnode.tablebases.tablebase import Tablebase

UNSUITED = ("chance", "turn", "reversible", "drawn", "settled")
"""The verbs of games that are no sums of their parts."""


class SumSolver(ProofNumberSolver):
    """Proves who wins positions of a game that fall apart into parts, with some threads."""

    engine = "sums"

    def __init__(self, resources: Resources):
        require_sums(resources.cls)
        super().__init__(resources)

    @property
    def kernel(self) -> Kernel:
        """The kernel that answers questions."""
        return sum_root

    def memory(self, tablebase: Tablebase | None) -> Memory:
        """Return the memory of a thread."""
        memory = Memory(self.cls, sum_dtype(self.cls))
        memory["plies"] = game_constant(self.cls, "MAX_PLIES", 512)
        memory["purpose"] = self.purpose()
        return memory

    def work(self, position: Any, target: int) -> int:
        """Return the work that the table has on a question, 0 for none."""
        argument = self.memories[0].argument
        return int(self.search(position, target, False, LOOK_UP, argument, self.table.words))


def require_sums(cls: Any) -> None:
    """Raise :class:`GameError` if positions of a game are no games of normal play."""
    given = next((name for name in ("parts", "swapped") if defines(cls, name)), None)
    if given is None:
        raise GameError(
            f"{game_name(cls)} defines neither parts nor swapped: only games of normal play, in "
            f"which whoever cannot move loses, have canonical values"
        )
    for name in UNSUITED:
        if defines(cls, name):
            raise GameError(
                f"{game_name(cls)} defines {given} and {name}: sums need normal play, without "
                f"chance, extra turns, cycles, draws or scores"
            )
    if value_limit(cls) != 1:
        raise GameError(
            f"{game_name(cls)} defines {given}, so its VALUE_LIMIT must be 1, got "
            f"{value_limit(cls):g}: whoever cannot move loses"
        )


def proof_solver(resources: Resources) -> ProofNumberSolver:
    """Return the solver that proves positions of a game by proof numbers, on sums if it can."""
    return SumSolver(resources) if defines(resources.cls, "parts") else ProofNumberSolver(resources)
