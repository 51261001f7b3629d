"""The solver of sums: a proof-number search over the parts into which positions fall apart.

It has the interface of a :class:`~cutnode.search.proof_numbers.ProofNumberSolver`, and asks its
questions of :mod:`cutnode.kernels.sums`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cutnode.compiler.jit import Kernel
from cutnode.compiler.memory import Memory
from cutnode.contract.dispatch import defines, game_constant, is_plain
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import outcome, swapped
from cutnode.kernels.forms import MOST_STAR, forms_words, lay_out
from cutnode.kernels.sums import FORM_BYTES, FORM_CELLS, LOOK_UP, MOST_TERMS, sum_dtype, sum_root
from cutnode.runtime.running import Limits
from cutnode.search.canonical_values import ValueTable, require_sums
from cutnode.search.proof_numbers import Ended, ProofNumberSolver, Questions
from cutnode.search.results import Result
from cutnode.search.solving import Goal, Resources, with_scores
from cutnode.tablebases.tablebase import Tablebase

CLASSES = {(1, 1): "N", (1, -1): "L", (-1, 1): "R", (-1, -1): "P"}
"""The outcome classes, by the value if the mover begins, and the opponent's if he does."""


class SumSolver(ProofNumberSolver):
    """Proves who wins positions of a game that fall apart into parts, with some threads."""

    engine = "sums"

    def __init__(self, resources: Resources, values: ValueTable | None = None):
        require_sums(resources.cls)
        self.values = values
        self.forms: dict[Memory, Any] = {}
        super().__init__(resources)

    @property
    def kernel(self) -> Kernel:
        """The kernel that answers questions."""
        return sum_root

    def memory(self, tablebase: Tablebase | None) -> Memory:
        """Return the memory of a thread, with the known values; no tablebase knows sums."""
        memory = Memory(self.cls, sum_dtype(self.cls))
        memory["plies"] = game_constant(self.cls, "MAX_PLIES", 512)
        memory["cells"] = FORM_CELLS
        memory["purpose"] = self.purpose()
        room = 0 if self.values is None else self.values.megabytes << 20
        words = np.zeros(forms_words(FORM_BYTES + room), np.uint64)
        lay_out(words, MOST_TERMS)
        self.forms[memory] = forms = words.tolist() if is_plain(self.cls) else words
        if self.values is not None:
            self.values.lend(memory, forms)
        return memory

    def call(self, question: tuple[Any, int, bool], sharing: int, memory: Memory) -> int:
        """Call the kernel with a thread's memory and forms, and return its answer."""
        forms, table = self.forms[memory], self.table.words
        return int(self.search(*question, sharing, memory.argument, forms, table))

    def work(self, position: Any, target: int) -> int:
        """Return the work that the table has on a question, 0 for none."""
        return self.call((position, target, False), LOOK_UP, self.memories[0])

    def prove(
        self, goal: Goal, limits: Limits, known: tuple[int, int] | None = None, line: int = 2
    ) -> Result:
        """Prove who wins a position, or each of its moves, and the outcome class or the nimber.

        A weak proof is only of the winner.
        """
        if goal.scores:
            return with_scores(super().prove, goal, limits, known)
        position = coerce(goal.position)
        questions = Questions(self, position, goal.weak, limits)
        result = questions.result(known, line > 0, goal.at_least)
        if result.value is None or goal.weak or goal.at_least is not None:
            return result
        with contextlib.suppress(Ended, KeyboardInterrupt):
            if defines(self.cls, "swapped"):
                value = self.value(questions, swapped(position))
                return replace(result, outcome_class=CLASSES[result.value, value])
            result = replace(result, outcome_class="N" if result.value == 1 else "P")
            return replace(result, nimber=self.nimber(questions) if result.value == 1 else 0)
        return result

    def value(self, questions: Questions, position: Any) -> int:
        """Return the value of a position; raise :class:`Ended` at a limit."""
        over, value = outcome(position)
        return value if over else 1 if questions.ask(position, 1)[0] else -1

    def nimber(self, questions: Questions) -> int:
        """Return the nimber of an impartial position that is won for the mover.

        It is the least n for which the position and a heap of n are lost for the mover together
        (J. Lemoine and S. Viennot, "Nimbers are inevitable", 2012).  Raise :class:`Ended` at a
        limit.
        """
        heap = 1
        with self.heap(heap):
            while questions.ask(questions.position, 1)[0]:
                heap += 1
                if heap > MOST_STAR:
                    raise Ended(f"nimber above {MOST_STAR}")
                self.set_heap(heap)
        return heap

    @contextlib.contextmanager
    def heap(self, size: int) -> Iterator[None]:
        """Add a heap to the positions of all questions."""
        self.set_heap(size)
        try:
            yield
        finally:
            self.set_heap(0)

    def set_heap(self, size: int) -> None:
        for memory in self.memories:
            memory["heap"] = size


def proof_solver(resources: Resources) -> ProofNumberSolver:
    """Return the solver that proves positions of a game by proof numbers, on sums if it can."""
    return SumSolver(resources) if defines(resources.cls, "parts") else ProofNumberSolver(resources)
