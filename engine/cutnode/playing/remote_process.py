"""A player as a program: the process at the other end of :class:`cutnode.playing.remote.Remote`.

Its interpreter and its engine may be another version.  So it is run by its path, and uses only the
standard library and what every version of cutnode has: ``load_game``, ``make_player``, and players
with ``new_game``, ``choose`` and ``search``.

Requests and answers are JSON objects, one a line.  A request has one of the keys

* ``begin``: the name of a game, with ``player``, the text that describes a player, and
  ``package``, the name of the version's package.  The answer says which version it is.
* ``new_game``: a seed.
* ``choose``: a position as text, with ``history``, the texts of earlier positions, where they
  matter.  The answer is a choice, with the move as text, and the ``cpu`` seconds that it took.
* ``search``: the same, by a search without a seed and with empty tables, within the player's
  limits.

An answer with the key ``error`` says in one line what was wrong.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

Answer = dict[str, Any]


class Service:
    """A service that answers the requests to one player."""

    def __init__(self) -> None:
        self.game: Any = None
        self.player: Any = None

    def begin(self, game: str, player: str, package_name: str) -> Answer:
        """Make the player, compiling what it needs."""
        package = importlib.import_module(package_name)
        if not hasattr(package, "make_player"):
            raise RuntimeError("this version is too old: it cannot make a player")
        self.game = package.load_game(game)
        self.player = package.make_player(self.game, player)
        self.player.new_game(0)
        return {
            "package": os.path.dirname(os.path.abspath(str(package.__file__))),
            "cutnode": _installed("cutnode"),
            "python": platform.python_version(),
            "numba": _installed("numba"),
        }

    def new_game(self, seed: int) -> Answer:
        """Begin a game."""
        self.player.new_game(seed)
        return {}

    def choose(self, text: str, history: Sequence[str] = ()) -> Answer:
        """Choose a move; a version whose players know no history does without it."""
        known = history and "history" in inspect.signature(self.player.choose).parameters
        line = {"history": [self.game.parse(before) for before in history]} if known else {}
        return self._timed(text, lambda position: self.player.choose(position, **line))

    def search(self, text: str) -> Answer:
        """Search as the player does; the game's order decides between moves of equal score."""
        return self._timed(text, self.player.search)

    def _timed(self, text: str, search: Callable[[Any], Any]) -> Answer:
        position = self.game.parse(text)
        begun = time.process_time()
        found = search(position)
        cpu = time.process_time() - begun
        move = found.best_move if hasattr(found, "best_move") else found.move
        leaves = getattr(getattr(found, "statistics", None), "leaves", None)
        return {
            "move": None if move is None else self.game.notation.move_text(position, move),
            "value": found.value,
            "depth": found.depth,
            "nodes": found.nodes,
            **({} if leaves is None else {"leaves": leaves}),
            "seconds": found.seconds,
            "cpu": cpu,
            "reason": found.reason,
        }


def _installed(package: str) -> str:
    from importlib import metadata

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""


def _answer(service: Service, request: Answer) -> Answer:
    try:
        if "begin" in request:
            return service.begin(request["begin"], request["player"], request["package"])
        name, *_ = request
        answer: Answer = getattr(service, name)(request.pop(name), **request)
        return answer
    except Exception as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        ours = type(error).__module__.partition(".")[0] in {"cutnode", "engine"}
        return {"error": said if ours else f"{type(error).__name__}: {said}"}


def main() -> None:
    """Answer requests from standard input; exit when it ends, even in the middle of a search."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the calling process
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a game prints goes to standard error
    requests: SimpleQueue[Answer] = SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            requests.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    service = Service()
    while True:
        answers.write(json.dumps(_answer(service, requests.get())) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
