/** The record of a game: its positions, which one is shown, and how it is kept. */

const KEY = "cutnode.game";

/**
 * A ply is a position and how it came about: `{position, move, chance, side, changed, recurrence,
 * share}`.  `side` is the player to move there, 0 or 1; `share` the first player's share of the
 * game, as it was analysed, or null.
 */
export class GameRecord {
  constructor(game, plies, at = 0) {
    this.game = game;
    this.plies = plies;
    this.at = at;
  }

  get ply() {
    return this.plies[this.at];
  }

  /** Show another ply; returns whether there is one. */
  go(at) {
    const there = at >= 0 && at < this.plies.length && at !== this.at;
    if (there) this.at = at;
    return there;
  }

  /** Go on from the ply that is shown; what came after it is forgotten, unless it is the same. */
  add(ply) {
    const next = this.plies[this.at + 1];
    if (next?.position !== ply.position || next?.move !== ply.move) {
      this.plies.splice(this.at + 1, Infinity, ply);
    }
    this.at += 1;
  }

  /** Return how often the position that is shown has occurred, if positions can recur. */
  get occurrences() {
    const { recurrence } = this.ply;
    const before = this.plies.slice(0, this.at + 1);
    return recurrence === null ? 1 : before.filter((p) => p.recurrence === recurrence).length;
  }

  /** The part of the address that names the position that is shown. */
  get fragment() {
    const position = this.ply.position;
    return `#${new URLSearchParams({ game: this.game, ...(position && { position }) })}`;
  }

  /** Keep the game for a reload of this page. */
  keep() {
    const { game, plies, at } = this;
    sessionStorage.setItem(KEY, JSON.stringify({ game, plies, at }));
  }

  /** Return the game that was kept, if it is that of the address; else null. */
  static kept() {
    try {
      const { game, plies, at } = JSON.parse(sessionStorage.getItem(KEY));
      const record = new GameRecord(game, plies, at);
      return record.fragment === location.hash ? record : null;
    } catch {
      return null;
    }
  }
}
