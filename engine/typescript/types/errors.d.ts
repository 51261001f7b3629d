/**
 * Parse JSON; return undefined if it is invalid.
 *
 * @param {string} text
 * @returns {any}
 */
export function parse(text: string): any;
/**
 * Return whether a parsed answer is the error of a cutnode service.
 *
 * @param {any} said
 * @returns {said is ErrorBody}
 */
export function isErrorBody(said: any): said is ErrorBody;
/** Errors: the service refuses a request, or cannot be reached. */
/** @import { ErrorBody } from "../types/schema.js" */
/** An error answer; its message is the one that the service sent. */
export class ServiceError extends Error {
    /**
     * @param {ErrorBody} body
     * @param {number | null} [status]
     * @param {number | null} [retryAfter]
     */
    constructor(body: ErrorBody, status?: number | null, retryAfter?: number | null);
    /** The kind of error, such as `"no such position"`. */
    kind: "bad request" | "not allowed" | "no such game" | "no such position" | "no such move" | "no such evaluation" | "no such page" | "wrong method" | "refused by the game" | "too large" | "too slow" | "too many" | "starting" | "stopping" | "broken game" | "failure";
    /** The place in the request, such as `"body.position"`; null if there is none in particular. */
    where: string | null;
    /** The HTTP status; null in a stream. */
    status: number | null;
    /** Seconds to wait before retrying; null if that would not help. */
    retryAfter: number | null;
}
/** The service cannot be reached, has gone away, or is not a cutnode service. */
export class ConnectionError extends Error {
}
import type { ErrorBody } from "../types/schema.js";
