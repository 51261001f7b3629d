/** Values of moves, in colours, symbols and words. */

const SYMBOLS = { win: "▲", draw: "=", loss: "▼", better: "△", even: "≈", worse: "▽" };
const EVEN = 0.15;
const FORESEEN = 25000; // in decisive games, a larger value encodes a win by its distance
const RANKS = { win: 2, draw: 1, loss: 0 };

/** Return a number with its sign, with a typographic minus. */
export function signed(value) {
  const rounded = Math.round(10 * value) / 10;
  const digits = Number.isInteger(rounded) ? rounded : rounded.toFixed(1);
  return rounded > 0 ? `+${digits}` : String(digits).replace("-", "−");
}

/** Return a count in short form: 1234567 as 1.2 M. */
export function short(count) {
  for (const [size, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (count >= size) return `${(count / size).toFixed(1)} ${name}`;
  }
  return String(Math.round(count));
}

/**
 * Return the meaning of a score: its `kind`, a `label` that fits a cell, `words`, and the mover's
 * `share` of the game, from -1 (lost) to 1 (won).
 */
export function judged({ value, verdict, distance, points }, game) {
  const share = verdict === null ? 2 * points - 1 : RANKS[verdict] - 1;
  const kind = verdict ?? (share > EVEN ? "better" : share < -EVEN ? "worse" : "even");
  const number = signed(game.decisive && verdict === null ? value / (game.unit ?? 1) : value);
  const plies = distance === 1 ? "1 ply" : `${distance} plies`;
  const known = distance !== null && verdict !== "draw";
  let label = verdict === null ? number : `${SYMBOLS[kind]}${known ? distance : ""}`;
  let words = verdict === null ? `estimate ${number}` : verdict;
  if (verdict !== null && known) words = `${verdict} in ${plies}`;
  else if (verdict !== null && Math.abs(value) > 1 && Math.abs(value) < FORESEEN) {
    label = number;
    words = `${verdict} (${number})`;
  }
  return { kind, label, words, share, symbol: SYMBOLS[kind] };
}

/** Compare two scores: the better one for the mover first. */
export function byScore(one, other) {
  const decided = one.verdict !== null && other.verdict !== null;
  if (decided && one.verdict !== other.verdict) return RANKS[other.verdict] - RANKS[one.verdict];
  if (one.value !== other.value) return other.value - one.value;
  if (decided && one.distance !== null && other.distance !== null) {
    const nearer = one.distance - other.distance;
    return one.verdict === "win" ? nearer : -nearer;
  }
  return 0;
}
