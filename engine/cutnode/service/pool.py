"""A pool of searches, its queue, and the memory of its engines.

A limited number of searches run at once, each with its own thread and engine; a limited number
wait, first come, first served; the rest are refused.  When a search ends, its engine is kept for
the next question about the game in the same session; without a session, for the next question
without one, which finds it empty.  Before a new engine is made, the least recently used ones are
closed until all engines together fit the memory that the settings allow.

A question whose code is not compiled yet does not wait in that queue: threads compile such
questions one at a time, while other searches run.  A level does not wait for its code either, but
moves in plain Python until that is compiled (:mod:`cutnode.playing.first_moves`).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from cutnode.compiler import progress
from cutnode.service.code import CompiledCode
from cutnode.service.failures import Failure, failure_of, report
from cutnode.service.models import Answer, Compiling, Started
from cutnode.service.questions import Key, OnEvent, PooledEngine, Question
from cutnode.service.settings import Settings

COMPILING_SECONDS = 0.5
"""The time between two events about code that a question waits for."""

POLL_SECONDS = 0.02
"""The time between two checks whether all searches have ended."""


class CachedEngine(NamedTuple):
    """An engine, its key, and the MiB that it may take."""

    key: Key
    engine: PooledEngine
    megabytes: int


class EngineCache:
    """The engines of a service, for all its threads; the least recently used are closed first."""

    def __init__(self, room: int):
        self.room = room
        self.megabytes = 0
        self.count = 0
        self._idle: list[CachedEngine] = []
        """The engines that are not lent, the least recently used first."""
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def borrow(self, key: Key) -> Iterator[PooledEngine]:
        """Lend an engine to one caller at a time; :class:`Failure` if memory is short."""
        cached = self._find(key) or self._make(key)
        try:
            yield cached.engine
        finally:
            with self._lock:
                self._idle.append(cached)

    def close(self) -> None:
        """Close the engines that are not lent."""
        with self._lock:
            while self._idle:
                self._discard()

    def _find(self, key: Key) -> CachedEngine | None:
        with self._lock:
            for at in reversed(range(len(self._idle))):
                if self._idle[at].key == key:
                    return self._idle.pop(at)
        return None

    def _make(self, key: Key) -> CachedEngine:
        size = key.room()
        with self._lock:
            while self.megabytes + size > self.room and self._idle:
                self._discard()
            if self.megabytes + size > self.room:
                raise Failure(
                    503, f"another engine needs {size} MiB, more than are free now", wait=1
                )
            self._account(1, size)
        try:
            return CachedEngine(key, key.engine(), size)
        except BaseException:
            with self._lock:
                self._account(-1, -size)
            raise

    def _discard(self) -> None:
        cached = self._idle.pop(0)
        cached.engine.close()
        self._account(-1, -cached.megabytes)

    def _account(self, engines: int, megabytes: int) -> None:
        self.count += engines
        self.megabytes += megabytes


class Run:
    """A running search."""

    def __init__(self, question: Question):
        self.question = question
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.until = time.monotonic() + question.options["seconds"]

    def end(self) -> None:
        """End the search if it still runs; its best result so far is the answer."""
        self.question.stop.set()

    async def wait(self) -> Answer:
        """Wait for the answer; cancelling the wait ends the search."""
        try:
            return await asyncio.shield(self.answer)
        finally:
            self.end()


class SearchPool:
    """The running and waiting searches; everything but the searching runs in the event loop."""

    def __init__(self, settings: Settings, done: Callable[[Question, Answer | None, float], None]):
        self.settings = settings
        self.engines = EngineCache(settings.room)
        self.running: set[Run] = set()
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.closed = False
        self.code = CompiledCode(settings.most_games)
        self._compiling: dict[tuple[Any, ...], asyncio.Future[None]] = {}
        self._failed: set[tuple[Any, ...]] = set()
        """The code that did not compile, for which a level waits, so that its client learns why."""
        self._one_at_a_time = threading.Lock()
        self._free = settings.searches
        self._done = done

    async def start(self, question: Question) -> Run:
        """Wait for a turn, then start the search in a thread of its own.

        Before, the question's *on_event* is called with the progress of a compilation that it waits
        for, and when the search starts.  :class:`Failure` (503) if the queue is full, if the turn
        does not come in time, or if the service stops.
        """
        question = await self._ready(question)
        await self._turn()
        run = Run(question)
        self.running.add(run)
        if question.on_event is not None:
            question.on_event(Started(limits=question.limits))
        loop = asyncio.get_running_loop()
        work = functools.partial(self._work, run, loop)
        threading.Thread(target=work, name="search", daemon=True).start()
        return run

    def is_busy(self) -> bool:
        """Return whether any thread is searching or compiling."""
        return bool(self.running or self._compiling)

    def close(self) -> None:
        """End all searches, and accept no more."""
        self.closed = True
        for run in self.running:
            run.end()
        for future in self._compiling.values():
            if not future.done():
                future.set_exception(_closing())
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_exception(_closing())

    def _compile(self, question: Question) -> None:
        """Compile what a question needs in the calling thread; others wait for it to finish."""
        with self._one_at_a_time, self.engines.borrow(question.key) as engine:
            question.small().ask(engine)
            engine.new_game()  # this short a trial must not choose a session's engine

    def prepare(self, question: Question) -> None:
        """Compile what a question needs before clients ask it; :class:`Failure` if that fails."""
        self.code.claim(question)
        compiled = False
        try:
            self._compile(question)
            compiled = True
        finally:
            self.code.settle(question, compiled=compiled)

    async def wait_until_idle(self, seconds: float) -> None:
        """Wait up to *seconds* until no search runs and the results are on their way."""
        until = time.monotonic() + seconds
        while self.running and time.monotonic() < until:
            await asyncio.sleep(POLL_SECONDS)
        await asyncio.sleep(POLL_SECONDS)

    async def _ready(self, question: Question) -> Question:
        """Wait until the code of a question is compiled, which continues if the client leaves.

        Return the question to ask: of a level, one in plain Python while its code is compiled.
        :class:`Failure` (503) if there are too many games.
        """
        code = question.code
        if question in self.code:
            return question
        if self.closed:
            raise _closing()
        if code not in self._compiling:
            if len(self._compiling) > self.settings.queue:
                raise Failure(
                    503,
                    f"too many games at once: {len(self._compiling)} are being compiled",
                    wait=30,
                )
            self.code.claim(question)
            loop = asyncio.get_running_loop()
            future = self._compiling[code] = loop.create_future()

            def arrive(failure: Failure | None) -> None:
                del self._compiling[code]
                self.code.settle(question, compiled=failure is None)
                if failure is not None:
                    self._failed.add(code)
                if future.done():
                    return  # the service is stopping
                if failure is None:
                    future.set_result(None)
                else:
                    future.set_exception(failure)
                    future.exception()  # retrieved, even if the client has left

            def work() -> None:
                failure = None
                try:
                    self._compile(question)
                except Exception as error:
                    failure = failure_of(error)
                with contextlib.suppress(RuntimeError):  # the event loop has closed meanwhile
                    loop.call_soon_threadsafe(arrive, failure)

            threading.Thread(target=work, name="compile", daemon=True).start()
        early = None if code in self._failed else question.early()
        if early is not None:
            return early
        await _compiled(self._compiling[code], question.on_event)
        return question

    async def _turn(self) -> None:
        if self.closed:
            raise _closing()
        if self._free:
            self._free -= 1
            return
        if len(self.waiting) >= self.settings.queue:
            raise Failure(
                503,
                f"{len(self.running)} searches are running and {len(self.waiting)} are waiting",
                wait=self._soonest(),
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            async with asyncio.timeout(self.settings.seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._pass_on()  # the turn came just as the wait ended
            elif turn in self.waiting:
                self.waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise Failure(
                    503, "no running search ended in time", wait=self._soonest()
                ) from None
            raise

    def _pass_on(self) -> None:
        """Give the turn to the first question in the queue."""
        while self.waiting:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _soonest(self) -> int:
        """Return the seconds until at least one search must be over."""
        until = min((run.until for run in self.running), default=0.0)
        return max(1, math.ceil(until - time.monotonic()))

    def _work(self, run: Run, loop: asyncio.AbstractEventLoop) -> None:
        """Search in the current thread, and hand the result to the event loop."""
        started = time.perf_counter()
        answer: Answer | None = None
        failure: Exception | None = None
        try:
            with self.engines.borrow(run.question.key) as engine:
                answer = run.question.ask(engine)
        except Exception as error:
            failure = error
        spent = time.perf_counter() - started
        with contextlib.suppress(RuntimeError):  # the event loop has closed meanwhile
            loop.call_soon_threadsafe(self._arrive, run, answer, failure, spent)

    def _arrive(
        self, run: Run, answer: Answer | None, failure: Exception | None, spent: float
    ) -> None:
        self.running.discard(run)
        self._pass_on()
        self._done(run.question, answer, spent)
        if answer is not None:
            run.answer.set_result(answer)
            return
        assert failure is not None
        answered = failure_of(failure)
        if answered.status_code == 500:
            report(failure)
        run.answer.set_exception(answered)
        run.answer.exception()  # retrieved, even if the client has left


def _closing() -> Failure:
    return Failure(503, "the service is stopping", error="stopping", wait=5)


async def _compiled(future: asyncio.Future[None], on_event: OnEvent | None) -> None:
    """Wait for code, and call *on_event* with the progress of the compilation."""
    while on_event is not None and not future.done():
        await asyncio.wait({future}, timeout=COMPILING_SECONDS)
        now = progress.running()
        if now is not None and not future.done():
            on_event(Compiling(**now._asdict()))
    await asyncio.shield(future)
