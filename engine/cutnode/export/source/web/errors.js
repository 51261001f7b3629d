/** Errors, with the fields that the client of a service gives them. */

/** A request that is refused; its message says what is wrong with it. */
export class ServiceError extends Error {
  name = "ServiceError";
  /** The HTTP status and the seconds to wait of a service; here always null. */
  status = null;
  retryAfter = null;

  constructor(kind, message, where = null) {
    super(message);
    /** The kind of error, such as `"no such position"`. */
    this.kind = kind;
    /** The place in the request, such as `"body.position"`; null if there is none in particular. */
    this.where = where;
  }
}

/** The engine cannot be loaded, or its worker has broken down. */
export class ConnectionError extends Error {
  name = "ConnectionError";
}
