export { Leaderboard, type BoardChange, type ChangedEntry, type StreamOptions } from "./client.js";
export { readEvent, type WebhookEvent } from "./events.js";
export { ConnectionError, ProblemError } from "./errors.js";
export type { CallOptions, Integer, LeaderboardOptions, Pages, ProblemCode, Retry, Schemas, Sent } from "./types.js";
