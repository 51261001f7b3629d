export { Client, type Options, type Transport } from "../types/client.js";
export { ConnectionError, ServiceError } from "../types/errors.js";
export { Stream, type Socket, type StreamEvent, type Streams } from "../types/stream.js";
export type * from "../types/schema.js";
