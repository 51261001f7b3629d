/**
 * How moves are made with a pointer: which cells a person clicks, one after the other.
 *
 * Nothing of it is declared by games.  A move is known by the cells that it changes: where a stone
 * appears is clicked; where a piece leaves, and then where it comes to; and if several moves are
 * left, the other cells that tell them apart.
 */

/**
 * Return the gesture of a move: its `first` cells, one of which is clicked; `second`, the cells
 * that may be clicked then, for each of the first (null if one click is enough); and all that are
 * `changed`.
 */
export function gestureOf(move, cells, contents) {
  const owner = (content) => contents[content].owner;
  const changes = move.changes.map(([cell, after]) => ({ cell, before: cells[cell], after }));
  const changed = changes.map((change) => change.cell);
  const simple = (chosen) => {
    return { move, changed, first: chosen.map((c) => c.cell), second: null };
  };

  if (changes.every((c) => owner(c.before) === null && owner(c.after) === null)) {
    // Nobody's: seeds that are sown, squares that are covered.
    const emptied = changes.filter((c) => c.after === 0);
    const filled = changes.filter((c) => c.before === 0);
    return simple(emptied.length ? emptied : filled.length ? filled : changes);
  }
  const mover = moverOf(changes, owner);
  const left = changes.filter((c) => owner(c.before) === mover && owner(c.after) !== mover);
  const came = changes.filter((c) => owner(c.after) === mover);
  if (!left.length) {
    const placed = came.filter((c) => owner(c.before) === null);
    return simple(placed.length ? placed : came);
  }
  if (!came.length) return simple(left);
  const second = new Map();
  for (const from of left) {
    const same = came.filter((to) => to.after === from.before);
    second.set(from.cell, (same.length ? same : came).map((to) => to.cell));
  }
  return { move, changed, first: left.map((c) => c.cell), second };
}

/** Return whose pieces move: those of which most arrive somewhere, or else those that vanish. */
function moverOf(changes, owner) {
  const arrived = changes.map((c) => owner(c.after)).filter((player) => player !== null);
  const players = arrived.length ? arrived : changes.map((c) => owner(c.before));
  const count = (player) => players.filter((other) => other === player).length;
  return count(0) >= count(1) ? 0 : 1;
}

/** Return the gestures that begin with these clicks. */
export function matching(gestures, clicks) {
  const [first, second, ...more] = clicks;
  return gestures.filter((gesture) => {
    if (first === undefined) return true;
    if (!gesture.first.includes(first)) return false;
    const others = gesture.second === null ? clicks.slice(1) : more;
    if (gesture.second !== null && second !== undefined) {
      if (!gesture.second.get(first).includes(second)) return false;
    }
    return others.every((cell) => gesture.changed.includes(cell));
  });
}

/**
 * Return what clicks mean: `{move}` if they make one, else `{next, choices}`: the cells that may
 * be clicked now, and the moves between which they do not decide; null if they mean nothing.
 */
export function meaningOf(gestures, clicks) {
  const found = matching(gestures, clicks);
  if (!found.length) return null;
  const complete = found.filter((g) => clicks.length > (g.second === null ? 0 : 1));
  if (complete.length === found.length) {
    if (found.length === 1) return { move: found[0].move };
    const exact = found.filter((g) => g.changed.every((cell) => clicks.includes(cell)));
    if (exact.length === 1) return { move: exact[0].move };
    const undecided = (cell) => !found.every((g) => g.changed.includes(cell));
    const next = new Set(found.flatMap((g) => g.changed).filter(undecided));
    clicks.forEach((cell) => next.delete(cell));
    return { next, choices: found.map((g) => g.move) };
  }
  const next = new Set(found.flatMap((g) => g.second?.get(clicks[0]) ?? []));
  return { next, choices: complete.map((g) => g.move) };
}

/**
 * Return the cell that is meant by a click: itself, or, on a board that names its columns only
 * and so is played by columns, where a stone would come to lie in its column.
 */
export function cellMeant(gestures, board, cell) {
  const first = (wanted) => gestures.some((g) => g.first.includes(wanted));
  const byColumns = board.shape === "grid" && board.column_names.length && !board.row_names.length;
  if (first(cell) || !byColumns) return cell;
  const column = board.places[cell][0];
  const below = board.places.findIndex(([x], other) => x === column && first(other));
  return below < 0 ? cell : below;
}
