"""What becomes of a training: its generations, the proof, and where the weights are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cutnode.playing.matches import MatchResult

PROOF_SECONDS = 0.05
"""Of a move, in the proof."""


@dataclass(frozen=True)
class Generation:
    """What a generation did."""

    positions: int
    """New ones, of the games that it played."""
    games: int
    model: str
    error: float
    """On held-out positions: cross entropy where games are won or lost, else mean square."""
    elo: float
    """Against the best before it, with as many nodes as either visits in the same time."""
    kept: bool


@dataclass
class Training:
    """What became of a training."""

    game: str
    nodes: int
    model: str = ""
    """What kind of evaluation was best."""
    seconds: float = 0.0
    generations: list[Generation] = field(default_factory=list)
    at_nodes: float | None = None
    """Elo against the evaluation before, at equal nodes."""
    proof: MatchResult | None = None
    """The test at equal time."""
    file: str | None = None
    """Where the weights are, if they won."""
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
            verdict = "the best so far" if each.kept else "not better"
            lines.append(
                f"generation {number}  {each.positions:,} positions of {each.games:,} games, "
                f"{each.model}, error {each.error:.4f}, {each.elo:+.0f} Elo: {verdict}"
            )
        if self.at_nodes is not None:
            lines.append(f"at {self.nodes} nodes a move: {self.at_nodes:+.0f} Elo against before")
        if self.proof is not None and self.proof.games:
            lines.append(f"at {PROOF_SECONDS:g} s a move: {self.proof.elo_text()}")
        if self.model:
            lines.append(self.reason)
        return "\n".join(lines)
