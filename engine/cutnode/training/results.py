"""The result of a training: its generations, the proof, and the file of its weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cutnode.playing.matches import MatchResult

PROOF_SECONDS = 0.05
"""Seconds per move in the proof."""


@dataclass(frozen=True)
class Generation:
    """The result of a generation."""

    positions: int
    """The number of new positions, from the games that it played."""
    games: int
    model: str
    error: float
    """The error on held-out positions: cross entropy in decisive games, else mean square."""
    elo: float
    """Elo against the best before it, with the nodes that each visits in the same time."""
    kept: bool


@dataclass
class Training:
    """The result of a training."""

    game: str
    nodes: int
    model: str = ""
    """The kind of the best evaluation."""
    seconds: float = 0.0
    generations: list[Generation] = field(default_factory=list)
    at_nodes: float | None = None
    """Elo against the evaluation before the training, at equal nodes."""
    proof: MatchResult | None = None
    """The match at equal time."""
    file: str | None = None
    """The file where the weights were installed, if they won."""
    reason: str = ""
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "game": self.game,
            "nodes": self.nodes,
            "model": self.model,
            "seconds": self.seconds,
            "generations": [vars(generation) for generation in self.generations],
            "elo_at_equal_nodes": self.at_nodes,
            "proof": None if self.proof is None else self.proof.to_dict(),
            "file": self.file,
            "reason": self.reason,
            "interrupted": self.interrupted,
        }

    def __str__(self) -> str:
        lines = [f"{self.game}: {self.model or self.reason}"]
        for number, each in enumerate(self.generations, 1):
            verdict = "new best" if each.kept else "not better"
            lines.append(
                f"generation {number}  {each.positions:,} positions of {each.games:,} games, "
                f"{each.model}, error {each.error:.4f}, {each.elo:+.0f} Elo: {verdict}"
            )
        if self.at_nodes is not None:
            lines.append(
                f"at {self.nodes} nodes a move: {self.at_nodes:+.0f} Elo against the old evaluation"
            )
        if self.proof is not None and self.proof.games:
            lines.append(f"at {PROOF_SECONDS:g} s a move: {self.proof.elo_text()}")
        if self.model:
            lines.append(self.reason)
        return "\n".join(lines)
