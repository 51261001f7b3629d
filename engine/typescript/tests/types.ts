/** A use of the types as an editor sees it; it is type-checked, never run. */

import { Client, ServiceError } from "cutnode-client";
import type { LineView, PositionView, Searched, Solved } from "cutnode-client";

export async function use(client: Client): Promise<void> {
  const view: PositionView = await client.position("connect4", "44");
  const { places } = (await client.board("connect4")) ?? { places: [] };
  const corner: [number, number] | undefined = places[0];
  const found: Searched = await client.search("connect4", { position: view.position, lines: 2 });
  const lines: LineView[] = found.lines;
  const proven: Solved = await client.solve("connect4", { engine: "auto" });
  const value: number | null = proven.value;
  void [corner, lines, value];

  // @ts-expect-error: a depth is a number
  void client.search("connect4", { depth: "8" });
  // @ts-expect-error: there is no such option
  void client.solve("connect4", { speed: 1 });
  // @ts-expect-error: there is no such level
  void client.move("connect4", { level: "god" });
  // @ts-expect-error: perft needs a depth
  void client.perft("connect4");
  // @ts-expect-error: moves of levels are not streamed
  void client.stream("move", "connect4");

  const search = client.stream("search", "connect4", { depth: 9 }, { signal: AbortSignal.any([]) });
  for await (const event of search) {
    if (event.event === "iteration") void event.lines;
    else if (event.event === "result") void (event.result satisfies Searched);
    else if (event.event === "compiling") void (event.functions satisfies number);
    else void (event.event satisfies "started");
  }
  for await (const event of client.stream("analyse", "connect4")) {
    if (event.event === "result") void (event.result satisfies Solved).scores;
    if (event.event === "progress") void event.lower;
  }
}

export function meaning(error: unknown): string {
  if (!(error instanceof ServiceError)) throw error;
  // @ts-expect-error: there is no such kind
  if (error.kind === "no such thing") return "";
  return error.kind === "too many" ? `again in ${error.retryAfter ?? 1} s` : error.message;
}
