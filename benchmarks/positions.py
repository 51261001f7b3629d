"""The benchmark's positions and their published values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine import load_game

SETS = ("L3_R1", "L2_R1", "L2_R2", "L1_R1")


def connect4_set(name: str, every: int = 1) -> tuple[list[str], list[Any], list[int]]:
    """Texts, positions and values of a Connect Four set, or of every so many of it."""
    path = Path(__file__).parent / "data" / f"connect4_{name}.txt"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    fields = [line.split(";") for line in lines[::every]]
    texts = [text.strip() for text, _ in fields]
    game = load_game("connect4")
    return texts, [game.parse(text) for text in texts], [int(value) for _, value in fields]
