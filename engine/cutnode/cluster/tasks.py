"""Tasks on a cluster: a few in flight, answers as they arrive, and retries if a worker dies."""

from __future__ import annotations

import contextlib
import itertools
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cutnode.contract.errors import CutnodeError
from cutnode.contract.extras import extra

if TYPE_CHECKING:
    from cutnode.cluster.worker import GameOnWorker

IN_FLIGHT = 2
"""The tasks in flight for each thread of the cluster: one running, and one waiting there."""

PATIENCE = 0.1
"""The longest wait for answers, in seconds, before a driver checks limits and looks for workers."""

SCHEDULER_SECONDS = 0.0025
"""The measured cost of a task to the scheduler and the driver together, in seconds."""

COUNT = 2.0
"""The interval at which the threads of the cluster are counted, in seconds."""

RETRIES = 2
"""The retries of a failed task: by Dask if it raised an error, and by the driver if Dask abandoned
it because several workers died."""


GONE = "the cluster is gone: its scheduler no longer answers"


@contextlib.contextmanager
def reachable() -> Iterator[None]:
    """Raise :class:`CutnodeError` in place of errors that mean the cluster is unreachable."""
    try:
        yield
    except (OSError, CancelledError) as error:
        raise CutnodeError(GONE) from error


def require_distributed() -> Any:
    """Return Dask's module ``distributed``; :class:`CutnodeError` if it is not installed."""
    return extra("distributed", "cluster", "a cluster needs")


def require_client(client: Any) -> Any:
    """Return the client; :class:`CutnodeError` if it is not a running, synchronous client."""
    distributed = require_distributed()
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise CutnodeError(f"client must be a synchronous distributed.Client, got {client!r}")
    if client.status != "running":
        raise CutnodeError(f"the client of the cluster is {client.status}")
    return client


@dataclass
class SentTask:
    """A task that was sent, and the future of its answer."""

    label: Any
    args: tuple[Any, ...]
    priority: int
    future: Any = None
    failures: int = 0


class Tasks:
    """The tasks of one job in flight, each a call of *function*.

    As a context manager, it cancels tasks still in flight at the end.
    """

    def __init__(self, client: Any, function: Callable[..., Any], game: GameOnWorker):
        self.client = require_client(client)
        self.function = function
        self.plugin = game.name
        self.client.register_plugin(game)
        self._killed = require_distributed().KilledWorker
        self._name = f"cutnode-{uuid.uuid4().hex[:12]}"
        self._numbers = itertools.count()
        self._tasks: dict[str, SentTask] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads = 0
        self._looked = 0.0

    def __len__(self) -> int:
        return len(self._tasks)

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *failure: object) -> None:
        with contextlib.suppress(Exception):  # nothing to cancel if the cluster is gone
            self.cancel(list(self._tasks))

    @property
    def threads(self) -> int:
        """The number of threads of all current workers, as of the last count."""
        now = time.monotonic()
        if now - self._looked > COUNT:
            with reachable():
                self._threads = sum(self.client.nthreads().values())
            self._looked = now
        return self._threads

    def lasting(self, seconds: float) -> float:
        """Return the target duration of a task: *seconds*, or longer if there are many workers.

        Otherwise the scheduler could not hand out tasks fast enough.
        """
        return max(seconds, self.threads * SCHEDULER_SECONDS)

    def labels(self) -> dict[str, Any]:
        """Return the labels of the tasks in flight, by key."""
        return {key: task.label for key, task in self._tasks.items()}

    def send(self, parts: Sequence[tuple[Any, tuple[Any, ...]]], priority: int = 0) -> None:
        """Send tasks, each a label and arguments; tasks of higher *priority* run first."""
        self._send([SentTask(label, args, priority) for label, args in parts])

    def _send(self, tasks: Sequence[SentTask]) -> None:
        if not tasks:
            return
        keys = [f"{self._name}-{next(self._numbers)}" for _ in tasks]
        with reachable():
            futures = self.client.map(
                self.function,
                *zip(*(task.args for task in tasks), strict=True),
                key=keys,
                retries=RETRIES,
                priority=tasks[0].priority,
                pure=False,
            )
        for key, task, future in zip(keys, tasks, futures, strict=True):
            task.future = future
            self._tasks[key] = task
            future.add_done_callback(self._done.put)

    def wait(self, seconds: float) -> list[tuple[Any, Any]]:
        """Return the labels and answers of finished tasks, waiting at most *seconds* for one.

        An error that a task raised is raised here.  :class:`CutnodeError` if a task was abandoned
        repeatedly because its workers died, or if the cluster is gone.
        """
        futures = []
        with contextlib.suppress(queue.Empty):
            futures.append(self._done.get(timeout=seconds))
            while True:
                futures.append(self._done.get_nowait())
        if self.client.status != "running":
            raise CutnodeError(GONE)
        finished, again = [], []
        for future in futures:
            task = self._tasks.pop(future.key, None)
            if task is None:
                continue  # it was cancelled
            if future.status == "finished":
                finished.append(task)
            else:
                self._require_retry(task)
                again.append(task)
        self._send(again)
        with reachable():
            answers = self.client.gather([task.future for task in finished])
        return [(task.label, given) for task, given in zip(finished, answers, strict=True)]

    def _require_retry(self, task: SentTask) -> None:
        """Raise the error of a task that did not answer, unless it may be retried."""
        failure = task.future.exception() if task.future.status == "error" else None
        if failure is not None and not isinstance(failure, self._killed):
            raise failure
        task.failures += 1
        if task.failures > RETRIES:
            reason = "was cancelled" if failure is None else "lost its workers, which died"
            raise CutnodeError(
                f"a task {reason} {task.failures} times: if the workers run out of memory, give "
                f"them a smaller table"
            ) from failure

    def cancel(self, keys: Sequence[str]) -> None:
        """Cancel tasks; running ones notice shortly."""
        futures = [self._tasks.pop(key).future for key in keys]
        if futures:
            self.client.cancel(futures)
