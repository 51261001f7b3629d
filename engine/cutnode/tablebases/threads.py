"""Work on a layer of a tablebase in several threads."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutnode.compiler.jit import Kernel
from cutnode.compiler.memory import Memory
from cutnode.contract.dispatch import is_plain
from cutnode.contract.errors import CutnodeError, require_integer
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import KernelCall, run
from cutnode.runtime.threads import MOST_THREADS
from cutnode.tablebases.layer_tables import Directory
from cutnode.tablebases.scratch import Scratch
from cutnode.tablebases.spaces import Space, StoppedError


@dataclass(frozen=True, slots=True)
class LayerTask:
    """A layer to solve, and what its solution may use."""

    space: Space
    number: int
    """The number of the layer."""
    directory: Directory
    """The tables of earlier layers."""
    threads: LayerThreads
    scratch: Scratch

    @property
    def size(self) -> int:
        """The number of indices."""
        return self.space.sizes[self.number]


class LayerThreads:
    """Threads that run the same kernel on parts of a layer.

    Each has a memory of the structured type *dtype*, with ``stop``, ``thread``, ``threads``,
    ``layer`` and ``done`` among its fields.  *look* is called from time to time, and *clock* limits
    the threads.
    """

    def __init__(
        self,
        space: Space,
        number: int,
        dtype: np.dtype[Any],
        threads: int,
        stops: Sequence[threading.Event] = (),
        look: Callable[[], None] | None = None,
        clock: Clock | None = None,
    ):
        if not 1 <= require_integer(threads, "threads") <= MOST_THREADS:
            raise CutnodeError(f"threads must be 1 to {MOST_THREADS}, got {threads}")
        if is_plain(space.cls):
            threads = 1
        self.space = space
        self.memories = [Memory(space.cls, dtype) for _ in range(threads)]
        self._buffers = [space.buffer() for _ in range(threads)]
        self._stops, self._look, self._clock = stops, look, clock
        for thread, memory in enumerate(self.memories):
            memory["thread"], memory["threads"] = thread, threads
            memory["layer"], memory["size"] = number, space.sizes[number]

    def set(self, **numbers: float) -> None:
        """Set fields in all memories."""
        for memory in self.memories:
            for name, number in numbers.items():
                memory[name] = number

    def take_share(self, share: int, shares: int) -> None:
        """Assign one of *shares* shares of the blocks to the threads together, from now on."""
        for thread, memory in enumerate(self.memories):
            memory["thread"] = share + shares * thread
            memory["threads"] = shares * len(self.memories)

    def each(self, name: str) -> list[Any]:
        """Return the value of a field in each memory."""
        return [memory[name] for memory in self.memories]

    def run(self, kernel: Kernel, *arguments: Any) -> None:
        """Call a kernel in all threads; *arguments* follow the position and the memory.

        ``None`` among them stands for a buffer for two lists of moves; the last argument is where
        the second list begins.  :class:`StoppedError` if the call was stopped early.
        """
        example = self.space.example
        self._run(
            kernel,
            [
                [example, memory.argument]
                + [buffer if argument is None else argument for argument in arguments]
                for memory, buffer in zip(self.memories, self._buffers, strict=True)
            ],
        )

    def run_all(self, kernel: Kernel, *arguments: Any) -> None:
        """Call a kernel that takes no position in all threads; *arguments* follow the memory."""
        self._run(kernel, [[memory.argument, *arguments] for memory in self.memories])

    def _run(self, kernel: Kernel, arguments: list[list[Any]]) -> None:
        go = kernel.specialise(self.space.cls)
        tasks = [
            KernelCall(functools.partial(go, *given), memory, self._clock)
            for given, memory in zip(arguments, self.memories, strict=True)
        ]
        reason = run(tasks, self._stops, look=self._look)
        if reason:
            raise StoppedError(reason)
