/** An exported engine for a Python process: a line of JSON for each call, and one for its answer. */

import { createInterface } from "node:readline";

const { Engine } = await import(process.argv[2]);
const engine = await Engine.create({ table: 16, tree: 16 });

/** Return a value as JSON can hold it: words as texts. */
function plain(name, value) {
  if (value instanceof BigUint64Array) return Array.from(value, String);
  return value === undefined ? null : value;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...given] = JSON.parse(line);
  let said;
  try {
    if (name === "setWords") given[0] = BigUint64Array.from(given[0], BigInt);
    said = { result: engine[name](...given) };
  } catch (error) {
    said = { error: error.message, kind: error.kind ?? error.name };
  }
  console.log(JSON.stringify(said, plain));
}
