/** The requests that an engine answers: their options, with defaults and ranges. */

import { ServiceError } from "./errors.js";

export const MOST_DEPTH = 63;
const MOST_TEXT = 65536;
const MOST_HISTORY = 512;
const MOST_LINES = 256;
const MOST_SESSION = 64;
const MOST_MIB = 65536;

const whole = (least, most = Number.MAX_SAFE_INTEGER) => ({
  about:
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${least}`
      : `a whole number from ${least} to ${most}`,
  accepts: (value) => Number.isInteger(value) && value >= least && value <= most,
});
const positive = {
  about: "a positive number",
  accepts: (value) => Number.isFinite(value) && value > 0,
};
const truth = { about: "true or false", accepts: (value) => typeof value === "boolean" };
const text = (most = MOST_TEXT) => ({
  about: `a text of at most ${most} characters`,
  accepts: (value) => typeof value === "string" && value.length <= most,
});
const choice = (...values) => ({
  about: values.map((value) => `"${value}"`).join(" or "),
  accepts: (value) => values.includes(value),
});
const texts = (most) => ({
  about: `an array of at most ${most} texts`,
  accepts: (value) =>
    Array.isArray(value) && value.length <= most && value.every((each) => text().accepts(each)),
});

/** An option: what it must be, and its default. */
const option = (kind, preset = null) => ({ ...kind, preset });

const POSITION = { position: option(text(), "") };
const LIMITED = {
  ...POSITION,
  nodes: option(whole(1)),
  seconds: option(positive),
  table: option(whole(1, MOST_MIB)),
  session: option(text(MOST_SESSION), ""),
};

/** The options of each kind of request. */
export const REQUESTS = {
  search: {
    ...LIMITED,
    engine: option(choice("alphabeta", "mcts"), "alphabeta"),
    depth: option(whole(1, MOST_DEPTH)),
    playouts: option(whole(1)),
    memory: option(whole(1, MOST_MIB)),
    exact: option(truth, false),
    lines: option(whole(1, MOST_LINES), 1),
    seed: option(whole(0)),
    moves: option(texts(MOST_LINES)),
    history: option(texts(MOST_HISTORY), []),
  },
  solve: {
    ...LIMITED,
    engine: option(choice("alphabeta", "auto"), "alphabeta"),
    at_least: option(whole(Number.MIN_SAFE_INTEGER)),
  },
  analyse: { ...LIMITED, engine: option(choice("alphabeta", "auto"), "alphabeta") },
  move: {
    ...POSITION,
    level: option(text(), "medium"),
    seconds: option(positive),
    seed: option(whole(0), 0),
  },
  perft: {
    ...POSITION,
    depth: option(whole(0, MOST_DEPTH)),
    seconds: option(positive),
    bulk: option(truth, true),
  },
};

/** Return a request with the defaults of what it leaves out; a `ServiceError` if it is wrong. */
export function checked(kind, given) {
  const options = REQUESTS[kind];
  if (typeof given !== "object" || given === null) {
    throw new ServiceError(
      "bad request",
      `a request must be an object, got ${shown(given)}`,
      "body",
    );
  }
  const request = Object.fromEntries(
    Object.entries(options).map(([name, { preset }]) => [name, preset]),
  );
  for (const [name, value] of Object.entries(given)) {
    const its = options[name];
    if (!its) {
      if (value === null || value === undefined || value === false) continue; // not asked for
      const known = Object.keys(options).join(", ");
      throw new ServiceError(
        "bad request",
        `a ${kind} of an export has no ${name}; it has ${known}`,
        `body.${name}`,
      );
    }
    if (value === undefined || (value === null && its.preset === null)) continue;
    if (!its.accepts(value)) {
      throw new ServiceError(
        "bad request",
        `${name} must be ${its.about}, got ${shown(value)}`,
        `body.${name}`,
      );
    }
    request[name] = value;
  }
  return kind === "search" ? suited(request) : request;
}

/** Refuse options of one engine for the other. */
function suited(request) {
  const others = request.engine === "mcts" ? ["depth", "exact"] : ["playouts", "memory"];
  const wrong = others.find((name) => request[name]);
  if (wrong) {
    const other = request.engine === "mcts" ? "alphabeta" : "mcts";
    throw new ServiceError(
      "bad request",
      `${wrong} is an option of ${other}, not of ${request.engine}`,
      `body.${wrong}`,
    );
  }
  return request;
}

function shown(value) {
  const text =
    typeof value === "string" ? `"${value}"` : Array.isArray(value) ? "an array" : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
