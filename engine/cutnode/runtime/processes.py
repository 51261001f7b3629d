"""Worker processes, where threads are not enough: for matches and for measured searches."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from cutnode.contract.errors import CutnodeError

MOST_PROCESSES = 256
"""The limit on processes: asking for more is a mistake."""

UNGUARDED = 78
"""The exit code of a process that would start others while it imports the script."""

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class ProcessEndedError(CutnodeError):
    """A process ended before it answered; *result* is what the others had found, if kept."""

    result: Any = None


def physical_cores() -> int:
    """Return how many physical cores this process may use; hyperthreads of a core count once."""
    try:
        usable: Any = os.sched_getaffinity(0)
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
    siblings = set()
    for core in usable:
        topology = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        try:
            siblings.add(topology.read_text())
        except OSError:
            siblings.add(str(core))
    return len(siblings)


class Processes(Generic[Task, Answer]):
    """Up to *count* processes, started when there are tasks for them.

    Each calls *prepare* once, which returns the function that answers tasks.  That function, the
    tasks and the answers have to pickle, and a process has to find the modules of what it receives.
    Used as a context manager, the processes end with the context; Ctrl-C reaches only the process
    that waits for answers.
    """

    def __init__(self, prepare: Callable[[], Callable[[Task], Answer]], count: int):
        self.prepare = prepare
        self.count = count
        self._idle: list[Any] = []
        self._workers: dict[Any, Any] = {}
        """The processes by our end of their pipes."""

    def __enter__(self) -> Processes[Task, Answer]:
        return self

    def __exit__(self, *failure: object) -> None:
        self._end(list(self._workers))

    def answers(self, tasks: Iterable[Task]) -> Generator[Answer, None, None]:
        """Yield the answers to tasks in order; a task is drawn when a process is free for it.

        An error that a task raised is raised here.  If the caller stops early, busy processes are
        terminated.  :class:`ProcessEndedError` if a process ended by itself.
        """
        from multiprocessing import connection  # not needed to import the engine

        waiting = enumerate(tasks)
        busy: dict[Any, int] = {}
        done: dict[int, Answer] = {}
        following = 0
        try:
            while True:
                while len(busy) < self.count and (following_task := next(waiting, None)):
                    number, task = following_task
                    pipe = self._idle.pop() if self._idle else self._begin()
                    busy[pipe] = number
                    self._send(pipe, task)
                if not busy:
                    return
                for pipe in connection.wait(list(busy)):
                    done[busy[pipe]] = self._answer(pipe)
                    del busy[pipe]
                    self._idle.append(pipe)
                while following in done:
                    yield done.pop(following)
                    following += 1
        finally:
            self._end(list(busy))

    def _begin(self) -> Any:
        from multiprocessing import current_process, get_context

        if getattr(current_process(), "_inheriting", False):  # while it imports the script
            raise SystemExit(UNGUARDED)
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        worker = context.Process(target=_work, args=(self.prepare, theirs), daemon=True)
        try:
            with _without_interrupts(), _without_lost_script():
                worker.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise CutnodeError(f"cannot send this task to another process: {error}") from None
        theirs.close()
        self._workers[ours] = worker
        return ours

    def _send(self, pipe: Any, task: Task) -> None:
        try:
            pipe.send(task)
            return
        except OSError:
            pass
        # Outside the handler, whose error holds the message: that would then be freed in any order,
        # and Python 3.13 complains if a buffer is freed before its user.
        raise self._lost(pipe)

    def _lost(self, pipe: Any) -> CutnodeError:
        """Return the error for a process that has ended."""
        worker = self._workers[pipe]
        worker.join()
        if worker.exitcode == UNGUARDED:
            return CutnodeError(
                "each process imports the script, which starts processes again: put its calls "
                "below if __name__ == '__main__':"
            )
        return ProcessEndedError(
            f"a process ended unexpectedly (exit code {worker.exitcode}): is there enough "
            f"memory for all of them?"
        )

    def _answer(self, pipe: Any) -> Answer:
        try:
            failed, answer = pipe.recv()
        except (EOFError, OSError):
            raise self._lost(pipe) from None
        if failed:
            raise answer
        its: Answer = answer
        return its

    def _end(self, pipes: list[Any]) -> None:
        ended = [(pipe, self._workers.pop(pipe)) for pipe in pipes if pipe in self._workers]
        for _, worker in ended:
            worker.terminate()
        for pipe, worker in ended:
            worker.join()
            pipe.close()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes in this context with Ctrl-C blocked until :func:`_work` unblocks it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_lost_script() -> Iterator[None]:
    """Start processes in this context that import no script if it has no file: ``python -``."""
    main = vars(sys.modules["__main__"])
    path = main.get("__file__")
    if path is None or os.path.exists(path):
        yield
        return
    del main["__file__"]
    try:
        yield
    finally:
        main["__file__"] = path


def _work(prepare: Callable[[], Callable[[Any], Any]], pipe: Any) -> None:
    """Answer the tasks that come through a pipe, until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.setpgid(0, 0)  # a terminal's signals go only to the parent, which then ends us
    with contextlib.suppress(EOFError, OSError):  # the parent has closed its end
        try:
            answer = prepare()
            while True:
                task = pipe.recv()
                pipe.send((False, answer(task)))
        except EOFError:
            raise
        except Exception as error:
            pipe.send((True, error))
