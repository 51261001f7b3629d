/** Games in and out: texts and files that are opened, files that are saved, links. */

import { GameRecord, plyOf } from "./record.js";

const LIST = ".txt";
const MOST_BYTES = 1_000_000;

/** Return the text of a file; throws an error if it is too large for a game. */
export async function textOf(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has more than ${MOST_BYTES} bytes`);
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Read games of texts by the service, and write them. */
export class Exchange {
  constructor(connection) {
    this.connection = connection;
  }

  /**
   * Return the record of a game and what was not read as written; `game` is the one that is shown,
   * and `games` are all that the service lists.
   */
  async read(text, game, games) {
    const name = gameOf(text, game, games);
    const path = `games/${encodeURIComponent(name)}/record`;
    const { plies, headers, notes } = await this.connection.post(path, { text });
    const record = new GameRecord(name, plies.map((ply) => plyOf(ply.position, ply)), { headers });
    record.go(record.plies.length - 1);
    return { record, notes };
  }

  /** Save a game as a file: a list of moves, or (`own`) the game's own format. */
  async save(record, own) {
    const path = `games/${encodeURIComponent(record.game)}/record/own`;
    const list = { text: record.text, suffix: LIST };
    const { text, suffix } = own ? await this.connection.post(path, { text: record.text }) : list;
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    const link = document.createElement("a");
    Object.assign(link, { href: address, download: `${record.game.replace(/\W+/g, "-")}${suffix}` });
    link.click();
    URL.revokeObjectURL(address);
  }
}

/** Return the name of the game of a text: the one that it names, the one of PGN, or else `game`. */
function gameOf(text, game, games) {
  const named = text.match(/^\s*#\s*moves of (\S+?)(,|\s*$)/m);
  if (named) return named[1];
  const isPgn = /^\s*\[\w+ "/.test(text);
  const chosen = isPgn && game?.record_suffix !== ".pgn" && games.find((g) => g.record_suffix === ".pgn");
  if (!chosen && !game) throw new Error("choose a game first: the text does not say which game it is");
  return chosen ? chosen.name : game.name;
}
