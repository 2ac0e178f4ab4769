// A fetch that answers from a script, without a network, and a clock that stands still but for the pauses of the client.
import { mock, type TestContext } from "node:test";
import { Leaderboard, type LeaderboardOptions } from "../src/index.js";

/** An answer of the script: to a request, or an error. */
export type Answer = (init: RequestInit & { url: string }) => Response | Promise<Response>;

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Answer => () =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers: { "Content-Type": status < 400 ? "application/json" : "application/problem+json", ...headers } });

export const problem = (status: number, code: string, retryAfter?: number): Answer =>
  json({ type: `/problems/${code}`, title: code, status, detail: "Why." }, status, retryAfter ? { "Retry-After": String(retryAfter) } : {});

/** lost is a connection that breaks: whether the server has done it nobody knows. */
export const lost: Answer = () => Promise.reject(new TypeError("fetch failed"));

/** silence answers when the request is given up. */
export const silence: Answer = ({ signal }) => new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));

/** A request as the client sent it. */
export interface Sent {
  url: string;
  method: string;
  headers: Headers;
  body: string;
}

/** scripted is a client whose requests get the answers, the last one again and again; sent and pauses grow. */
export function scripted(answers: Answer[], options: Partial<LeaderboardOptions> = {}) {
  const sent: Sent[] = [], pauses: number[] = [];
  const fake = async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const url = String(input);
    sent.push({ url, method: init.method ?? "GET", headers: new Headers(init.headers), body: String(init.body ?? "") });
    return answers[Math.min(sent.length, answers.length) - 1]!({ ...init, url });
  };
  const lb = new Leaderboard({ url: "http://server", fetch: fake, onRetry: ({ pause }) => pauses.push(pause), ...options });
  return { lb, sent, pauses };
}

/** still stops the clock for a test. settle runs it until a promise is settled, and returns milliseconds it took. */
export function still(t: TestContext) {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  t.after(() => mock.timers.reset());
  return async function settle(promise: Promise<unknown>): Promise<number> {
    const began = Date.now();
    let done = false;
    promise.then(() => (done = true), () => (done = true));
    while (!done) {
      await new Promise(setImmediate);
      if (!done) mock.timers.tick(50);
    }
    return Date.now() - began;
  };
}
