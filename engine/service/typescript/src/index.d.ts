export * from "../types/client.js";
export * from "../types/errors.js";
export * from "../types/stream.js";
export type * from "../types/schema.js";
