import { Leaderboard, ProblemError, type LeaderboardOptions } from "@leaderboard/client";
import { base } from "./base";
import { text } from "./language";

/** The answers that the server asked for already when it made the page, by address; each is used once. */
const told = new Map<string, string>(Object.entries(JSON.parse(document.getElementById("told")?.textContent ?? "{}")));

/** wasTold reports whether the page came with answers. Otherwise it has the reason. */
export const wasTold = told.size > 0;

const first: typeof fetch = (input, init) => {
  const address = new URL(String(input), location.href);
  address.searchParams.sort();
  const key = address.pathname.slice(base.length) + address.search;
  const answer = told.get(key);
  if (answer === undefined) return fetch(input, init);
  told.delete(key);
  return Promise.resolve(new Response(answer, { headers: { "Content-Type": "application/json" } }));
};

/** server makes a client of the server that the page is from. */
export const server = (options: Partial<LeaderboardOptions> = {}) => new Leaderboard({ url: `${base}/`, fetch: first, ...options });

/** words returns the text of an error. Other problems have the English text of the API. */
export function words(error: unknown): string {
  if (!(error instanceof ProblemError)) return text("problem.unreachable");
  if (error.status === 429) return text("problem.requests");
  if (error.status === 503) return text("problem.busy");
  if (error.code === "board-not-found") return text("problem.boardGone");
  return error.detail || error.title || text("problem.unknown");
}

/** reloadLater loads a page again which the server could not make just now, when it said that it can. */
export function reloadLater(): void {
  const problem = document.querySelector<HTMLElement>("[data-again]");
  if (problem) setTimeout(() => location.reload(), Math.max(2, Number(problem.dataset.again)) * 1000 + Math.random() * 2000);
}
