import type { Leaderboard, Schemas } from "@leaderboard/client";
import type { Board, Standing } from "./standing";
import { count, message } from "./text";

/** Entered is an entry of one window. */
export interface Entered { window: string; entry: Standing }

/** Wanted is the entry as it has to be after the correction. */
export interface Wanted { score: bigint; tiebreak: bigint | undefined; fields: Record<string, bigint> | undefined; time: string | undefined }

/** A Plan has the steps of a correction: the windows to remove the entry from, the score to submit, and the resulting score of each window. */
export interface Plan { remove: string[]; amount: bigint; after: { window: string; now: bigint | undefined; then: bigint }[] }

/** ranksBefore reports whether one entry is better than another on a board: by score, then by tiebreak. */
function ranksBefore(board: Board, a: { score: bigint; tiebreak: bigint }, b: { score: bigint; tiebreak: bigint }): boolean {
  const high = (order: string | undefined, x: bigint, y: bigint) => (order === "asc" ? x < y : x > y);
  return a.score === b.score ? high(board.tiebreak?.order, a.tiebreak, b.tiebreak) : high(board.order, a.score, b.score);
}

/** keepsBetter reports whether a server with the policy best would keep this entry instead of the wanted one. */
function keepsBetter(board: Board, entry: Standing, wanted: Wanted): boolean {
  if (entry.score !== wanted.score) return ranksBefore(board, entry, { score: wanted.score, tiebreak: 0n });
  return true; // the same score with another tiebreak or time: whatever is there gives way
}

/**
 * plan sets a score by means of the API. All windows get the same submission. With best, a better entry of the chosen window
 * is removed first. With latest, the score replaces the old one. With sum, the amount is the difference in the chosen window.
 */
export function plan(board: Board, standings: Entered[], chosen: string, wanted: Wanted): Plan {
  const at = standings.find((s) => s.window === chosen)?.entry;
  const amount = board.policy === "sum" ? wanted.score - (at?.score ?? 0n) : wanted.score;
  const remove = board.policy === "best" ? standings.filter((s) => s.window === chosen && keepsBetter(board, s.entry, wanted)).map((s) => s.window) : [];
  const after = (board.windows ?? ["all_time"]).map((window) => {
    const entry = standings.find((s) => s.window === window)?.entry;
    return { window, now: entry?.score, then: then(board, entry, window === chosen, wanted, amount) };
  });
  return { remove, amount, after };
}

function then(board: Board, entry: Standing | undefined, chosen: boolean, wanted: Wanted, amount: bigint): bigint {
  if (board.policy === "sum") return (entry?.score ?? 0n) + amount;
  if (board.policy === "latest" || chosen || !entry) return wanted.score;
  return ranksBefore(board, entry, { score: wanted.score, tiebreak: wanted.tiebreak ?? 0n }) ? entry.score : wanted.score;
}

/** carryOut carries out a plan and returns a sentence about the new rank. If the new score is refused, it submits the removed entries again. */
export async function carryOut(client: Leaderboard, board: Board, member: string, standings: Entered[], what: Plan, wanted: Wanted): Promise<string> {
  for (const window of what.remove) await client.removeMember(board.name, member, { window: window as never, period: "current" });
  const { score: _, ...rest } = wanted;
  try {
    const standing = await submit(client, board.name, member, { score: what.amount, ...rest });
    const first = board.windows?.[0] ?? "all_time";
    return moved(standing, first, what.remove.includes(first) ? standings.find((s) => s.window === first)?.entry.strict_rank : undefined);
  } catch (error) {
    if (what.remove.length) await restore(client, board.name, member, standings.filter((s) => what.remove.includes(s.window)), error);
    throw error;
  }
}

/** restore submits removed entries again. */
async function restore(client: Leaderboard, board: string, member: string, removed: Entered[], because: unknown): Promise<void> {
  try {
    for (const { entry } of removed) await submit(client, board, member, { score: entry.score, tiebreak: entry.fields ? undefined : entry.tiebreak, fields: entry.fields, time: entry.created_time });
  } catch {
    throw new Error(`The new score did not come in (${message(because)}), and the entry that was removed for it could not be put back: ${removed.map((r) => `${r.window} ${r.entry.score}`).join(", ")}.`);
  }
}

/** moved says where a submission has brought a member in the first window. was: the rank before, where that entry was removed first. */
export function moved(at: Schemas["Moved"] | null | undefined, window: string, was?: number): string {
  if (!at) return "";
  const before = was ?? at.previous_rank;
  const up = before === null ? undefined : before - at.rank;
  const how = up === undefined ? "" : up > 0 ? `, ${count(up)} up` : up < 0 ? `, ${count(-up)} down` : ", as before";
  return `Now rank ${count(at.rank)} of ${count(at.total)} in ${window}${how}.`;
}

/** submit submits one entry and returns where the member stands then, if that is known. A rejection of the rules is thrown. */
async function submit(client: Leaderboard, board: string, member: string, { score, tiebreak, fields, time }: Omit<Wanted, "fields"> & { fields: Record<string, bigint | number> | undefined }): Promise<Schemas["Moved"] | null | undefined> {
  const entry = { member, score, ...(fields ? { fields } : tiebreak === undefined ? {} : { tiebreak }), ...(time ? { created_time: time } : {}) };
  const { results } = await client.submitScores(board, { entries: [entry] }, { standings: true, mode: "strict" });
  if (results[0]?.status === "rejected") throw new Error(results[0].error?.detail ?? "The score was rejected.");
  return results[0]?.standing;
}
