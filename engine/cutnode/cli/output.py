"""Results as JSON, in one shape for all commands: see ``output.schema.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import cutnode

if TYPE_CHECKING:
    from cutnode.explaining.explanations import Explanation
    from cutnode.playing.matches import MatchResult
    from cutnode.search.proofs import ForcedWin
    from cutnode.search.results import Line, MonteCarloResult, Result, RootMove, SearchResult
    from cutnode.search.state_values import ValueIterationResult


def output_schema() -> dict[str, Any]:
    """Return the JSON Schema of the output of commands."""
    schema: dict[str, Any] = json.loads(Path(__file__).with_name("output.schema.json").read_bytes())
    return schema


SHARED = {
    *("game", "position", "value", "proven", "lower", "upper", "best_move", "scores", "pv"),
    *("depth", "nodes", "seconds", "table", "reason"),
}
"""The findings of a proof that are not details of it."""


class Facts(TypedDict, total=False):
    """The facts that a command can report; missing ones are null, false or empty."""

    value: float | None
    bounds: tuple[float, float] | None
    meaning: str | None
    proven: bool
    distance: int | None
    line: Sequence[int]
    move: int | None
    """The best move, by default the first of the line."""
    moves: Sequence[dict[str, Any]]
    nodes: int
    seconds: float
    reason: str
    statistics: dict[str, Any]
    details: dict[str, Any]


def json_line(verb: str, position: Any, given: str | None, **facts: Unpack[Facts]) -> str:
    """Return one line of JSON; *given* is the position as the user wrote it."""
    from cutnode.contract.dispatch import game_name
    from cutnode.contract.messages import position_text

    line = facts.get("line", ())
    data = {
        "verb": verb,
        "game": game_name(type(position)),
        "position": position_text(position),
        "given": given,
        "value": facts.get("value"),
        "bounds": facts.get("bounds"),
        "meaning": facts.get("meaning"),
        "proven": facts.get("proven", False),
        "distance": facts.get("distance"),
        **_move(position, facts.get("move", line[0] if line else None)),
        **_line(position, line),
        "moves": facts.get("moves", []),
        "statistics": _effort(facts.get("nodes", 0), facts.get("seconds", 0.0))
        | facts.get("statistics", {}),
        "reason": facts.get("reason"),
        "details": facts.get("details", {}),
    }
    return json.dumps(data)


def _effort(nodes: int, seconds: float) -> dict[str, Any]:
    rate = nodes / seconds if seconds > 0 else 0.0
    return {"nodes": nodes, "seconds": seconds, "nodes_per_second": rate}


def _move(position: Any, move: int | None) -> dict[str, Any]:
    from cutnode.contract.messages import move_text

    text = None if move is None else move_text(position, move)
    return {"move": text, "move_number": None if move is None else int(move)}


def _line(position: Any, line: Sequence[int]) -> dict[str, Any]:
    from cutnode.search.results import line_text

    return {"line": line_text(position, line), "line_numbers": [int(move) for move in line]}


def _proof_facts(result: Result | ValueIterationResult) -> dict[str, Any]:
    """Return the findings of a proof, its time, and why it ended."""
    return {
        "value": result.value,
        "bounds": (result.lower, result.upper),
        "meaning": result.meaning(),
        "proven": result.proven,
        "seconds": result.seconds,
        "reason": result.reason,
    }


def json_of_proof(verb: str, result: Result, given: str | None) -> str:
    """Return the JSON of a proof, or of the bounds proven so far.

    The details of a proof on a cluster include its tasks and positions.
    """
    position, data = result.position, result.to_dict()
    scores = result.scores or {}
    return json_line(
        verb,
        position,
        given,
        **_proof_facts(result),
        distance=_distance(position, result.pv) if result.proven and not result.weak else None,
        line=result.pv,
        move=result.best_move,
        moves=[_move(position, move) | {"value": value} for move, value in scores.items()],
        nodes=result.nodes,
        statistics={"table": data["table"]},
        details={name: data[name] for name in data if name not in SHARED},
    )


def json_of_value(
    position: Any,
    given: str | None,
    facts: dict[str, Any],
    positions: int,
    seconds: float,
    reason: str,
) -> str:
    """Return the JSON of a canonical value; there are no *facts* about it if it is unknown."""
    from cutnode.search.results import CLASSES

    winner = facts.get("outcome_class")
    return json_line(
        "solve",
        position,
        given,
        value=None if winner is None else 1 if winner in ("N", "L") else -1,
        meaning=None if winner is None else CLASSES[winner],
        proven=winner is not None,
        nodes=positions,
        seconds=seconds,
        reason=reason,
        details=facts,
    )


def outcomes_of(
    position: Any, values: Mapping[int, float | None] | None = None
) -> list[dict[str, Any]]:
    """Return the outcomes of chance, with their values for the player to move if known."""
    from cutnode.contract.messages import chance_text, position_text

    return [
        {
            "outcome": chance_text(position, number),
            "number": number,
            "probability": odds,
            "position": position_text(after),
        }
        | ({} if values is None else {"value": values[number]})
        for number, (odds, after) in enumerate(cutnode.Game.of(position).chances(position))
    ]


def _distance(position: Any, line: Sequence[int]) -> int | None:
    """Return the number of plies in a line, or None if it does not end the game."""
    from cutnode.contract.verbs import play

    for move in line:
        position = play(position, move)
    return len(line) if cutnode.Game.of(position).outcome(position) is not None else None


def json_of_iteration(verb: str, result: ValueIterationResult, given: str) -> str:
    """Return the JSON of a solved game of chance; the outcomes of chance are details."""
    position, data = result.position, result.to_dict()
    choice = result.best_move is not None
    named = ("tolerance", "positions", "decisions", "chances", "finished", "sweeps", "updates")
    return json_line(
        verb,
        position,
        given,
        **_proof_facts(result),
        move=result.best_move,
        moves=[
            _move(position, move) | {"value": value}
            for move, value in result.scores.items()
            if choice
        ],
        nodes=result.positions,
        details={name: data[name] for name in named}
        | {"outcomes": [] if choice else outcomes_of(position, result.scores)},
    )


def json_of_search(result: SearchResult | MonteCarloResult, given: str) -> str:
    """Return the JSON of a search, with the first moves of its lines as moves.

    Monte Carlo tree search adds all other moves after them.
    """
    from cutnode.kernels.scores import win_distance
    from cutnode.kernels.tablebase_scores import FAR

    position, data = result.position, result.to_dict()
    distance = win_distance(result.value) if result.proven and result.decisive else None
    lines = {line.move: line for line in result.lines}
    roots = {each.move: each for each in getattr(result, "moves", ())}
    named = ("exact", "win_rate", "why", "compiled", "iterations")
    return json_line(
        "search",
        position,
        given,
        value=result.value,
        bounds=(data["lower"], data["upper"]) if "lower" in data else None,
        meaning=result.meaning(),
        proven=result.proven,
        distance=distance if isinstance(distance, int) and distance < FAR else None,
        line=result.pv,
        moves=[
            _move(position, move)
            | (_root_move(result, roots[move]) if move in roots else {})
            | (_move_line(position, lines[move]) if move in lines else {})
            for move in dict.fromkeys((*lines, *roots))
        ],
        nodes=result.nodes,
        seconds=result.seconds,
        reason=result.reason,
        statistics=data["statistics"],
        details={"depth": result.depth} | {name: data[name] for name in named if name in data},
    )


def _move_line(position: Any, line: Line) -> dict[str, Any]:
    return {"value": line.value, **_line(position, line.pv)}


def _root_move(result: Any, root: RootMove) -> dict[str, Any]:
    """Return the statistics of the playouts of a root move."""
    return {
        "value": root.value,
        "visits": root.visits,
        "win_rate": result.rate_of(root),
        "prior": root.prior,
        "bounds": (root.lower, root.upper),
    }


def json_of_explanation(result: Explanation, given: str) -> str:
    """Return the JSON of an explanation; its notes, threat and sentences are details."""
    position, judgement, data = result.position, result.judgement, result.to_dict()
    best = judgement.best
    named = ("verdict", "legal", "keeping", "undecided", "only_move", "threat", "notes", "text")
    facts = ("value", "proven", "points", "distance", "grade")
    return json_line(
        "explain",
        position,
        given,
        value=judgement.value,
        meaning=data["text"][0],
        proven=result.proven,
        distance=data["verdict"]["distance"],
        line=best.pv if best is not None else (),
        moves=[
            _move(position, each.move)
            | _line(position, each.pv)
            | {name: about[name] for name in facts}
            for each, about in zip(judgement.moves, data["moves"], strict=True)
        ],
        nodes=result.nodes,
        seconds=result.seconds,
        reason=result.reason,
        details={name: data[name] for name in named},
    )


def json_of_win(result: ForcedWin, given: str) -> str:
    """Return the JSON of the search for a forced win; its value is 1 if there is one."""
    won = result.moves is not None
    return json_line(
        "mate",
        result.position,
        given,
        value=1 if won else None,
        meaning=result.meaning(),
        proven=result.proven,
        distance=len(result.pv) if won else None,
        line=result.pv,
        nodes=result.nodes,
        seconds=result.seconds,
        reason=result.reason,
        details={name: getattr(result, name) for name in ("within", "refuted")}
        | {
            "win_in": result.moves,
            "proof": None if result.proof is None else result.proof.to_dict(),
        },
    )


def json_of_count(
    position: Any, given: str, depth: int, lines: int, behind: dict[int, int], seconds: float
) -> str:
    """Return the JSON of a count of lines; *behind* has the counts by move, if wanted."""
    return json_line(
        "perft",
        position,
        given,
        moves=[_move(position, move) | {"lines": count} for move, count in behind.items()],
        nodes=lines,
        seconds=seconds,
        details={"depth": depth, "lines": lines},
    )


def json_of_position(position: Any, given: str) -> str:
    """Return the JSON of a position: its legal moves, and the value of a finished game."""
    from cutnode.contract.messages import board, description

    game = cutnode.Game.of(position)
    value = game.outcome(position)
    meaning = None if value is None else description(position, value)
    return json_line(
        "show",
        position,
        given,
        value=value,
        meaning=meaning,
        proven=value is not None,
        distance=None if value is None else 0,
        moves=[_move(position, move) for move in cutnode.legal_moves(position)],
        details={
            "board": board(position),
            "over": value is not None,
            "outcomes": outcomes_of(position),
        },
    )


def json_of_match(result: MatchResult, start: Any) -> str:
    """Return the JSON of a match; its value is the points of A per game, from 0 to 1."""
    data = result.to_dict()
    return json_line(
        "match",
        start,
        None,
        value=result.score,
        meaning=f"{result.player} against {result.opponent}: {result.elo_text()} Elo"
        if result.games
        else None,
        nodes=0,
        seconds=data.pop("seconds"),
        reason=data.pop("reason"),
        details=data,
    )
