/**
 * How to make moves with a pointer: which cells the user clicks, in order.
 *
 * Games declare nothing for this.  The cells that a move changes determine its clicks: the cell
 * where a stone appears; or the cell that a piece leaves, then the cell where it arrives; and if
 * several moves remain, further cells that tell them apart.
 */

/**
 * Return the gesture of a move: its `first` cells, one of which is clicked; `second`, for each of
 * them the cells that may be clicked next (null if one click is enough); and all `changed` cells.
 */
export function gestureOf(move, cells, contents) {
  const owner = (content) => contents[content].owner;
  const changes = move.changes.map(([cell, after]) => ({ cell, before: cells[cell], after }));
  const changed = changes.map((change) => change.cell);
  const simple = (chosen) => {
    return { move, changed, first: chosen.map((c) => c.cell), second: null };
  };

  if (changes.every((c) => owner(c.before) === null && owner(c.after) === null)) {
    // No player owns these: seeds that are sown, squares that are covered.
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

/** Return the player with the most arriving pieces or, if none arrive, the most vanishing ones. */
function moverOf(changes, owner) {
  const arrived = changes.map((c) => owner(c.after)).filter((player) => player !== null);
  const players = arrived.length ? arrived : changes.map((c) => owner(c.before));
  const count = (player) => players.filter((other) => other === player).length;
  return count(0) >= count(1) ? 0 : 1;
}

/** Return the gestures that begin with the given clicks. */
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
 * Return the meaning of clicks: `{move}` if they make one; else `{next, choices}`, the cells that
 * may be clicked next and the moves that the clicks leave open; null if they have no meaning.
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
 * Return the cell that a click means: the cell itself or, on a board that names only its columns
 * and so is played by columns, the cell where a stone dropped into its column would land.
 */
export function cellMeant(gestures, board, cell) {
  const first = (wanted) => gestures.some((g) => g.first.includes(wanted));
  const byColumns = board.shape === "grid" && board.column_names.length && !board.row_names.length;
  if (first(cell) || !byColumns) return cell;
  const column = board.places[cell][0];
  const below = board.places.findIndex(([x], other) => x === column && first(other));
  return below < 0 ? cell : below;
}
