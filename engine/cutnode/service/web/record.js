/** The record of a game: its positions, the one that is shown, and how it is saved. */

const KEY = "cutnode.game";

/**
 * A ply is a position and what led to it: `{position, move, chance, side, changed, recurrence,
 * share}`.  `side` is the player to move, 0 or 1; `share` is the first player's share of the game
 * according to the analysis, or null.
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

  /** Go to another ply; returns whether it exists. */
  go(at) {
    const there = at >= 0 && at < this.plies.length && at !== this.at;
    if (there) this.at = at;
    return there;
  }

  /** Add a ply after the one that is shown; the plies that followed are dropped if it differs. */
  add(ply) {
    const next = this.plies[this.at + 1];
    if (next?.position !== ply.position || next?.move !== ply.move) {
      this.plies.splice(this.at + 1, Infinity, ply);
    }
    this.at += 1;
  }

  /** How often the position that is shown has occurred; 1 if positions cannot recur. */
  get occurrences() {
    const { recurrence } = this.ply;
    const before = this.plies.slice(0, this.at + 1);
    return recurrence === null ? 1 : before.filter((p) => p.recurrence === recurrence).length;
  }

  /** The fragment of the address, which names the position that is shown. */
  get fragment() {
    const position = this.ply.position;
    return `#${new URLSearchParams({ game: this.game, ...(position && { position }) })}`;
  }

  /** Save the game for a reload of this page. */
  keep() {
    const { game, plies, at } = this;
    sessionStorage.setItem(KEY, JSON.stringify({ game, plies, at }));
  }

  /** Return the saved game if the address names its position; else null. */
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
