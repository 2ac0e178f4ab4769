import type { ProblemCode, Schemas } from "./types.js";

/** An answer that is an error: a problem (RFC 9457), or what somebody between said instead. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  /** Stable, such as "not-ranked"; "" for an answer that is not from a leaderboard server. */
  readonly code: ProblemCode | "" | (string & {});
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** The places of the request, each with its fault. */
  readonly errors: Schemas["InputError"][];
  /** The id of the request in the server's log and audit. */
  readonly requestId: string | undefined;
  /** The run that failed, of "run-failed". */
  readonly run: Schemas["Run"] | undefined;

  constructor(
    status: number,
    problem: Partial<Schemas["Problem"]>,
    /** Seconds that the server asks to wait, 0 when it does not. */
    readonly retryAfter = 0,
  ) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.code = problem.type?.split("/").pop() ?? "";
    this.title = problem.title ?? "";
    this.detail = problem.detail ?? "";
    this.errors = problem.errors ?? [];
    this.requestId = problem.request_id;
    this.run = problem.run;
  }
}

/** No answer came, or not all of it, or not in time: its cause says which. A write may have been done. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** connectionError is a ConnectionError because of another error. */
export const connectionError = (cause: unknown) => new ConnectionError(cause instanceof Error ? cause.message : String(cause), { cause });

/** readProblem makes a ProblemError of an answer that is not 2xx. */
export async function readProblem(response: Response): Promise<ProblemError> {
  const text = await response.text();
  const after = Number(response.headers.get("Retry-After"));
  let problem: Partial<Schemas["Problem"]> = { detail: "this is no answer of a leaderboard server" };
  if (response.headers.get("Content-Type")?.startsWith("application/problem+json")) problem = JSON.parse(text);
  return new ProblemError(response.status, problem, after > 0 ? after : 0);
}
