import { ConnectionError, ProblemError, readProblem } from "./errors.js";
import { events, type ServerEvent } from "./events.js";
import { table, type Operations } from "./generated/operations.js";
import { parse, stringify } from "./json.js";
import { either, repeat, sleep, within } from "./repeat.js";
import type { CallOptions, LeaderboardOptions, Query, Schemas } from "./types.js";

type Id = keyof typeof table;
type Options = CallOptions & Record<string, unknown>;

/** A Call is one request, ready to be sent, any number of times. */
interface Call extends CallOptions {
  target: string;
  init: RequestInit;
  /** A second request does not do what the first has done again. */
  safe: boolean;
  plain: boolean;
  timeout: number;
}

/** The options that are header fields. */
const headerNames: Record<string, string> = { ifMatch: "If-Match", ifNoneMatch: "If-None-Match", idempotencyKey: "Idempotency-Key" };
/** The options that are not sent. */
const callNames = ["signal", "timeout", "maxWait", "onResponse"];
/** Milliseconds that operations may take which are allowed more than others. */
const slow: { [id in Id]?: number } = { verifyCopy: 300_000, hideMember: 60_000, restoreMember: 60_000, hideMemberEverywhere: 60_000, restoreMemberEverywhere: 60_000, moderateMembers: 60_000, moderateMembersEverywhere: 60_000, exportEntries: 60_000, getMemberData: 60_000 };
/** Milliseconds that a stream may be silent beyond the timeout: a server without news sends a comment every 15 seconds. */
const silence = 20_000;

/** In the lines of a feed before and after are entries; elsewhere they are whatever an action changed. */
const noNames: ReadonlySet<string> = new Set();

/** Milliseconds between two looks at a board whose last season is over. */
const followPause = 5000;

/** Milliseconds for which the id of a notice is kept. */
const heardFor = 300_000;

/** Operations are declared by the API's document; a static block of the class makes them. */
export interface Leaderboard extends Operations {}

/**
 * A client of one server, or of several behind one address. It has a method for each operation of the API: the parts of
 * the path come first, then the body, then everything else by name.
 */
export class Leaderboard {
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;
  readonly #defaults: { timeout: number; maxWait: number; onRetry: LeaderboardOptions["onRetry"] };

  static {
    for (const id of Object.keys(table) as Id[]) {
      if (id in this.prototype) continue; // it is written below
      Object.defineProperty(this.prototype, id, { configurable: true, writable: true, value(this: Leaderboard, ...args: unknown[]) { return this.#pages(id, args); } });
    }
  }

  constructor(options: LeaderboardOptions) {
    const { url, key, timeout = 10_000, maxWait = 30_000, onRetry } = options;
    this.#base = url.replace(/\/+$/, "");
    new URL(`${this.#base}/`, globalThis.location?.href); // throws if url is no address
    this.#headers = key ? { Authorization: `Bearer ${key}` } : {};
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#defaults = { timeout, maxWait, onRetry };
  }

  /**
   * The top of a board, or with `member` the entries around it: now, and again after each change, until the caller breaks off
   * or the signal ends. While a member is not ranked, its page has no entries. After the first page, a lost connection is
   * opened again without end. It throws a ProblemError if the board is gone or the key may no longer read it. GET
   * /v1/boards/{board}/stream
   */
  streamPage(board: string, options: StreamOptions & { member: string }): AsyncGenerator<Schemas["AroundAnswer"], void, undefined>;
  streamPage(board: string, options?: StreamOptions & { member?: undefined }): AsyncGenerator<Schemas["TopAnswer"], void, undefined>;
  async *streamPage(board: string, { onPassed, ...options }: StreamOptions = {}): AsyncGenerator<any, void, undefined> {
    const call = this.#call("streamPage", [board, onPassed ? { ...options, passed: true } : options]);
    const heard = new Map<string, number>(); // when notices came: another stream begins with the notices of the last minute
    for (let idle = 0; ; idle++) {
      let pause = 1000;
      try {
        for await (const event of this.#events(call)) {
          call.maxWait = Infinity; // it was open once: from now on it is opened again whenever that takes
          pause = event.retry ?? pause;
          if (event.name === "gone") throw gone(event.data);
          if (event.name === "passed" && !heard.has(event.id)) {
            for (const [id, at] of heard) if (Date.now() - at > heardFor) heard.delete(id);
            heard.set(event.id, Date.now());
            onPassed?.(parse(event.data, noNames));
          }
          if (event.name !== "page") continue;
          idle = 0;
          yield parse(event.data);
        }
      } catch (error) {
        if (!(error instanceof ConnectionError) || call.maxWait !== Infinity) throw error;
      }
      await sleep(pause * (0.5 + Math.random()) * Math.min(2 ** idle, 8), call.signal);
    }
  }

  /** events opens a stream and reads it until it ends, or nothing has come for too long. */
  async *#events(call: Call): AsyncGenerator<ServerEvent, void, undefined> {
    const connection = new AbortController();
    let watchdog: ReturnType<typeof setTimeout> | undefined;
    try {
      const response = await this.#repeat(call, (attempt) => this.#send(call, either(attempt, connection.signal)));
      const alive = () => {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => connection.abort(new ConnectionError("the stream is silent")), call.timeout + silence);
      };
      alive();
      yield { id: "", name: "open", data: "", retry: undefined };
      yield* events(response.body!, alive);
    } catch (error) {
      call.signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(watchdog);
    }
  }

  /**
   * Each change of a board once and in the order of commits, over the ends of periods, until the caller breaks off or the
   * signal ends; it begins at `after`. It asks for further changes when the caller has taken all before them. It throws a
   * ProblemError "history-changed" or "log-pruned" if the caller has to export the board again. GET /v1/boards/{board}/changes
   */
  async *readChanges(board: string, options: Query<"readChanges"> & CallOptions = {}): AsyncGenerator<BoardChange, void, undefined> {
    let after = options.after;
    for (let over = ""; ; ) {
      const call = this.#call("readChanges", [board, { wait: "30s", ...options, after }]);
      const { lines, cursor } = await this.#repeat(call, async (signal) => {
        const response = await this.#send(call, signal);
        return { lines: (await response.text()).split("\n"), cursor: response.headers.get("Leaderboard-Cursor") };
      });
      for (const line of lines) {
        if (!line) continue;
        const change: BoardChange = parse(line, noNames);
        const last = "end" in change && change.next === null ? change.period : "";
        if (last && last === over) continue;
        over = last;
        yield change;
      }
      after = cursor ?? after;
      if (over) await sleep(followPause, call.signal); // no period comes after it yet
    }
  }

  /** All entries of a period as CSV or JSON lines, best first, while they are read: `response.body`. GET /v1/boards/{board}/export */
  exportEntries(board: string, options: Query<"exportEntries"> & CallOptions = {}): Promise<Response> {
    const call = this.#call("exportEntries", [board, options]);
    return this.#repeat(call, (signal) => this.#send(call, signal));
  }

  /** pages sends a request. Its result also iterates over the pages after the first one. */
  #pages(id: Id, args: unknown[]): Promise<any> & AsyncIterable<any> {
    const ask = async (cursor?: string) => {
      const call = this.#call(id, args, cursor);
      return this.#repeat(call, async (signal, maybeDone): Promise<any> => {
        const answer: any = await read(await this.#send(call, signal), call.plain);
        if (maybeDone && answer?.replayed) delete answer.replayed; // it is of an earlier attempt of this very call
        return answer;
      });
    };
    const first = ask();
    const pages = async function* () {
      for (let page = await first; ; page = await ask(page.next_cursor)) {
        yield page;
        if (!page.next_cursor) return;
      }
    };
    return Object.assign(first, { [Symbol.asyncIterator]: pages });
  }

  /** call makes a request of the arguments of a method. */
  #call(id: Id, args: unknown[], cursor?: string): Call {
    const [method, path, flag] = table[id].split(" ") as [string, string, string?];
    const parts = [...args];
    const target = this.#base + path.replace(/{\w+}/g, () => segment(parts.shift()));
    const hasBody = method[0] === "P";
    const body = hasBody ? stringify(parts.shift() ?? {}) : null;
    const options = (parts.shift() ?? {}) as Options;
    const headers: Record<string, string> = { ...this.#headers };
    if (hasBody) headers["Content-Type"] = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    if (flag === "key") headers["Idempotency-Key"] = newKey();
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined || callNames.includes(name)) continue;
      if (name in headerNames) headers[headerNames[name]!] = String(value);
      else query.set(name, String(value));
    }
    if (cursor) {
      query.set("cursor", cursor);
      query.delete("offset"); // the cursor knows where it is
    }
    const { signal, maxWait, onResponse } = options;
    const timeout = options.timeout ?? Math.max(slow[id] ?? 0, this.#defaults.timeout) + milliseconds(options.wait);
    return {
      target: query.size ? `${target}?${query}` : target,
      init: { method, headers, body },
      safe: method === "GET" || flag === "key" || flag === "read", plain: flag === "plain",
      signal, timeout, maxWait, onResponse,
    };
  }

  /** repeat makes attempts, each within its time. */
  #repeat<T>(call: Call, attempt: (signal: AbortSignal, maybeDone: boolean) => Promise<T>): Promise<T> {
    const { maxWait, onRetry } = this.#defaults;
    return repeat((maybeDone) => within(call.timeout, call.signal, (signal) => attempt(signal, maybeDone)), { ...call, maxWait: call.maxWait ?? maxWait, onRetry });
  }

  /** send makes one attempt and returns a 2xx answer. */
  async #send(call: Call, signal: AbortSignal): Promise<Response> {
    const response = await this.#fetch(call.target, { ...call.init, signal });
    if (!response.ok) throw await readProblem(response);
    call.onResponse?.(response);
    return response;
  }
}

/** One change of a board, or the end of one of its periods; `next` is the cursor of the next period. */
export type BoardChange =
  | { period: string; seq: number; committed_at: string; member: string; before: ChangedEntry | null; after: ChangedEntry | null; cursor: string }
  | { end: true; period: string; next: string | null };

/** The entry of a member before or after a change. */
export interface ChangedEntry {
  score: bigint;
  tiebreak: bigint;
  fields?: Record<string, bigint>;
  created_time: string;
}

/** The options of streamPage. */
export type StreamOptions = Omit<Query<"streamPage">, "passed"> & CallOptions & {
  /**
   * Is called each time another member passes `member`, on a board whose rule notify reports it. The first calls may be for
   * the last minute. It needs a key that may read the board, or the member's own token.
   */
  onPassed?: ((notice: Schemas["MemberPassedEvent"]["data"]) => void) | undefined;
};

/** newKey is an Idempotency-Key. (crypto.randomUUID is for pages of https only.) */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** segment returns a part of a path. It refuses texts that no address can hold as a part: "..", say, would be another address. */
function segment(value: unknown): string {
  const text = String(value ?? "");
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${JSON.stringify(text)} cannot be a part of a path`);
  return encodeURIComponent(text);
}

/** milliseconds of a Go duration such as 30s, 1m30s or 500ms; 0 of anything else, which the server refuses. */
function milliseconds(duration: unknown): number {
  const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
  let sum = 0;
  for (const [, number, unit] of String(duration ?? "").matchAll(/([\d.]+)(h|ms|m|s)/g)) sum += Number(number) * units[unit!]!;
  return sum;
}

/** read returns the value in an answer. */
async function read(response: Response, plain: boolean): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  if (!response.headers.get("Content-Type")?.includes("json")) return text;
  return plain ? JSON.parse(text) : parse(text);
}

/** gone is why a stream has ended for good. */
function gone(data: string): ProblemError {
  const problem = JSON.parse(data);
  return new ProblemError(problem.status, problem);
}
