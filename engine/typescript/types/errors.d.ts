/**
 * Return what a text of JSON says; undefined if it is none.
 *
 * @param {string} text
 * @returns {any}
 */
export function parse(text: string): any;
/**
 * Return whether it says what was wrong, as a service of cutnode does.
 *
 * @param {any} said
 * @returns {said is ErrorBody}
 */
export function isErrorBody(said: any): said is ErrorBody;
/** What can go wrong: the service refuses, or it cannot be reached. */
/** @import { ErrorBody } from "../types/schema.js" */
/** An answer that is an error.  Its message is the line in which the service says what was wrong. */
export class ServiceError extends Error {
    /**
     * @param {ErrorBody} body
     * @param {number | null} [status]
     * @param {number | null} [retryAfter]
     */
    constructor(body: ErrorBody, status?: number | null, retryAfter?: number | null);
    /** The kind of error, such as `"no such position"`. */
    kind: "bad request" | "not allowed" | "no such game" | "no such position" | "no such move" | "no such evaluation" | "no such page" | "wrong method" | "refused by the game" | "too large" | "too slow" | "too many" | "starting" | "stopping" | "broken game" | "failure";
    /** The place in the request, such as `"body.position"`; null if it is nowhere in particular. */
    where: string | null;
    /** The status of HTTP; null in a stream. */
    status: number | null;
    /** When to ask again, in seconds; null if that would not help. */
    retryAfter: number | null;
}
/** The service cannot be reached, went away, or is no service of cutnode. */
export class ConnectionError extends Error {
}
import type { ErrorBody } from "../types/schema.js";
