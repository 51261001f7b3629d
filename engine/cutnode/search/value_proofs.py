"""Proofs of values as data: an answer to every reply, checked by the rules of the game alone.

Files hold them as JSON lines.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, Unpack

from cutnode.contract.collection import game_names
from cutnode.contract.derived import legal_moves, most_value, recurs
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import (
    CutnodeError,
    GameError,
    require_integer,
    require_iterable,
    require_path,
    shown,
)
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import move_text, position_text
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import drawn, moves_again, outcome, play
from cutnode.runtime.running import Limits
from cutnode.search.board import given_position
from cutnode.search.game_solver import require_value
from cutnode.search.options import LimitKeywords
from cutnode.search.proof_numbers import ProofNumberSolver, Questions
from cutnode.search.proofs import Proof
from cutnode.search.results import Result
from cutnode.search.solving import table_for
from cutnode.storage.files import write_whole
from cutnode.storage.tables import Table


@dataclass(frozen=True, slots=True)
class ValueProof:
    """A proof that a player has a value at least, whatever the other does.

    ``len`` is the number of positions with an answer.
    """

    position: Any
    least: int
    """What the player has at least, seen by him."""
    mover: bool
    """Whether he is the player to move in the position; else he is the other."""
    answers: Mapping[Any, int]
    """A move for each position in which he moves, if he plays so."""

    def __len__(self) -> int:
        return len(self.answers)

    def claim(self) -> str:
        """Return what is proven in words, for the player to move in the position."""
        return f"value >= {self.least}" if self.mover else f"value <= {-self.least}"

    def verify(self) -> None:
        """Check the proof by the rules alone; :class:`CutnodeError` says what is wrong.

        Every answer is a legal move, every legal reply has an answer, every line ends with enough
        for the player, and a line that comes back is a draw.
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
                self._require(0, position, "play can come back to it")
            elif node not in done:
                children = self._children(position, mine)
                if children:
                    line.add(node)
                    waiting.append((position, mine, True))
                    waiting += [(child, whose, False) for child, whose in children]

    def _children(self, position: Any, mine: bool) -> list[tuple[Any, bool]]:
        """Return where play can go on, and whether the player moves there."""
        if self._ends(position, mine):
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

    def _ends(self, position: Any, mine: bool) -> bool:
        """Return whether a line of play ends here; the player has to have enough then."""
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
            raise self._wrong(position, f"{what}, with {value} for a player who has {self.least}")

    def _wrong(self, position: Any, what: str) -> CutnodeError:
        return CutnodeError(f"the proof is wrong at {position_text(position)}: {what}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with positions and moves in the game's own notation."""
        return {
            "game": game_name(type(self.position)),
            "position": position_text(self.position),
            "least": self.least,
            "mover": self.mover,
            "answers": {
                position_text(position): move_text(position, move)
                for position, move in self.answers.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], game: Game) -> Self:
        """Make a proof of what :meth:`to_dict` returned; it is not verified by that.

        :class:`CutnodeError` for texts that are no positions or moves of the *game*.
        """
        answers = {}
        for text, move in data["answers"].items():
            position = game.parse(text)
            answers[position] = game.parse_move(position, move)
        least, mover = require_integer(data["least"], "a value"), data["mover"]
        if not isinstance(mover, bool):
            raise TypeError("mover is true or false")
        return cls(game.parse(data["position"]), least, mover, answers)


def claims(result: Result) -> list[dict[str, int]]:
    """Return the claims that prove a result, as :func:`write_proof` takes them.

    Its answer to a question, or its value from both sides, where that is not the least or the
    greatest there is.
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
    table: Table | int | None = None,
    **limits: Unpack[LimitKeywords],
) -> ValueProof:
    """Write a proof that the mover has *at_least* a value, or *at_most*: one of them is given.

    It is found by proof numbers, to the end of every line.  :class:`CutnodeError` if the claim is
    not true, if a limit is reached first (with the question that is open then, and its numbers), or
    if more than so many *positions* need an answer;
    :class:`GameError` for claims of wins where play can go round: these are proven by
    :func:`cutnode.prove_win`.
    """
    if (at_least is None) == (at_most is None):
        raise CutnodeError("a proof says at_least or at_most how much a player has")
    position = coerce(given_position(position))
    mover = at_least is not None
    claimed = at_least if at_least is not None else at_most
    least = require_integer(claimed, "a value") * (1 if mover else -1)
    require_value(position, claimed)
    if least > 0 and recurs(position):
        raise GameError(
            f"play can go round in {game_name(type(position))}: no strategy is written of a win "
            f"there, but prove_win() and `cutnode mate` prove wins within some moves"
        )
    answers: dict[Any, int] = {}
    proof = ValueProof(position, least, mover, answers)
    with table_for(table) as held:
        solver = ProofNumberSolver(type(position), held)
        questions = Questions(solver, position, False, Limits(**limits))
        _require_true(questions, proof)
        seen = {(position, mover)}
        waiting = [(position, mover)]
        while waiting:
            met, mine = waiting.pop()
            if mine and not proof._ends(met, mine):
                answers[met] = questions.move_for(met, least)
                if len(answers) > positions:
                    raise CutnodeError(f"the proof has more than {positions:,} positions")
            for node in proof._children(met, mine):
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
    return proof


def _require_true(questions: Questions, proof: ValueProof) -> None:
    """:class:`CutnodeError` if the claim of a proof is not true."""
    position, least = proof.position, proof.least
    target = least if proof.mover else 1 - least
    over, value = outcome(position)
    if (value >= target if over else questions.holds(position, target)) != proof.mover:
        has = f"less than {least}" if proof.mover else f"more than {-least}"
        raise CutnodeError(f"the mover has {has} at {position_text(position)}")


FORM = "cutnode_proof"
VERSION = 1
"""The key that marks a proof of a value, and the version of its form."""


def save_proofs(path: str | os.PathLike[str], proofs: Sequence[ValueProof]) -> None:
    """Write proofs of values to a file, a line of JSON each; it appears complete or not at all.

    Each is verified as it will be read; :class:`CutnodeError` if one is wrong.
    """
    lines = []
    for proof in require_iterable(proofs, "proofs"):
        if not isinstance(proof, ValueProof):
            raise CutnodeError(f"proofs to save are what write_proof returns, not {shown(proof)}")
        data = proof.to_dict()
        ValueProof.from_dict(data, Game.of(proof.position)).verify()
        lines.append(json.dumps({FORM: VERSION} | data))
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def read_proofs(path: str | os.PathLike[str], game: Game | None = None) -> list[ValueProof | Proof]:
    """Read the proofs in a file that :func:`save_proofs` or ``cutnode solve --proof`` wrote.

    Or those of wins in what ``cutnode mate --proof --json`` printed.  They are read, not checked:
    see their ``verify()``.  *game* has to be given if it is none of those that come with cutnode;
    :class:`CutnodeError` if it is another one, or if the file is damaged.
    """
    path = require_path(path, "a file of proofs")
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise CutnodeError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CutnodeError(f"{path} holds no proof: it is not text") from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                found += _read(line, game)
            except CutnodeError as error:
                raise CutnodeError(f"{path}, line {number}: {error}") from None
    if not found:
        raise CutnodeError(f"{path} holds no proof")
    return found


def _read(line: str, game: Game | None) -> list[ValueProof | Proof]:
    """Return the proof in a line; none if it says that there is no win."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise CutnodeError("this is no JSON, or it is cut off") from None
    if not isinstance(data, dict) or (FORM not in data and data.get("verb") != "mate"):
        raise CutnodeError("this is no proof of cutnode")
    if data.get(FORM, VERSION) != VERSION:
        raise CutnodeError(f"this form of proofs is {data[FORM]!r}, and {VERSION} is known here")
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
    """Return the game of a proof; code in other files is run only if a person names it."""
    if given is not None:
        mine = game_name(type(given.start()))
        if mine != name:
            raise CutnodeError(f"this is a proof of {name}, not of {mine}")
        return given
    if not isinstance(name, str) or name.partition(":")[0] not in game_names():
        raise CutnodeError(f"this is a proof of {name}, which does not come with cutnode: name it")
    return load_game(name)
