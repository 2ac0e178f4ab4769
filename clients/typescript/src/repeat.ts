import { ConnectionError, ProblemError, connectionError } from "./errors.js";
import type { Retry } from "./types.js";

/** How a call is repeated. */
interface Rules {
  /** A second request does not do what the first has done again. */
  safe: boolean;
  maxWait: number;
  signal?: AbortSignal | undefined;
  onRetry: ((retry: Retry) => void) | undefined;
}

/**
 * repeat makes attempts until one succeeds, or fails in a way that another attempt would not change, or the time is over. If
 * the server asks for a pause, repeat adds up to a second. Otherwise the pause doubles from 100 ms to 5 s, each between half
 * of it and the whole, so that clients that failed together do not come back together. maybeDone: the server may have carried
 * out an earlier attempt.
 */
export async function repeat<T>(attempt: (maybeDone: boolean) => Promise<T>, { safe, maxWait, signal, onRetry }: Rules): Promise<T> {
  const deadline = Date.now() + maxWait;
  signal?.throwIfAborted();
  let maybeDone = false;
  for (let n = 1, longest = 100; ; n++, longest = Math.min(2 * longest, 5000)) {
    try {
      return await attempt(maybeDone);
    } catch (error) {
      signal?.throwIfAborted();
      const asked = error instanceof ProblemError ? error.retryAfter * 1000 : 0;
      const pause = asked ? asked + Math.random() * 1000 : (longest * (1 + Math.random())) / 2;
      if (!mayPass(error, safe) || Date.now() + pause > deadline) throw error;
      maybeDone ||= !nothingDone(error);
      onRetry?.({ attempt: n, error, pause });
      await sleep(pause, signal);
    }
  }
}

/** mayPass reports whether a failed call may be sent again, and may succeed. */
function mayPass(error: unknown, safe: boolean): boolean {
  if (!(error instanceof ProblemError)) return safe && error instanceof ConnectionError;
  if (error.run) return false; // the next one would do the same work again
  return nothingDone(error) || (safe && [408, 502, 503, 504].includes(error.status));
}

/** nothingDone reports whether the server has certainly not carried out a failed call. */
const nothingDone = (error: unknown) => error instanceof ProblemError && (error.status === 429 || error.code === "overloaded");

/** within gives an attempt a signal that ends with the caller's, or when the attempt has taken too long. */
export async function within<T>(ms: number, signal: AbortSignal | undefined, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException(`no answer within ${ms} ms`, "TimeoutError")), ms);
  try {
    return await attempt(either(late.signal, signal));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ProblemError) throw error;
    throw connectionError(late.signal.aborted ? late.signal.reason : error);
  } finally {
    clearTimeout(timer);
  }
}

/** either is a signal that ends with the first of two. */
export const either = (a: AbortSignal, b: AbortSignal | undefined) => (b ? AbortSignal.any([a, b]) : a);

/** sleep waits, or throws the signal's reason. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, ms);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
