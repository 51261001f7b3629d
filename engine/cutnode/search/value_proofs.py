"""Proofs of values as data: an answer to every reply, checked by the rules of the game alone.

The strategy of a long proof fits no file.  It can end at *leaves* instead, positions that a search
of some seconds proves again.

Files store proofs as JSON lines.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Self, Unpack

import numpy as np

from cutnode.contract.collection import game_names
from cutnode.contract.derived import legal_moves, most_value, recurs
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import (
    CutnodeError,
    GameError,
    require_at_least,
    require_integer,
    require_iterable,
    require_path,
    shown,
)
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import require_draws
from cutnode.contract.verbs import drawn, moves_again, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import Limits, ThreadTask, run
from cutnode.search.api import solve
from cutnode.search.board import given_position
from cutnode.search.game_solver import GameSolver, require_value
from cutnode.search.loops import has_loops
from cutnode.search.options import LimitKeywords, QuestionOptions
from cutnode.search.proof_numbers import Questions
from cutnode.search.proofs import Proof
from cutnode.search.results import Result
from cutnode.search.solving import Resources, table_for
from cutnode.search.sums import proof_solver
from cutnode.storage.files import write_whole
from cutnode.storage.tables import Table


@dataclass(frozen=True, slots=True)
class ValueProof:
    """A proof that a player can secure at least some value, whatever the opponent does.

    ``len`` is the number of positions with an answer.
    """

    position: Any
    """The position."""
    least: int
    """The value that the player secures, for him."""
    mover: bool
    """Whether the player is to move in the position."""
    answers: Mapping[Any, int]
    """The player's move in each position that can arise when he follows the proof."""
    leaves: Mapping[Any, bool] = field(default_factory=dict)
    """The positions that end the strategy before the end of the game, and whether he moves there.
    """

    def __len__(self) -> int:
        return len(self.answers)

    def claim(self) -> str:
        """Return in words what the proof claims, for the player to move in the position."""
        return f"value >= {self.least}" if self.mover else f"value <= {-self.least}"

    def verify(self) -> None:
        """Check the proof by the rules of the game alone; raise :class:`CutnodeError` if it fails.

        Every answer must be a legal move, every legal reply must have an answer, and every line
        must end with at least the claimed value; a line that repeats a position is a draw.  Lines
        may also end at leaves, which :meth:`prove_leaves` proves again.
        """
        done: set[Any] = set()
        line: set[Any] = set()
        waiting = [(self.position, self.mover, False)]
        while waiting:
            position, mine, left = waiting.pop()
            node = position, mine
            if left:
                line.discard(node)
                done.add(node)
            elif node in line:
                self._require(0, position, "play can repeat it")
            elif node not in done:
                children = self._children(position, mine)
                if children:
                    line.add(node)
                    waiting.append((position, mine, True))
                    waiting += [(child, whose, False) for child, whose in children]

    def _children(self, position: Any, mine: bool) -> list[tuple[Any, bool]]:
        """Return the positions that can follow, and whether the player moves there."""
        if self._ends(position, mine) or self.leaves.get(position) is mine:
            return []
        moves = legal_moves(position)
        if mine:
            answer = self.answers.get(position)
            if answer is None:
                raise self._wrong(position, "there is no answer")
            if answer not in moves:
                raise self._wrong(position, "the answer is not a legal move")
            moves = [answer]
        children = [play(position, move) for move in moves]
        return [(child, mine == moves_again(position, child)) for child in children]

    def prove_leaves(
        self,
        sample: int | None = None,
        *,
        seed: int = 0,
        threads: int = 1,
        table: int = 64,
        engine: str | None = None,
        progress: Callable[[int], None] | None = None,
        **limits: Unpack[LimitKeywords],
    ) -> int:
        """Prove the leaves again, each from an empty table of *table* MiB; return their number.

        With *sample*, prove at most that number of leaves, drawn by *seed*.  The *engine* is as for
        :func:`cutnode.solve`; *limits* are for each leaf.  *progress* is called with the number of
        leaves done.  Raise :class:`CutnodeError` if one has another value, or is not proven.
        """
        require_at_least(threads, 1, "threads")
        chosen = list(self.leaves)
        if sample is not None and require_at_least(sample, 0, "a sample") < len(chosen):
            chosen = Random(seed).sample(chosen, sample)
        waiting, stop = iter(chosen), threading.Event()
        lock = threading.Lock()
        done = 0

        def work() -> None:
            nonlocal done
            own = Table(table)
            while not stop.is_set():
                with lock:
                    position = next(waiting, None)
                if position is None:
                    return
                mine = self.leaves[position]
                target = self.least if mine else 1 - self.least
                own.forget()
                options: Any = {"stop": stop} | limits
                answer = solve(position, at_least=target, table=own, engine=engine, **options)
                if stop.is_set():
                    return
                if answer.answer is None:
                    raise self._wrong(position, f"the leaf is not proven ({answer.reason})")
                if answer.answer != mine:
                    raise self._wrong(position, "the leaf has another value")
                with lock:
                    done += 1
                    if progress is not None:
                        progress(done)

        if run([ThreadTask(work, stop.set) for _ in range(min(threads, len(chosen)))]):
            raise KeyboardInterrupt
        return done

    def _ends(self, position: Any, mine: bool) -> bool:
        """Return whether a line ends here; raise if the player has too little at its end."""
        over, value = outcome(position)
        if over:
            self._require(value if mine else -value, position, "it is over")
        elif position != self.position and drawn(position):
            self._require(0, position, "it is drawn by a rule")
        else:
            return False
        return True

    def _require(self, value: int, position: Any, what: str) -> None:
        if value < self.least:
            raise self._wrong(position, f"{what}, with {value} for the player, not {self.least}")

    def _wrong(self, position: Any, what: str) -> CutnodeError:
        return CutnodeError(f"the proof is wrong at {position_text(position)}: {what}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        leaves = {position_text(position): mine for position, mine in self.leaves.items()}
        return {
            "game": game_name(type(self.position)),
            "position": position_text(self.position),
            "least": self.least,
            "mover": self.mover,
            "answers": {
                position_text(position): move_text(position, move)
                for position, move in self.answers.items()
            },
            **({"leaves": leaves} if leaves else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], game: Game) -> Self:
        """Make a proof from the data of :meth:`to_dict`, without verifying it.

        Raise :class:`CutnodeError` for texts that are not positions or moves of the *game*.
        """
        answers = {}
        for text, move in data["answers"].items():
            position = game.parse(text)
            answers[position] = game.parse_move(position, move)
        least, mover = require_integer(data["least"], "a value"), data["mover"]
        leaves = {game.parse(text): mine for text, mine in data.get("leaves", {}).items()}
        if not all(isinstance(each, bool) for each in (mover, *leaves.values())):
            raise TypeError("mover and leaves must be true or false")
        return cls(game.parse(data["position"]), least, mover, answers, leaves)


def claims(result: Result) -> list[dict[str, int]]:
    """Return the claims that prove a result, as keywords of :func:`write_proof`.

    They are its answer to a question, or bounds of its value on both sides, except at the ends of
    the game's range of values.
    """
    if result.at_least is not None:
        yes = result.answer
        return [{"at_least": result.at_least} if yes else {"at_most": result.at_least - 1}]
    value, most = result.lower, 1 if result.weak else most_value(result.position)
    found = [{"at_least": value}] if value > -most else []
    return found + ([{"at_most": value}] if value < most else [])


def write_proof(
    position: Any,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    positions: int = 1_000_000,
    leaf_nodes: int | None = None,
    engine: str | None = None,
    table: Table | int | None = None,
    **limits: Unpack[LimitKeywords],
) -> ValueProof:
    """Find a proof that the value is *at_least* or *at_most* some number; give one of the two.

    A df-pn search follows every line to its end.  With *leaf_nodes*, lines end at positions that an
    *engine*, by default the game's usual one, proves with about that number of nodes or fewer; a
    *table* that still holds the proof of the position saves finding it again.

    Raise :class:`CutnodeError` if the claim is false, if a limit is reached first (the message
    names the open question and its proof numbers), or if more than *positions* positions need an
    answer.  Raise :class:`GameError` for claims of wins in games with cycles, which
    :func:`cutnode.prove_win` proves.
    """
    if (at_least is None) == (at_most is None):
        raise CutnodeError("a proof needs either at_least or at_most")
    position = coerce(given_position(position))
    mover = at_least is not None
    claimed = at_least if at_least is not None else at_most
    least = require_integer(claimed, "a value") * (1 if mover else -1)
    require_value(position, claimed)
    require_draws(type(position), "a written proof")
    if least > 0 and recurs(position):
        raise GameError(
            f"{game_name(type(position))} has cycles, so no strategy for a win can be written; "
            f"prove_win() and `cutnode mate` prove wins within a number of moves"
        )
    answers: dict[Any, int] = {}
    leaves: dict[Any, bool] = {}
    proof = ValueProof(position, least, mover, answers, leaves)
    if leaf_nodes is None and engine not in (None, "pn"):
        raise CutnodeError(f"a proof to the end of every line needs engine=pn, got {engine}")
    with table_for(table) as held:
        questions: Questions | Leaves
        if leaf_nodes is None:
            solver = proof_solver(Resources(type(position), held))
            questions = Questions(solver, position, False, Limits(**limits))
        else:
            require_at_least(leaf_nodes, 1, "leaf_nodes")
            questions = Leaves(held, position, engine, leaf_nodes, Limits(**limits))
        _require_true(questions, proof)
        seen = {(position, mover)}
        waiting = [(position, mover)]
        while waiting:
            met, mine = waiting.pop()
            if met is not position and not proof._ends(met, mine):
                target = least if mine else 1 - least
                if isinstance(questions, Leaves) and questions.is_leaf(met, target):
                    leaves[met] = mine
                    continue
            if mine and not proof._ends(met, mine):
                answers[met] = questions.move_for(met, least)
                if len(answers) + len(leaves) > positions:
                    raise CutnodeError(f"the proof has more than {positions:,} positions")
            for node in proof._children(met, mine):
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
    return proof


class Leaves:
    """Questions about a position and those below it, for a strategy that ends at leaves."""

    def __init__(
        self, table: Table, position: Any, engine: str | None, leaf_nodes: int, limits: Limits
    ):
        if has_loops(type(position)):
            raise GameError(
                f"{game_name(type(position))} has cycles: its strategies cannot end at leaves"
            )
        if engine == "auto":
            raise CutnodeError("a proof with leaves needs one engine, not auto")
        self.solver = GameSolver(type(position), table)
        self.options = QuestionOptions(engine=engine).of_game(type(position))
        self.table = table
        self.leaf_nodes = leaf_nodes
        self.limits = limits
        self.clock = Clock(limits.seconds)
        self.nodes = self._nodes_kept = 0
        self._kept: np.ndarray | None = None

    def _keep(self) -> None:
        """Keep the entries above the leaves, which the table would replace first.

        They are from an earlier search.  Putting them back takes less time than the nodes before.
        """
        if self._kept is None:
            self._kept = self.table.entries(self.leaf_nodes.bit_length())
        elif self.nodes - self._nodes_kept > len(self._kept):
            margins = self.table.margins
            self.table.put_back(self._kept, during=True)
            self.table.margins, self._nodes_kept = margins, self.nodes

    def ask(self, position: Any, target: int, nodes: int | None = None) -> Result:
        """Ask whether the value of a position is at least *target*, with at most *nodes* nodes."""
        left = None if self.limits.nodes is None else max(self.limits.nodes - self.nodes, 1)
        most = [number for number in (nodes, left) if number is not None]
        seconds = None if self.limits.seconds is None else max(self.clock.left(), 1e-3)
        options = replace(
            self.options,
            at_least=target,
            nodes=min(most, default=None),
            seconds=seconds,
            stop=self.limits.stop,
        )
        self._keep()
        result = self.solver.prove("solve", position, options)
        self.nodes += result.nodes
        return result

    def is_leaf(self, position: Any, target: int) -> bool:
        """Return whether few nodes answer a question, by what the table says of its work."""
        known = self.solver.work(position, target, self.options.engine)
        if 1 << known > self.leaf_nodes:
            return False
        return self.ask(position, target, self.leaf_nodes).answer is not None

    def holds(self, position: Any, least: int) -> bool:
        """Return whether the value is at least *least*; raise :class:`CutnodeError` at a limit."""
        return self._answered(position, least).answer is True

    def move_for(self, position: Any, least: int) -> int:
        """Return a move that secures a value of at least *least*; raise if there is none."""
        result = self._answered(position, least)
        if not result.answer or result.best_move is None:
            raise CutnodeError(f"the value is less than {least} at {position_text(position)}")
        return result.best_move

    def _answered(self, position: Any, least: int) -> Result:
        result = self.ask(position, least)
        if result.answer is None:
            raise CutnodeError(f"no proof yet: {result.reason}, at {position_text(position)}")
        return result


def _require_true(questions: Questions | Leaves, proof: ValueProof) -> None:
    """Raise :class:`CutnodeError` if the claim of a proof is false."""
    position, least = proof.position, proof.least
    target = least if proof.mover else 1 - least
    over, value = outcome(position)
    if (value >= target if over else questions.holds(position, target)) != proof.mover:
        has = f"less than {least}" if proof.mover else f"more than {-least}"
        raise CutnodeError(f"the value is {has} at {position_text(position)}")


FORM = "cutnode_proof"
"""The key that marks a proof of a value in a file."""

VERSION, WITH_LEAVES = 1, 2
"""The version of the format of proofs, and of proofs with leaves."""


def save_proofs(path: str | os.PathLike[str], proofs: Sequence[ValueProof]) -> None:
    """Write proofs of values to a file as JSON lines; the file appears complete or not at all.

    Each proof is verified as it will be read.  Raise :class:`CutnodeError` if one is wrong.
    """
    lines = []
    for proof in require_iterable(proofs, "proofs"):
        if not isinstance(proof, ValueProof):
            raise CutnodeError(f"proofs must come from write_proof, got {shown(proof)}")
        data = proof.to_dict()
        ValueProof.from_dict(data, Game.of(proof.position)).verify()
        lines.append(json.dumps({FORM: WITH_LEAVES if proof.leaves else VERSION} | data))
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def read_proofs(path: str | os.PathLike[str], game: Game | None = None) -> list[ValueProof | Proof]:
    """Read the proofs in a file that :func:`save_proofs` or ``cutnode solve --proof`` wrote.

    The output of ``cutnode mate --proof --json`` can also be read.  Proofs are not checked: call
    their ``verify()``.  *game* is needed if the game does not come with cutnode.

    Raise :class:`CutnodeError` if the proofs are of another game, or the file is damaged.
    """
    path = require_path(path, "a file of proofs")
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise CutnodeError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CutnodeError(f"{path} contains no proof: it is not a text file") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found += _read(line, game)
            except CutnodeError as error:
                raise CutnodeError(f"{path}, line {number}: {error}") from None
    if not found:
        raise CutnodeError(f"{path} contains no proof")
    return found


def _read(line: str, game: Game | None) -> list[ValueProof | Proof]:
    """Return the proof in a line; none if it says that there is no win."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise CutnodeError("not JSON, or cut off") from None
    if not isinstance(data, dict) or (FORM not in data and data.get("verb") != "mate"):
        raise CutnodeError("not a proof written by cutnode")
    if data.get(FORM, VERSION) not in (VERSION, WITH_LEAVES):
        raise CutnodeError(f"proof format must be {VERSION} or {WITH_LEAVES}, got {data[FORM]!r}")
    found = _game(data.get("game"), game)
    try:
        if FORM in data:
            return [ValueProof.from_dict(data, found)]
        proof = data["details"]["proof"]
        return [] if proof is None else [Proof.from_dict(proof, found)]
    except CutnodeError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise CutnodeError("the proof is damaged") from None


def _game(name: Any, given: Game | None) -> Game:
    """Return the game of a proof; code in other files runs only if the caller passes the game."""
    if given is not None:
        mine = game_name(type(given.start()))
        if mine != name:
            raise CutnodeError(f"this is a proof of {name}, not of {mine}")
        return given
    if not isinstance(name, str) or name.partition(":")[0] not in game_names():
        raise CutnodeError(
            f"this is a proof of {name}, which does not come with cutnode: pass the game"
        )
    return load_game(name)
