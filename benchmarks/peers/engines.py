"""Single-game programs: chess programs that speak UCI, BitBully, and rust_reversi."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest


def package(name: str, install: str = "") -> Any:
    """Import a package, or skip the benchmark."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{error}: pip install {install or name}")


class UciProgram:
    """A chess program that speaks UCI through pipes."""

    def __init__(self, command: str, hash_size: int = 64):
        words = shlex.split(command)
        if shutil.which(words[0]) is None:
            pytest.skip(f"no program {words[0]!r}; see --uci")
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.write("uci", f"setoption name Hash value {hash_size}", "isready")
        list(self.read_to("readyok"))

    def write(self, *commands: str) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(f"{command}\n" for command in commands))
        self.process.stdin.flush()

    def read_to(self, last: str) -> Iterator[str]:
        """Yield its output up to a line that begins with *last*."""
        assert self.process.stdout
        for line in self.process.stdout:
            yield line
            if line.startswith(last):
                return
        raise EOFError("the chess program ended")

    def perft(self, fen: str, depth: int) -> int:
        """Count with ``go perft``, as Stockfish does."""
        self.write(f"position fen {fen}", f"go perft {depth}")
        *_, line = self.read_to("Nodes searched")
        return int(line.split()[-1])

    def search(self, fen: str, depth: int) -> int:
        """Search from an empty table; return the nodes up to the completed depth."""
        self.write("ucinewgame", f"position fen {fen}", "isready", f"go depth {depth}")
        nodes = 0
        for line in self.read_to("bestmove"):
            facts = dict(re.findall(r"\b(depth|nodes) (\d+)", line))
            if line.startswith("info") and "bound" not in line and len(facts) == 2:
                nodes = int(facts["nodes"])
        return nodes

    def close(self) -> None:
        self.write("quit")
        self.process.communicate(timeout=10)


class BitBully:
    """The Connect Four solver BitBully, without its opening book."""

    def __init__(self) -> None:
        self.package = package("bitbully")
        self.agent = self.package.BitBully(opening_book=None)

    def solve(self, texts: list[str], clock: Any) -> tuple[int, list[int]]:
        """Solve each position from an empty table; clearing it (32 ms) is not timed."""
        self.agent.reset_node_counter()
        values = []
        for text in texts:
            with clock.paused():
                board = self.package.Board([int(column) - 1 for column in text])
                self.agent.reset_transposition_table()
            values.append(self.agent.mtdf(board))
        return self.agent.get_node_counter(), values


class RustReversi:
    """rust_reversi: an alpha-beta search in Rust whose evaluation is the mover's mobility."""

    WIN = 10_000

    def __init__(self) -> None:
        self.package = package("rust_reversi")

    def board(self, position: Any) -> Any:
        turns = self.package.Turn
        board = self.package.Board()
        turn = turns.WHITE if position.white else turns.BLACK
        board.set_board(self.mirrored(position.mine), self.mirrored(position.theirs), turn)
        return board

    @staticmethod
    def mirrored(word: int) -> int:
        """Reverse the bits of a board: rust_reversi has a1 in the highest bit."""
        return int(f"{word:064b}"[::-1], 2)

    def engine(self, depth: int) -> Any:
        return self.package.AlphaBetaSearch(self.package.LegalNumEvaluator(), depth, self.WIN)

    def score(self, position: Any, depth: int) -> int:
        return int(self.engine(depth).get_search_score(self.board(position)))
