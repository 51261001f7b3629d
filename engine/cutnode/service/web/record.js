/** The record of a game: a tree of plies, the line that is shown, and how both are saved. */

const KEY = "cutnode.record";
const LONGEST_LINK = 8000;

/** Return a ply: a position, and what led to it. */
export function plyOf(position, given = {}) {
  return {
    position,
    move: null,
    chance: null, // the outcome of chance in words
    outcome: null, // and its number
    side: null, // the player to move, 0 or 1
    changed: [],
    recurrence: null,
    share: null, // the first player's share of the game according to the analysis
    mark: "",
    comment: "",
    ...given,
  };
}

/**
 * Plies form a tree by `parent` and `children`: the first child continues the line, and the others
 * begin variations.
 */
export class GameRecord {
  #count = 0;

  /** `plies` are a list, the start first, in which `parent` is a number in the list or null. */
  constructor(game, plies, { at = 0, headers = {} } = {}) {
    this.game = game;
    this.headers = headers;
    const made = [];
    for (const ply of plies) made.push(this.#attach(ply, made[ply.parent] ?? null));
    this.start = made[0];
    this.show(made[at]);
  }

  #attach(ply, parent) {
    const attached = { ...ply, parent, children: [], id: this.#count++ };
    parent?.children.push(attached);
    return attached;
  }

  get ply() {
    return this.plies[this.at];
  }

  /** Show a ply: `plies` becomes the line through it, and `at` its number in the line. */
  show(ply) {
    const before = [];
    for (let each = ply; each; each = each.parent) before.unshift(each);
    this.at = before.length - 1;
    this.plies = before;
    for (let next = ply.children[0]; next; next = next.children[0]) this.plies.push(next);
  }

  /** Go to another ply of the line; returns whether it exists. */
  go(at) {
    const there = at >= 0 && at < this.plies.length && at !== this.at;
    if (there) this.at = at;
    return there;
  }

  /** Add a ply after the one that is shown, as a variation if another one follows already. */
  add(ply) {
    const { children } = this.ply;
    const same = (each) => ["position", "move", "outcome"].every((name) => each[name] === ply[name]);
    const next = children.find(same) ?? this.#attach(ply, this.ply);
    if (this.plies[this.at + 1] === next) this.at += 1;
    else this.show(next);
  }

  /** Return the next (1) or previous (-1) alternative to the ply that is shown, if there is one. */
  sibling(step) {
    const all = this.ply.parent?.children ?? [];
    return all[all.indexOf(this.ply) + step];
  }

  /** The first ply of the variation that is shown; null in the main line. */
  get variation() {
    let ply = this.ply;
    while (ply.parent && ply.parent.children[0] === ply) ply = ply.parent;
    return ply.parent && ply;
  }

  /** Move the variation that is shown one place towards the main line. */
  promote() {
    const all = this.variation.parent.children;
    const place = all.indexOf(this.variation);
    [all[place - 1], all[place]] = [all[place], all[place - 1]];
    this.show(this.ply);
  }

  /** Delete the ply that is shown and all that follow. */
  remove() {
    const { parent } = this.ply;
    parent.children.splice(parent.children.indexOf(this.ply), 1);
    this.show(parent);
  }

  /** How often the position that is shown has occurred; 1 if positions cannot recur. */
  get occurrences() {
    const { recurrence } = this.ply;
    const before = this.plies.slice(0, this.at + 1);
    return recurrence === null ? 1 : before.filter((p) => p.recurrence === recurrence).length;
  }

  /** The fragment of the address, which names the position that is shown. */
  get fragment() {
    return this.#fragment({});
  }

  #fragment(more) {
    const { position } = this.ply;
    return `#${new URLSearchParams({ game: this.game, ...(position && { position }), ...more })}`;
  }

  /** Return an address that holds the whole game; throws an error if the game is too long. */
  get link() {
    const link = this.#fragment({ record: this.text });
    if (link.length > LONGEST_LINK) {
      throw new Error(
        `a link holds at most ${LONGEST_LINK} characters, this game needs ${link.length}: ` +
          "save it as a file",
      );
    }
    return new URL(link, location.href).href;
  }

  /** The game as a list of moves, which a service reads: see `cutnode/playing/records.py`. */
  get text() {
    const { game, start } = this;
    const headers = Object.entries(this.headers).map(([name, value]) => `# ${name}: ${value}`);
    const lines = [`# moves of ${game}, from ${start.position}`, ...headers, ...said(start)];
    return [...lines, ...stepsFrom(start.children[0]), ""].join("\n");
  }

  /** The line that is shown as a list of moves, without its variations. */
  get lineText() {
    const steps = this.plies.slice(1).map((ply) => ply.move ?? `chance ${ply.outcome}`);
    return [`# moves of ${this.game}, from ${this.start.position}`, ...steps, ""].join("\n");
  }

  /** Save the game for a reload of this page. */
  keep() {
    const numbers = new Map();
    const add = (ply) => {
      for (; ply; ply = ply.children[0]) {
        numbers.set(ply, numbers.size);
        if (ply.parent?.children[0] === ply) ply.parent.children.slice(1).forEach(add);
      }
    };
    add(this.start);
    const plies = [...numbers.keys()].map(({ children, id, parent, ...ply }) => {
      return { ...ply, parent: numbers.get(parent) ?? null };
    });
    const { game, headers } = this;
    sessionStorage.setItem(KEY, JSON.stringify({ game, headers, plies, at: numbers.get(this.ply) }));
  }

  /** Return the saved game if the address names its position; else null. */
  static kept() {
    try {
      const { game, plies, at, headers } = JSON.parse(sessionStorage.getItem(KEY));
      const record = new GameRecord(game, plies, { at, headers });
      return record.fragment === location.hash ? record : null;
    } catch {
      return null;
    }
  }
}

/** Yield the lines of text of a line of plies, with its variations. */
function* stepsFrom(first) {
  for (let ply = first; ply; ply = ply.children[0]) {
    const step = ply.move ?? `chance ${ply.outcome}`;
    yield ply.mark ? `${step} ${ply.mark}` : step;
    yield* said(ply);
    const all = ply.parent.children;
    if (ply !== all[0]) continue;
    for (const other of all.slice(1)) yield* ["(", ...stepsFrom(other), ")"];
  }
}

function said(ply) {
  return ply.comment ? ply.comment.split("\n").map((line) => `# ${line}`) : [];
}

/**
 * Yield the parts of a game in the order in which people write it: `{ply, number}`, where `number`
 * is a text such as `1.` or empty, and `{open}` and `{close}` around variations.
 */
export function* writtenParts(first, number = 1) {
  for (let ply = first; ply; ply = ply.children[0]) {
    const { parent } = ply;
    const begins = parent.side === 0 && parent.parent?.side === 1;
    if (begins) number += 1;
    const shown = ply === first ? `${number}${parent.side === 1 ? "…" : "."}` : begins ? `${number}.` : "";
    yield { key: `${ply.id}`, ply, number: shown };
    if (ply !== parent.children[0]) continue;
    for (const other of parent.children.slice(1)) {
      yield { key: `open ${other.id}`, bracket: "(" };
      yield* writtenParts(other, begins ? number - 1 : number);
      yield { key: `close ${other.id}`, bracket: ")" };
    }
  }
}
