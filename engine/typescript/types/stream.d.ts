/**
 * A search that reports while it runs; it starts when the first event is requested.
 *
 * Leaving the loop ends the search.  The loop throws a {@link ServiceError} if the service refuses
 * the request, a {@link ConnectionError} if the connection is lost before the result, and the
 * signal's reason if it is aborted.
 *
 * @template {keyof Streams} Kind
 * @implements {AsyncIterable<StreamEvent<Kind>>}
 */
export class Stream<Kind extends keyof Streams> implements AsyncIterable<StreamEvent<Kind>> {
    /**
     * @param {() => Socket} connect
     * @param {string} url - The address, for error messages.
     * @param {string} question - The message that starts the search.
     * @param {AbortSignal} [signal]
     */
    constructor(connect: () => Socket, url: string, question: string, signal?: AbortSignal);
    /** End the search; the stream then ends with the best result so far. */
    stop(): void;
    [Symbol.asyncIterator](): AsyncGenerator<StreamEvent<Kind>, void, void>;
    #private;
}
/**
 * The requests that can be streamed, the events until they are answered, and the answers.
 */
export type Streams = {
    search: {
        request: SearchRequest;
        meanwhile: DepthDone;
        answer: Searched;
    };
    solve: {
        request: SolveRequest;
        meanwhile: Progressed;
        answer: Solved;
    };
    analyse: {
        request: AnalyseRequest;
        meanwhile: Progressed;
        answer: Solved;
    };
};
/**
 * An event of a stream: `compiling` while a first search waits for its code, `started` when the
 * search leaves the queue, an `iteration` for each depth of a search or the `progress` of a proof
 * every second, and finally the `result`.
 */
export type StreamEvent<Kind extends keyof Streams> = Compiling | Started | Streams[Kind]["meanwhile"] | {
    event: "result";
    result: Streams[Kind]["answer"];
};
/**
 * The part of the standard WebSocket interface that streams use.
 */
export type Socket = {
    readonly readyState: number;
    onopen: ((event: any) => void) | null;
    onmessage: ((event: any) => void) | null;
    onclose: ((event: any) => void) | null;
    onerror: ((event: any) => void) | null;
    send(data: string): void;
    close(): void;
};
import type { SearchRequest } from "../types/schema.js";
import type { DepthDone } from "../types/schema.js";
import type { Searched } from "../types/schema.js";
import type { SolveRequest } from "../types/schema.js";
import type { Progressed } from "../types/schema.js";
import type { Solved } from "../types/schema.js";
import type { AnalyseRequest } from "../types/schema.js";
import type { Compiling } from "../types/schema.js";
import type { Started } from "../types/schema.js";
