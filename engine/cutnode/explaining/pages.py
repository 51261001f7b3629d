"""Reviewed games as single HTML pages: a graph of the points, turning points, and all moves."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from cutnode.contract.messages import board, move_text
from cutnode.explaining.phrases import capital, line_words
from cutnode.explaining.reviews import MARKS, Review, ReviewedStep, TurningPoint, share, signed
from cutnode.lab.page import document, table_html

WIDTH, HEIGHT, LEFT, BOTTOM = 960, 240, 44, 22
"""The size of the graph, and the room for the labels of its axes."""

RADIUS = 4.5
"""The radius of a mark in the graph."""

CSS = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --soft: #f5f5f3; --grey: #666;
        --line: #222; --first: #e8e8e2; --second: #8a8a86;
        --blunder: #c0392b; --mistake: #c8730a; --inaccuracy: #9a8200; --good: #1d7f54; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --paper: #17181a; --soft: #222427; --grey: #a0a0a0; --line: #eee;
          --first: #b9b9b4; --second: #3a3b3e;
          --blunder: #ff7b6b; --mistake: #f2a65a; --inaccuracy: #d9c64f; --good: #5fd39a; }
  a { color: #7db8e8; }
}
body { color: var(--ink); background: var(--paper); }
thead th { border-color: var(--ink); }
tbody tr:nth-child(even), pre { background: var(--soft); }
.note, figcaption { color: var(--grey); }
.steps { max-height: 30rem; overflow-y: auto; }
.steps thead th { position: sticky; top: 0; background: var(--paper); }
.moves td:first-child { color: var(--grey); } .text { white-space: normal; }
.turn { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
.turn pre { margin: 0.4rem 0; line-height: 1.3; } .turn div { flex: 1 1 26rem; }
.turn p { margin: 0.3rem 0; max-width: 48rem; }
svg text { fill: var(--grey); font-size: 12px; } svg .axis { stroke: var(--grey); }
svg .first { fill: var(--first); } svg .second { fill: var(--second); }
svg .points { fill: none; stroke: var(--line); stroke-width: 1.6; stroke-linejoin: round; }
.blunder { color: var(--blunder); } .mistake, .missed-win { color: var(--mistake); }
.inaccuracy { color: var(--inaccuracy); } .found { color: var(--good); }
svg circle { fill: currentColor; stroke: var(--paper); stroke-width: 1.2; }
td:target { outline: 2px solid var(--mistake); outline-offset: -2px; }
"""


def page(review: Review) -> str:
    """Return the page of a review."""
    title = f"{review.game}: {review.sides[0].name} against {review.sides[1].name}"
    return document(title, "\n".join(_body(review)), CSS)


def _body(review: Review) -> Iterator[str]:
    about = [*review.recorded.headers.items(), ("Result", review.result_text())]
    shown = {name: value for name, value in about if value not in ("", "?")}
    facts = escape(", ".join(f"{name}: {value}" for name, value in shown.items()))
    yield f'<p class="note">{facts}</p>'
    if not review.complete:
        yield f'<p class="note">The review was {review.reason}: earlier steps are not judged.</p>'
    yield _graph(review)
    yield "<h2>Both sides</h2>"
    yield _sides(review)
    if review.turning_points:
        yield "<h2>Turning points</h2>"
        yield from (_turn(review, turn) for turn in review.turning_points)
    yield "<h2>Steps</h2>"
    yield f'<div class="steps moves">{_steps(review)}</div>'


def _graph(review: Review) -> str:
    """Return the graph of the expected points as SVG."""
    known = [(at, each) for at, each in enumerate(review.points) if each is not None]
    if not known:
        return ""
    last = max(1, len(review.points) - 1)

    def x(at: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RADIUS - 2) * at / last, 1)

    def y(points: float) -> float:
        return round(RADIUS + 2 + (HEIGHT - BOTTOM - RADIUS - 2) * (1 - points), 1)

    line = " ".join(f"{x(at)},{y(points)}" for at, points in known)
    left, right = x(known[0][0]), x(known[-1][0])
    parts = [
        f'<rect class="second" x="{left}" y="{y(1)}" width="{right - left:.1f}" '
        f'height="{y(0) - y(1):.1f}"/>',
        f'<polygon class="first" points="{left},{y(0)} {line} {right},{y(0)}"/>',
        f'<line class="axis" x1="{left}" x2="{right}" y1="{y(0.5)}" y2="{y(0.5)}" '
        f'stroke-dasharray="3 3"/>',
        f'<polyline class="points" points="{line}"/>',
    ]
    for level in (0, 0.5, 1):
        place = f'x="{LEFT - 6}" y="{y(level) + 4}"'
        parts.append(f'<text {place} text-anchor="end">{level:.0%}</text>')
    for at in range(0, last + 1, max(1, -(-last // 10))):
        parts.append(f'<text x="{x(at)}" y="{HEIGHT - 4}" text-anchor="middle">{at}</text>')
    for step in review.steps:
        points = review.points[step.number]
        if step.mark and points is not None:
            said = escape(f"{step.number}. {step.marked}: {share(points)}")
            parts.append(
                f'<a href="#step-{step.number}"><circle class="{_class(step)}" '
                f'cx="{x(step.number)}" cy="{y(points)}" r="{RADIUS}"><title>{said}</title>'
                f"</circle></a>"
            )
    first, second = (side.subject for side in review.sides)
    said = f"Expected points of {first} (bright) and {second} (dark) after each step."
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="Expected points after each step">{"".join(parts)}</svg>'
        f"<figcaption>{escape(said)} {escape(capital(review.basis))}.</figcaption></figure>"
    )


def _sides(review: Review) -> str:
    head, *rows = review.table()
    return table_html(
        "".join(f"<th>{escape(name)}</th>" for name in head),
        (
            f'<td class="text">{escape(name)}</td>' + "".join(f"<td>{cell}</td>" for cell in cells)
            for name, *cells in rows
        ),
    )


def _turn(review: Review, turn: TurningPoint) -> str:
    step = turn.step
    sentences = [] if turn.explanation is None else turn.explanation.sentences()
    words = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    title = f'<a href="#step-{step.number}">{escape(review.title_of(step))}</a>'
    return (
        f'<h3 class="{_class(step)}">{title}</h3>\n'
        f'<div class="turn"><pre>{escape(board(step.position))}</pre><div>{words}</div></div>'
    )


def _steps(review: Review) -> str:
    head = {"step": "", "side": "text", "move": "text", "points after": "", "change": ""}
    head |= {"remark": "text"}
    return table_html(
        "".join(f'<th class="{kind}">{name}</th>' for name, kind in head.items()),
        (_step(review, step) for step in review.steps),
    )


def _step(review: Review, step: ReviewedStep) -> str:
    remark = step.grade
    if step.mark in MARKS.values() and step.best:
        best = move_text(step.position, step.best[0])
        remark += f"; best is {best}: {line_words(step.position, step.best)}"
    elif step.only_move:
        remark = "only move"
    change = "" if step.change is None else signed(step.change)
    return (
        f'<td id="step-{step.number}">{step.number}</td>'
        f'<td class="text">{escape(review.sides[step.side].name)}</td>'
        f'<td class="text {_class(step)}"><b>{escape(step.marked)}</b></td>'
        f"<td>{share(review.points[step.number])}</td><td>{change}</td>"
        f'<td class="text">{escape(remark)}</td>'
    )


def _class(step: ReviewedStep) -> str:
    if step.mark == "!":
        return "found"
    return step.grade.replace(" ", "-") if step.mark else "plain"
