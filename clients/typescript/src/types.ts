import type { components, operations } from "./generated/api.js";

/** The schemas of the API, as its document names them: `Schemas["TopAnswer"]`. */
export type Schemas = components["schemas"];

/** A 64-bit integer to send: digits, a bigint, or a number up to 2^53. */
export type Integer = bigint | number | string;

/** The type to send for a T: any Integer for a bigint. */
export type Sent<T> = T extends bigint ? Integer : T extends object ? { [K in keyof T]: Sent<T[K]> } : T;

/** Parameters of a query. An undefined parameter is left out. */
export type Query<Id extends keyof operations> = { [K in keyof Parameters<Id>]: Parameters<Id>[K] | undefined };
type Parameters<Id extends keyof operations> = NonNullable<operations[Id]["parameters"]["query"]>;

/** A page, and, as an iterable, it and all pages after it. */
export type Pages<T> = Promise<T> & AsyncIterable<T>;

/** The problem codes of the API, such as "board-not-found". */
export type ProblemCode = Schemas["ProblemType"] extends `/problems/${infer Code}` ? Code : never;

/** The options of every call. */
export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take, in the place of the client's. */
  timeout?: number | undefined;
  /** Milliseconds that a call is repeated for, in the place of the client's. */
  maxWait?: number | undefined;
  /** Is called with the answer before it is read: for ETag, Location, RateLimit. */
  onResponse?: ((response: Response) => void) | undefined;
}

/** A call that has failed and will be repeated. */
export interface Retry {
  /** Which attempt failed, from 1. */
  attempt: number;
  /** How: a ProblemError or a ConnectionError. */
  error: unknown;
  /** Milliseconds until the next one. */
  pause: number;
}

/** How a Leaderboard is made. */
export interface LeaderboardOptions {
  /** Address of the server, such as https://scores.example.com; in a page of the server itself "/". */
  url: string;
  /** Key, sent with every request. Without one, only public boards can be read. */
  key?: string | undefined;
  /** Sends the requests, globalThis.fetch by default. */
  fetch?: typeof fetch | undefined;
  /** Milliseconds that one attempt may take, 10,000 by default. */
  timeout?: number | undefined;
  /** Milliseconds that a call is repeated for, 30,000 by default; 0: every request is sent once. */
  maxWait?: number | undefined;
  /** Is called before each pause. */
  onRetry?: ((retry: Retry) => void) | undefined;
}
