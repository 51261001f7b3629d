"""The same trees searched by other Python packages: node counts that agree, and CPU time.

Work.  Tic-tac-toe from the empty board to the end, and Connect Four from the empty board
to some depths, with the evaluation ``cells`` (each stone counts the lines of four through
its cell).  Plain alpha-beta with the full window, moves in natural order, no table: then
every program has to visit the same positions, so the counts tell whether two programs do
the same.  Counts are positions visited, the root included; a position is counted when it
is made.  Each program also has to find the same move, and the same score if it tells it.

Wins.  Some programs score every win alike, others prefer the quicker one, which changes
what is cut off.  Each is compared with cutnode under its own convention.

Peers.  Those without a game of their own get rules written for them below, in plain Python
on integers as bit boards, with an evaluation that is kept up to date by each move: about
as fast as such rules get.  What is timed is the package's own search, without counting.
OpenSpiel has both games, in C++; its alpha-beta in C++ is not part of the package on PyPI,
so its search runs in Python.

Times.  CPU time of the process.  The programs take turns, and each figure is the median of
its rounds; short searches are repeated within a round.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from statistics import median
from typing import Any, NamedTuple

from engine.contract.errors import CutnodeError
from engine.contract.legal import legal_moves
from engine.contract.loading import load_game
from engine.contract.verbs import play
from engine.lab.measuring import INTERRUPTED, Progress, no_progress
from engine.lab.study import Column, Study
from engine.search.api import alphabeta
from engine.search.searcher import Searcher

__all__ = ["PEERS", "draw", "peers"]

WIN = 10_000
"""A win in the programs that have no scale of their own."""

SHORTEST = 0.02
"""Searches are repeated for so many CPU seconds in each round."""

BASELINE = "cutnode alphabeta"
"""Times are compared with those of this program, under the same convention for wins."""


@dataclass(frozen=True, slots=True)
class Work:
    """A game, and how deep it is searched."""

    game: str
    depth: int


DEEPEST = {"tictactoe": 9, "connect4": 42}
"""The games, and the plies after which they are over."""


class Found(NamedTuple):
    """What a program says: the best move, and the score; None for what it does not tell."""

    move: int | None
    score: float | None


class Count(NamedTuple):
    found: Found
    nodes: int


@dataclass(frozen=True, slots=True)
class Program:
    """A search of some package, ready to run."""

    name: str
    quickest: bool
    """Whether quicker wins count more."""
    same: bool
    """Whether it is plain alpha-beta, so that counts have to agree."""
    count: Callable[[Work], Count]
    run: Callable[[Work], Found]


@dataclass(frozen=True, slots=True)
class Peer:
    """A package that may be installed."""

    package: str
    """Its name on PyPI."""
    module: str
    """What is imported."""
    install: str
    make: Callable[[], list[Program]]


def peers(
    games: Iterable[str] = ("tictactoe", "connect4"),
    depths: Iterable[int] = (6, 8),
    *,
    packages: Iterable[str] | None = None,
    runs: int = 3,
    progress: Progress = no_progress,
) -> Study:
    """Search the same trees with other packages: nodes, agreement, and CPU time.

    *depths* are those of Connect Four.  *packages* are names of :data:`PEERS`, by default
    all; one that is not installed has a row that says how to get it.
    """
    chosen = _packages(packages)
    works = list(_works(games, depths))
    if runs < 1:
        raise CutnodeError(f"a comparison has at least 1 run, not {runs}")
    programs = _cutnode()
    missing: list[dict[str, Any]] = []
    for peer in chosen:
        found, reason = _load(peer)
        programs += found
        if reason:
            missing.append({"program": peer.package, "note": reason})
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    try:
        for done, work in enumerate(works):
            progress(f"{work.game}, depth {work.depth}", done, len(works))
            rows += _compare(work, programs, runs)
    except KeyboardInterrupt:
        notes.append(INTERRUPTED)
    if any(row.get("agrees") == "NO" for row in rows):
        notes.append("A program disagrees: its times are not those of the same work.")
    return Study(
        name="peers",
        about="The same trees in other packages: plain alpha-beta, moves in natural order",
        settings={
            "game": ", ".join(dict.fromkeys(work.game for work in works)),
            "depths": [work.depth for work in works if work.game == "connect4"],
            "packages": [_label(peer.package) for peer in chosen],
            "runs": runs,
        },
        columns=(
            Column("game"),
            Column("depth", "plies", "d"),
            Column("program", "package and search"),
            Column("wins", "flat: all alike; quickest: a quicker win counts more"),
            Column("nodes", "positions visited", ",d"),
            Column("agrees", "nodes, move and score are those of cutnode's alpha-beta"),
            Column("ms", "CPU time in milliseconds, median", ",.3f"),
            Column("least", "CPU time in milliseconds, of the quickest round", ",.3f"),
            Column("most", "CPU time in milliseconds, of the slowest round", ",.3f"),
            Column("rate", "thousand nodes per CPU second", ",.0f"),
            Column("ratio", f"CPU time / that of {BASELINE}", ",.1f"),
            Column("note"),
        ),
        rows=rows + missing,
        notes=(
            "Connect Four is evaluated by the lines of four through each stone; tic-tac-toe is "
            "searched to the end.",
            "cutnode search: all techniques that leave scores as they are; another algorithm, "
            "so only its score has to agree.",
            *notes,
        ),
    )


def _packages(names: Iterable[str] | None) -> list[Peer]:
    if names is None:
        return list(PEERS.values())
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in PEERS:
            raise CutnodeError(f"there is no peer {name!r}; peers are {', '.join(PEERS)}")
    return [PEERS[name] for name in chosen]


def _works(games: Iterable[str], depths: Iterable[int]) -> Iterator[Work]:
    for game in dict.fromkeys(games):
        if game not in DEEPEST:
            raise CutnodeError(f"peers are compared on {', '.join(DEEPEST)}, not on {game!r}")
        if game == "tictactoe":
            yield Work(game, DEEPEST[game])
            continue
        for depth in dict.fromkeys(depths):
            if not 1 <= depth < DEEPEST[game]:
                raise CutnodeError(
                    f"a depth of this comparison is 1..{DEEPEST[game] - 1}, not {depth}"
                )
            yield Work(game, depth)


def _load(peer: Peer) -> tuple[list[Program], str]:
    """The programs of a package, or why there are none."""
    try:
        importlib.import_module(peer.module)
        return peer.make(), ""
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == peer.module.partition(".")[0]:
            return [], f"not installed: {peer.install}"
        return [], f"does not import: {error}"
    except Exception as error:
        return [], f"does not import: {type(error).__name__}: {error}"


def _label(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def _compare(work: Work, programs: Sequence[Program], runs: int) -> list[dict[str, Any]]:
    """Count with each program, then time them in turn."""
    references = {quickest: reference(work, quickest) for quickest in (False, True)}
    counts: list[Count] = []
    failed: list[dict[str, Any]] = []
    able: list[Program] = []
    for program in programs:
        try:
            counts.append(program.count(work))
            able.append(program)
        except Exception as error:
            row = {"game": work.game, "depth": work.depth, "program": program.name}
            failed.append(row | {"note": f"failed: {type(error).__name__}: {error}"})
    programs = able
    agrees = [
        _agreement(program, count, references[program.quickest])
        for program, count in zip(programs, counts, strict=True)
    ]
    repeats = [_repeats(program, work) for program in programs]
    spent: list[list[float]] = [[] for _ in programs]
    for _ in range(runs):
        for program, count, times, often in zip(programs, counts, spent, repeats, strict=True):
            started = time.process_time()
            for _ in range(often):
                found = program.run(work)
            times.append((time.process_time() - started) / often * 1e3)
            if found != count.found:
                raise CutnodeError(f"{program.name} found {found} and, counting, {count.found}")
    baselines = {
        program.quickest: median(times)
        for program, times in zip(programs, spent, strict=True)
        if program.name == BASELINE
    }
    return [
        {
            "game": work.game,
            "depth": work.depth,
            "program": program.name,
            "wins": "quickest" if program.quickest else "flat",
            "nodes": count.nodes,
            "agrees": agreement,
            "ms": median(times),
            "least": min(times),
            "most": max(times),
            "rate": count.nodes / median(times),
            "ratio": median(times) / baselines[program.quickest],
        }
        for program, count, agreement, times in zip(programs, counts, agrees, spent, strict=True)
    ] + failed


def _repeats(program: Program, work: Work) -> int:
    """How often a search fits into a round."""
    started = time.process_time()
    program.run(work)
    spent = time.process_time() - started
    return max(1, round(SHORTEST / max(spent, 1e-5)))


def _agreement(program: Program, count: Count, reference: Count) -> str:
    """Whether a program did what cutnode's textbook alpha-beta does."""
    (move, score), (best, expected) = count.found, reference.found
    same = score is None or expected is None or _plain(score) == _plain(expected)
    if program.same:
        same &= count.nodes == reference.nodes and move in (best, None)
    return "yes" if same else "NO"


def _plain(score: float) -> float:
    """A score as all programs tell it: of wins only who wins, and no rounding errors."""
    return max(-WIN, min(round(score, 6), WIN))


# cutnode


def reference(work: Work, quickest: bool) -> Count:
    """What textbook alpha-beta counts, and the first of the best moves."""
    start, options = load_game(work.game).start(), _options(work, quickest)
    result = alphabeta(start, work.depth, **options)
    children = {move: play(start, move) for move in legal_moves(start)}
    scores = {
        move: -alphabeta(child, work.depth - 1, **options).value for move, child in children.items()
    }
    best = max(scores, key=lambda move: scores[move])
    return Count(Found(best, result.value), result.nodes)


def _options(work: Work, quickest: bool) -> dict[str, Any]:
    return {"evaluation": "cells" if work.game == "connect4" else None, "soonest": quickest}


def _cutnode() -> list[Program]:
    def plain(quickest: bool) -> Program:
        def count(work: Work) -> Count:
            start = load_game(work.game).start()
            result = alphabeta(start, work.depth, **_options(work, quickest))
            return Count(Found(None, result.value), result.nodes)

        return Program(BASELINE, quickest, True, count, lambda work: count(work).found)

    engines: dict[str, Searcher] = {}

    def search(work: Work) -> Count:
        start = load_game(work.game).start()
        if work.game not in engines:
            engines[work.game] = Searcher(start, exact=True, **_options(work, True))
        engines[work.game].clear()
        result = engines[work.game].search(start, depth=work.depth)
        return Count(Found(None, result.value), result.nodes)

    every = Program("cutnode search", True, False, search, lambda work: search(work).found)
    return [plain(False), plain(True), every]


# Rules in plain Python, for packages that have no games


LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
"""The lines of tic-tac-toe, three cells each."""

WIDTH, HEIGHT, STRIDE = 7, 6, 7
"""Connect Four; cell (column, row) is bit column * STRIDE + row."""


def _weights() -> tuple[int, ...]:
    """How many lines of four go through each cell."""
    weights = [0] * (WIDTH * STRIDE)
    for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for column in range(WIDTH):
            for row in range(HEIGHT):
                line = [(column + right * step, row + up * step) for step in range(4)]
                if all(x < WIDTH and 0 <= y < HEIGHT for x, y in line):
                    for x, y in line:
                        weights[x * STRIDE + y] += 1
    return tuple(weights)


WEIGHTS = _weights()


def has_four(stones: int) -> bool:
    for step in (1, STRIDE, STRIDE + 1, STRIDE - 1):
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


class State(NamedTuple):
    """A position of either game, for packages that want positions never to change."""

    mine: int
    theirs: int
    ply: int
    balance: int
    """Connect Four's evaluation, for the player to move."""
    heights: tuple[int, ...]
    """Connect Four's columns."""


EMPTY = State(0, 0, 0, 0, (0,) * WIDTH)


class TicTacToe:
    """Rules over states."""

    @staticmethod
    def moves(state: State) -> list[int]:
        filled = state.mine | state.theirs
        return [cell for cell in range(9) if not filled >> cell & 1]

    @staticmethod
    def play(state: State, move: int) -> State:
        return State(state.theirs, state.mine | 1 << move, state.ply + 1, 0, ())

    @staticmethod
    def is_lost(state: State) -> bool:
        """Whether the player who moved last has won."""
        theirs = state.theirs
        return any(theirs & line == line for line in LINES)

    @staticmethod
    def is_full(state: State) -> bool:
        return state.ply == 9


class ConnectFour:
    """Rules over states."""

    @staticmethod
    def moves(state: State) -> list[int]:
        return [column for column, height in enumerate(state.heights) if height < HEIGHT]

    @staticmethod
    def play(state: State, move: int) -> State:
        heights = state.heights
        height = heights[move]
        cell = move * STRIDE + height
        return State(
            state.theirs,
            state.mine | 1 << cell,
            state.ply + 1,
            -state.balance - WEIGHTS[cell],
            (*heights[:move], height + 1, *heights[move + 1 :]),
        )

    @staticmethod
    def is_lost(state: State) -> bool:
        return has_four(state.theirs)

    @staticmethod
    def is_full(state: State) -> bool:
        return state.ply == WIDTH * HEIGHT


RULES: dict[str, Any] = {"tictactoe": TicTacToe, "connect4": ConnectFour}


def score_of(rules: Any, state: State) -> int:
    """The score of a position where a line ends, for the player to move."""
    if rules.is_lost(state):
        return -WIN
    return 0 if rules.is_full(state) else state.balance


# easyAI


class MutableTicTacToe:
    """The methods that easyAI asks for; moves are made and taken back."""

    def __init__(self, players: Any = None) -> None:
        self.players = players
        self.current_player = 1
        self.marks = [0, 0, 0]

    def possible_moves(self) -> list[int]:
        filled = self.marks[1] | self.marks[2]
        return [cell for cell in range(9) if not filled >> cell & 1]

    def make_move(self, move: int) -> None:
        self.marks[self.current_player] |= 1 << move

    def unmake_move(self, move: int) -> None:
        self.marks[self.current_player] &= ~(1 << move)

    def lose(self) -> bool:
        theirs = self.marks[3 - self.current_player]
        return any(theirs & line == line for line in LINES)

    def is_over(self) -> bool:
        return self.marks[1] | self.marks[2] == 0o777 or self.lose()

    def scoring(self) -> int:
        return -WIN if self.lose() else 0

    def ttentry(self) -> Any:
        return tuple(self.marks)

    def ttrestore(self, entry: Any) -> None:
        self.marks = list(entry)


class MutableConnectFour:
    """The same for Connect Four."""

    def __init__(self, players: Any = None) -> None:
        self.players = players
        self.current_player = 1
        self.stones = [0, 0, 0]
        self.heights = [0] * WIDTH
        self.left = WIDTH * HEIGHT
        self.balance = 0  # the evaluation, for player 1

    def possible_moves(self) -> list[int]:
        return [column for column, height in enumerate(self.heights) if height < HEIGHT]

    def make_move(self, move: int) -> None:
        cell = move * STRIDE + self.heights[move]
        self.heights[move] += 1
        self.left -= 1
        self.stones[self.current_player] |= 1 << cell
        self.balance += WEIGHTS[cell] if self.current_player == 1 else -WEIGHTS[cell]

    def unmake_move(self, move: int) -> None:
        self.heights[move] -= 1
        cell = move * STRIDE + self.heights[move]
        self.left += 1
        self.stones[self.current_player] ^= 1 << cell
        self.balance -= WEIGHTS[cell] if self.current_player == 1 else -WEIGHTS[cell]

    def lose(self) -> bool:
        return has_four(self.stones[3 - self.current_player])

    def is_over(self) -> bool:
        return self.left == 0 or self.lose()

    def scoring(self) -> int:
        if self.lose():
            return -WIN
        if self.left == 0:
            return 0
        return self.balance if self.current_player == 1 else -self.balance

    def ttentry(self) -> Any:
        return tuple(self.stones), tuple(self.heights), self.left, self.balance

    def ttrestore(self, entry: Any) -> None:
        stones, heights, self.left, self.balance = entry
        self.stones, self.heights = list(stones), list(heights)


MUTABLE: dict[str, Any] = {"tictactoe": MutableTicTacToe, "connect4": MutableConnectFour}


def _easyai() -> list[Program]:
    easyai: Any = importlib.import_module("easyAI")
    classes = {
        name: type(rules.__name__, (rules, easyai.TwoPlayerGame), {})
        for name, rules in MUTABLE.items()
    }

    def counting(rules: Any) -> Any:
        def make_move(self: Any, move: int) -> None:
            counted.made += 1
            rules.make_move(self, move)

        counted: Any = type(
            f"Counted{rules.__name__}", (rules,), {"make_move": make_move, "made": 0}
        )
        return counted

    def program(name: str, quickest: bool) -> Program:
        search = getattr(easyai, name)

        def run(work: Work, rules: Any = None) -> Found:
            game = (rules or classes[work.game])()
            brain = search(work.depth)
            move = brain(game)
            return Found(int(move), brain.alpha)

        def count(work: Work) -> Count:
            rules = counting(classes[work.game])
            found = run(work, rules)
            return Count(found, 1 + rules.made)

        return Program(f"easyAI {name}", quickest, True, count, run)

    # Negamax adds to the score of a win for each ply that is left; the other does not.
    programs = [program("Negamax", True)]
    if hasattr(easyai, "NonRecursiveNegamax"):
        programs.append(program("NonRecursiveNegamax", False))
    return programs


# OpenSpiel


class Counted:
    """A state of OpenSpiel that counts the moves made from it on."""

    def __init__(self, state: Any, made: list[int]):
        self.state = state
        self.made = made

    def clone(self) -> Counted:
        return Counted(self.state.clone(), self.made)

    def apply_action(self, action: int) -> None:
        self.made[0] += 1
        self.state.apply_action(action)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)


def _openspiel() -> list[Program]:
    pyspiel: Any = importlib.import_module("pyspiel")
    minimax: Any = importlib.import_module("open_spiel.python.algorithms.minimax")
    names = {"tictactoe": "tic_tac_toe", "connect4": "connect_four"}

    def cells(state: Any) -> float:
        """The evaluation for the first player, where a win is 1."""
        heights = [0] * WIDTH
        balance, sign = 0, 1
        for column in state.history():
            balance += sign * WEIGHTS[column * STRIDE + heights[column]]
            heights[column] += 1
            sign = -sign
        return balance / WIN

    def run(work: Work, made: list[int] | None = None) -> Found:
        game = pyspiel.load_game(names[work.game])
        state = game.new_initial_state()
        score, move = minimax.alpha_beta_search(
            game,
            state=state if made is None else Counted(state, made),
            value_function=cells if work.game == "connect4" else None,
            maximum_depth=work.depth,
        )
        return Found(int(move), score * WIN)

    def count(work: Work) -> Count:
        made = [0]
        return Count(run(work, made), 1 + made[0])

    return [Program("OpenSpiel alpha_beta_search", False, True, count, run)]


# The textbook of S. Russell and P. Norvig


def _aima() -> list[Program]:
    aima: Any = importlib.import_module("aima3.games")

    class Rules:
        """The methods that the textbook's search asks for; the first player is maximized."""

        def __init__(self, rules: Any) -> None:
            self.rules = rules
            self.made = 0
            self.actions = rules.moves
            self.result = rules.play

        def to_move(self, state: State) -> int:
            return state.ply % 2

        def terminal_test(self, state: State) -> bool:
            return bool(self.rules.is_lost(state) or self.rules.is_full(state))

        def score(self, state: State) -> int:
            score = score_of(self.rules, state)
            return -score if state.ply % 2 else score

        def count_result(self, state: State, move: int) -> State:
            self.made += 1
            played: State = self.rules.play(state, move)
            return played

    def search(work: Work, game: Rules) -> Found:
        move = aima.alphabeta_cutoff_search(
            EMPTY,
            game,
            cutoff_test=lambda state, depth: depth == work.depth or game.terminal_test(state),
            eval_fn=game.score,
        )
        return Found(int(move), None)

    def run(work: Work) -> Found:
        return search(work, Rules(RULES[work.game]))

    def count(work: Work) -> Count:
        game = Rules(RULES[work.game])
        game.result = game.count_result
        return Count(search(work, game), 1 + game.made)

    return [Program("aima3 alphabeta_cutoff_search", False, True, count, run)]


PEERS = {
    peer.package: peer
    for peer in (
        Peer("easyAI", "easyAI", "pip install easyAI", _easyai),
        Peer("open_spiel", "pyspiel", "pip install open_spiel", _openspiel),
        # It asks for all of Jupyter, which its search does not need.
        Peer("aima3", "aima3.games", "pip install tqdm; pip install --no-deps aima3", _aima),
    )
}
"""The packages with a search of any game, by their names on PyPI."""


def draw(study: Study, figure: Any) -> None:
    """CPU time beside cutnode's, logarithmic; a panel for each tree."""
    rows = [row for row in study.rows if "ratio" in row]
    works = list(dict.fromkeys((row["game"], row["depth"]) for row in rows))
    figure.set_size_inches(7, 0.6 + 1.7 * len(works))
    grid = figure.subplots(len(works), 1, sharex=True, squeeze=False)
    for work, axes in zip(works, grid[:, 0], strict=True):
        shown = [row for row in rows if (row["game"], row["depth"]) == work]
        names = [f"{row['program']} ({row['wins']})" for row in shown]
        colours = ["#3b6ea5" if name.startswith("cutnode") else "#888888" for name in names]
        bars = axes.barh(names, [row["ratio"] for row in shown], color=colours, height=0.7)
        axes.bar_label(bars, [f" {row['ratio']:,.1f}" for row in shown], fontsize=7)
        axes.set_xscale("log")
        axes.set_xlim(right=max(row["ratio"] for row in shown) * 3)
        axes.invert_yaxis()
        axes.set_title(f"{work[0]}, depth {work[1]}", loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    grid[-1, 0].set_xlabel("CPU time / that of cutnode's alpha-beta (logarithmic)")
