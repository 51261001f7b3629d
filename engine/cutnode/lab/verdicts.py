"""The report on a game's rules in words and plots: see :mod:`cutnode.lab.design`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cutnode.lab.plots import (
    GREY,
    PAGE,
    PALETTE,
    Line,
    add_line_legend,
    draw_lines,
    ends_of,
    plain_numbers,
    set_axes,
)
from cutnode.lab.study import Study

Row = dict[str, Any]

FAIR = 0.05
"""How far from 1/2 the first player's score may be in a game that is called fair."""

ENOUGH = 20
"""The moves made for each legal move, from which on a move that is never played is worth a word."""

SHALLOW, DEEP = 40.0, 100.0
"""The Elo per doubling below which search hardly matters, and above which it matters much."""

COLOURS = PALETTE["blue"], PALETTE["vermillion"]


class Figures:
    """The figures of one game in a study; *name* is its name in the study's rows, if it has one."""

    def __init__(self, study: Study, name: str | None, letter: str | None):
        self.rows = [row for row in study.rows if row.get("game") == name]
        self.samples = [sample for sample in study.samples if sample.get("game") == letter]
        self.title = name or Path(str(study.settings.get("game", ""))).name

    def part(self, part: str) -> list[Row]:
        """Return the rows of a part."""
        return [row for row in self.rows if row.get("part") == part]

    def row(self, part: str, of: str) -> Row | None:
        """Return a row with a figure; None if there is none."""
        rows = [row for row in self.part(part) if row.get("of") == of]
        return next((row for row in rows if row.get("figure") is not None), None)

    def games(self, strongest: bool) -> list[Row]:
        """Return the games between the strongest players, or the ones of random moves."""
        games = [sample for sample in self.samples if sample.get("part") == "game"]
        if strongest:
            return [game for game in games if game.get("strongest")]
        return [game for game in games if game.get("players") == "random moves"]

    def by(self, part: str) -> list[Row]:
        """Return the samples of a part."""
        return [sample for sample in self.samples if sample.get("part") == part]

    @property
    def strongest(self) -> Row | None:
        """The score of the first player between the strongest players."""
        rows = [row for row in self.part("first player") if row.get("of") != "random moves"]
        rows = rows or self.part("first player")
        return rows[-1] if rows else None


def figures_of(study: Study) -> list[Figures]:
    """Return the figures of the games of a study."""
    names = list(dict.fromkeys(row.get("game") for row in study.rows))
    return [Figures(study, name, name and name[0]) for name in names]


# Words


def summarise(study: Study) -> list[str]:
    """Return the verdict: some sentences on the game, or on what differs between two."""
    games = figures_of(study)
    if len(games) < 2:
        return [sentence for each in games for sentence in _verdict(each)]
    return [*_headlines(games), *_differences(games)]


def _verdict(game: Figures) -> Iterator[str]:
    """Yield the sentences on one game."""
    yield from _on_size(game)
    yield from _on_value(game)
    yield from _on_fairness(game)
    yield from _on_games(game)
    yield from _on_depth(game)
    yield from _on_tension(game)
    yield from _on_use(game)


def _on_size(game: Figures) -> Iterator[str]:
    counted, estimated = game.row("size", "positions"), game.row("size", "positions, 10^")
    lines = game.row("size", "lines of play, 10^")
    bound = game.row("size", "positions at most, 10^")
    tree = f", and a game tree of {_power(lines)} nodes" if lines else ""
    if counted:
        yield f"{game.title} has {counted['figure']:,} positions (counted){tree}."
    elif estimated:
        yield f"{game.title} has {_power(estimated)} positions (estimated){tree}."
    elif bound:
        yield f"{game.title} has at most {_power(bound)} positions{tree}."
    elif least := game.row("size", "positions at least"):
        yield f"{game.title} has more than {least['figure']:,} positions{tree}."
    elif game.part("size"):
        how = str(game.part("size")[0].get("how", ""))
        yield f"The number of positions of {game.title} is not known: {how}."


def _on_value(game: Figures) -> Iterator[str]:
    rows = [row for row in game.part("value") if row.get("of") == "exact value"]
    if not rows:
        return
    how = str(rows[0].get("how", ""))
    value = rows[0].get("figure")
    if value is None:
        yield "It was not solved within the limit, so the rest is measured in games."
        return
    words = how.partition(";")[0]
    if "expected" in how:
        yield f"With perfect play the player to move first expects {value:g}."
        return
    best, first = game.row("value", "best first moves"), game.row("openings", "first moves")
    only = ""
    if best and first and first["figure"] > 1:
        only = f", and {best['figure']:,} of {first['figure']:,} first moves achieve that"
    yield f"With perfect play: {words}{only}."


def _on_fairness(game: Figures) -> Iterator[str]:
    row = game.strongest
    if row is None:
        return
    middle, (low, high) = row["figure"], ends_of(row, "figure") or (0.0, 1.0)
    score = f"the first player scores {middle:.0%} ({low:.0%} to {high:.0%})"
    between = _between(row)
    if low > 0.5:
        word = (
            "moving first is an advantage" if low < 0.5 + 2 * FAIR else "moving first decides much"
        )
    elif high < 0.5:
        word = "moving second is an advantage"
    elif high - low <= 2 * FAIR:
        word = "the sides are even"
    else:
        word = "no side is shown to be better"
    yield f"{between} {score}: {word}."
    draws = [each for each in game.part("draws") if each.get("of") == row.get("of")]
    if draws and draws[0].get("figure") is not None:
        share = draws[0]["figure"]
        ends = ends_of(draws[0], "figure")
        spread = f" ({ends[0]:.0%} to {ends[1]:.0%})" if ends else ""
        yield "No game was drawn." if not share else f"{share:.0%} of them are draws{spread}."


def _on_games(game: Figures) -> Iterator[str]:
    length = game.row("length", "strongest")
    choices, forced = game.row("choices", "strongest"), game.row("forced", "strongest")
    if length and choices:
        rest = f", and {forced['figure']:.0%} of the moves are forced" if forced else ""
        yield (
            f"A game lasts {length['figure']:.0f} plies on average, with {choices['figure']:.1f} "
            f"legal moves at a decision{rest}."
        )


def _on_depth(game: Figures) -> Iterator[str]:
    row = game.row("depth", "a doubling")
    if row is None:
        return
    low, high = ends_of(row, "figure") or (row["figure"], row["figure"])
    ladder = [step for step in game.part("depth") if not is_other(step)]
    first = str(ladder[0]["of"]).partition(" and ")[0]
    reached = str(ladder[-1]["of"]).rpartition(" and ")[2]
    each = (
        f"From {first} to {reached}, doubling the search gains {row['figure']:.0f} Elo "
        f"({low:.0f} to {high:.0f}) on average"
    )
    end, last = "", ends_of(ladder[-1], "figure")
    if len(ladder) > 1 and last:
        shows = last[0] > 0 or last[1] < 0
        gain = f"{ladder[-1]['figure']:+.0f}" if shows else "nothing that shows"
        end = f", and the last one {gain}"
    if high < SHALLOW:
        word = "more thought hardly pays"
    elif low > DEEP:
        word = "there is much to learn"
    else:
        word = "more thought pays" if low > 0 else "it is not shown that more thought pays"
    luck = next((each for each in game.part("luck")[::-1] if each.get("figure") is not None), None)
    yield f"{each}{end}: {word}."
    if luck:
        players = luck["of"].removeprefix("skill, ")
        share = f"skill explains {luck['figure']:.0%} of the results, and luck the rest"
        yield f"Between players of {players}, {share}."


def _on_tension(game: Figures) -> Iterator[str]:
    changes, decided = game.row("tension", "lead changes"), game.row("tension", "decided after")
    if changes:
        end = ""
        if decided:
            end = f", and won games are decided after {decided['figure']:.0%} of their moves"
        yield f"The lead changes {changes['figure']:.1f} times in a game{end}."


def _on_use(game: Figures) -> Iterator[str]:
    legal = game.row("use", "legal moves")
    said = []
    if legal and legal.get("n", 0) < ENOUGH * legal["figure"]:
        said.append("too few moves were made to say which are never played")
    elif legal:
        idle = [row for row in game.part("use") if row["of"] != "legal moves" and row["figure"]]
        said += [f"{row['figure']:,} {row['of'].replace('never', 'are never')}" for row in idle]
        said += [] if idle else ["every move, cell and piece is used"]
    first, groups = (
        game.row("openings", each) for each in ("first moves", "different first moves")
    )
    if first and groups and groups["figure"] < first["figure"]:
        by = str(groups.get("how", "")).partition(":")[0]
        said.append(f"{first['figure']:,} first moves are {groups['figure']:,} {by}")
    if said:
        yield f"Of the rules: {'; '.join(said)}."


def _headlines(games: Sequence[Figures]) -> Iterator[str]:
    """Yield the size and the value of each game."""
    for game in games:
        sentences = [*_on_size(game), *_on_value(game)]
        if sentences:
            yield " ".join(sentences)


COMPARED = (
    ("length", "strongest", "plies in a game", ".3g"),
    ("choices", "strongest", "legal moves at a decision", ".3g"),
    ("forced", "strongest", "forced moves", ".0%"),
    ("depth", "a doubling", "Elo for a doubling of the search", ".0f"),
    ("tension", "lead changes", "changes of the lead", ".2g"),
    ("tension", "decided after", "moves until the game is decided", ".0%"),
    ("tension", "comebacks", "comebacks", ".0%"),
)
"""The figures that are compared, in words, and how they are written."""


def _differences(games: Sequence[Figures]) -> Iterator[str]:
    """Yield which figures of two games differ by more than their intervals."""
    pairs = [
        (label, form, [game.row(part, of) for game in games]) for part, of, label, form in COMPARED
    ]
    fairness = [game.strongest for game in games]
    draws = [
        next((each for each in game.part("draws") if row and each.get("of") == row["of"]), None)
        for game, row in zip(games, fairness, strict=True)
    ]
    pairs = [
        ("score of the first player", ".0%", fairness),
        ("draws", ".0%", draws),
        *pairs,
    ]
    apart, alike = [], []
    for label, form, (a, b) in pairs:
        if a is None or b is None or a.get("figure") is None or b.get("figure") is None:
            continue
        ends = [ends_of(row, "figure") or (row["figure"], row["figure"]) for row in (a, b)]
        if ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0]:
            apart.append(f"{label} ({a['figure']:{form}} in A, {b['figure']:{form}} in B)")
        else:
            alike.append(label)
    if apart:
        yield f"They differ by more than the error in: {'; '.join(apart)}."
    if alike:
        yield f"No difference is shown in: {', '.join(alike)}."


def _power(row: Row) -> str:
    """Return a number given by its power of 10, with its interval if it is wide."""
    ends = ends_of(row, "figure")
    if ends is None or ends[1] - ends[0] < 0.2:
        return f"about {_plain(row['figure'])}"
    return f"about {_plain(row['figure'])} ({_plain(ends[0])} to {_plain(ends[1])})"


def _plain(power: float) -> str:
    """Return a power of 10 in full if it is small."""
    return f"{float(f'{10**power:.2g}'):,.0f}" if power < 7 else f"10^{power:.1f}"


def _between(row: Row) -> str:
    of = str(row.get("of", ""))
    return "In games of random moves" if of == "random moves" else f"Between players of {of}"


# Plots


def draw(study: Study, figure: Any) -> None:
    """Draw positions by ply, choices, lengths, the first player's score, Elo, and decisions."""
    games = figures_of(study)
    figure.set_size_inches(PAGE, 4.6)
    figure.set_label(
        "Positions after each number of plies; legal moves at each decision; lengths of games; the "
        "first player's score, and draws, by strength; Elo gained by each doubling; won games "
        "decided by each part of their moves. Bars and bands are 95 % confidence intervals."
    )
    (size, choices, lengths), (first, depth, decided) = figure.subplots(2, 3)
    for number, game in enumerate(games):
        colour, alone = COLOURS[number], len(games) == 1
        _draw_size(size, game, colour)
        _draw_choices(choices, game, colour, alone)
        _draw_lengths(lengths, game, colour, alone)
        _draw_decided(decided, game, colour)
    _draw_strengths(first, games)
    _draw_depth(depth, games)
    set_axes(size, title="Positions by ply", x="plies", y="power of 10")
    set_axes(choices, title="Legal moves", x="decisions so far")
    set_axes(lengths, title="Length of games", x="plies", y="share of games")
    set_axes(first, title="First player's score", x="strength")
    set_axes(depth, title="Elo for a doubling", x="strength reached")
    set_axes(decided, title="Games decided", x="part of the moves", y="share of won games")
    if len(games) > 1:
        for number, game in enumerate(games):
            size.plot([], [], color=COLOURS[number], label=game.title)
        add_line_legend(figure, size)


def _draw_size(axes: Any, game: Figures, colour: str) -> None:
    rows = game.by("size by ply")
    known = [row for row in rows if row.get("positions") is not None]
    plies = [row["ply"] for row in known]
    if known:
        axes.plot(plies, [row["positions"] for row in known], color=colour)
        low, high = ([row[f"positions_{end}"] for row in known] for end in ("low", "high"))
        axes.fill_between(plies, low, high, color=colour, alpha=0.25, linewidth=0)
    elif rows:
        axes.plot([r["ply"] for r in rows], [r["lines"] for r in rows], "--", color=colour)
        axes.annotate("lines of play", (0.05, 0.92), xycoords="axes fraction", fontsize=7)
    else:
        axes.annotate("not estimated", (0.05, 0.92), xycoords="axes fraction", fontsize=7)


def _draw_choices(axes: Any, game: Figures, colour: str, alone: bool) -> None:
    for players, style, shade in (("strongest", "-", colour), ("random", ":", GREY)):
        rows = [row for row in game.by("choices by move") if row.get("players") == players]
        if rows and (alone or players == "strongest"):
            xs = [row["ply"] for row in rows]
            axes.plot(xs, [row["choices"] for row in rows], style, color=shade, label=players)
    axes.set_ylim(bottom=0)
    if alone:
        axes.legend()


def _draw_lengths(axes: Any, game: Figures, colour: str, alone: bool) -> None:
    for strongest, shade in ((True, colour), (False, GREY)):
        plies = [row["plies"] for row in game.games(strongest)]
        if plies and (alone or strongest):
            low, high = min(plies), max(plies)
            step = max(1, -(-(high + 1 - low) // 20))
            bins = [edge - 0.5 for edge in range(low, high + 1 + step, step)]
            axes.hist(
                plies,
                bins=bins,
                weights=[1 / len(plies)] * len(plies),
                histtype="step",
                color=shade,
                linestyle="-" if strongest else ":",
                label="strongest" if strongest else "random",
            )
    if alone:
        axes.legend()


def _draw_strengths(axes: Any, games: Sequence[Figures]) -> None:
    """Draw the first player's score by strength, and for one game the share of draws."""
    lines = []
    parts = ("first player", "draws") if len(games) == 1 else ("first player",)
    for number, game in enumerate(games):
        for part in parts:
            rows = [row | {"step": at} for at, row in enumerate(game.part(part))]
            colour = COLOURS[number] if part == "first player" else PALETTE["orange"]
            name = part if len(games) == 1 else game.title
            lines.append(Line.of(name, rows, "step", "figure", colour))
    if any(line.x for line in lines):
        draw_lines(axes, lines, log=False, direct=False)
    axes.axhline(0.5, color=GREY, linewidth=0.8, zorder=0)
    axes.set_ylim(-0.02, 1.02)
    _name_steps(axes, games, "first player")
    if len(games) == 1:
        axes.legend()


def _draw_depth(axes: Any, games: Sequence[Figures]) -> None:
    lines = []
    for number, game in enumerate(games):
        steps = [row for row in game.part("depth") if not is_other(row)]
        rows = [row | {"step": at} for at, row in enumerate(steps)]
        lines.append(Line.of(game.title, rows, "step", "figure", COLOURS[number]))
    if any(line.x for line in lines):
        draw_lines(axes, lines, log=False, direct=False)
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    plain_numbers(axes.yaxis)
    _name_steps(axes, games, "depth")


def is_other(row: Row) -> bool:
    """Return whether a row of the ladder is not the gain of one doubling."""
    of = str(row.get("of"))
    return of == "a doubling" or of.startswith("random")


def _name_steps(axes: Any, games: Sequence[Figures], part: str) -> None:
    """Name the strengths below an axis: the stronger one of each match."""
    longest = max(
        ([r for r in g.part(part) if part != "depth" or not is_other(r)] for g in games), key=len
    )
    names = [str(row["of"]).rpartition(" and ")[2].partition(" ")[0] for row in longest]
    axes.set_xticks(range(len(names)), names, rotation=45)


def _draw_decided(axes: Any, game: Figures, colour: str) -> None:
    """Draw the share of won games that are decided by each part of their moves."""
    parts = sorted(row["decided"] for row in game.games(True) if row.get("decided") is not None)
    if parts:
        heights = [(at + 1) / len(parts) for at in range(len(parts))]
        axes.step([0, *parts, 1], [0, *heights, 1], where="post", color=colour)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
