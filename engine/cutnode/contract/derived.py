"""Functions of a position that follow from what its game defines.

Each is chosen for a class of positions when a kernel is compiled for it; what a game does not
use (extra turns, repetition, chance) is a constant there and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutnode.contract.dispatch import defines, derived, game_constant, value_limit
from cutnode.contract.verbs import free_move, same_turn, turn


@derived
def same_after_chance(cls: type) -> Callable[..., Any]:
    """``same_after_chance(position, child)``: the same of a chance event and its outcome."""
    return same_turn(cls, True)


@derived
def side(cls: type) -> Callable[..., Any]:
    """``side(position, ply)``: a number, 0 or 1, for the player to move."""
    if defines(cls, "turn"):
        return lambda position, ply: turn(position)
    return lambda position, ply: ply & 1


@derived
def recurs(cls: type) -> Callable[..., Any]:
    """``recurs(position)``: whether positions of this game can occur again."""
    answer = defines(cls, "reversible")
    return lambda position: answer


@derived
def knows_gains(cls: type) -> Callable[..., Any]:
    """``knows_gains(position)``: whether its game says what noisy moves win."""
    answer = defines(cls, "gain")
    return lambda position: answer


@derived
def least_focus(cls: type) -> Callable[..., Any]:
    """``least_focus(position)``: ``FOCUS`` of its game."""
    least = game_constant(cls, "FOCUS", 1)
    return lambda position: least


@derived
def is_free_move(cls: type) -> Callable[..., Any]:
    """``is_free_move(position, move, child, actions, turns)``: whether a move costs no depth.

    *actions* costless moves in a row came before it; *turns*: depth is counted in turns.
    """
    if not (defines(cls, "turn") or defines(cls, "free_move")):
        return lambda position, move, child, actions, turns: False
    most = game_constant(cls, "MAX_ACTIONS", 4)
    return lambda position, move, child, actions, turns: (
        turns != 0 and actions < most and free_move(position, move, child)
    )


@derived
def most_moves(cls: type) -> Callable[..., Any]:
    """``most_moves(position)``: ``MAX_MOVES`` of its game."""
    most = game_constant(cls, "MAX_MOVES", 256)
    return lambda position: most


@derived
def most_value(cls: type) -> Callable[..., Any]:
    """``most_value(position)``: no value of its game is further from zero, if all are whole."""
    most = int(value_limit(cls))
    return lambda position: most
