import type { Schemas } from "@leaderboard/client";
import { session } from "./session.svelte";

export type Server = Schemas["ServerStatus"];
export type BoardStatus = Schemas["BoardStatus"];

/** A Counter names a number of the server that is shown live. */
export type Counter = "requests_per_second" | "reads_per_second" | "writes_per_second" | "streams";

/** gaugeSpan is how far back counters are shown, in milliseconds. */
export const gaugeSpan = 120_000;

/** A Sample is the server's status at a time of the browser's clock. */
export interface Sample { at: number; server: Server }

/** Counters has the status of the server in the last two minutes, the newest last. */
class Counters {
  past = $state.raw<Sample[]>([]);

  add(server: Server): void {
    const at = Date.now();
    this.past = [...this.past, { at, server }].filter((s) => s.at <= at && s.at >= at - gaugeSpan);
  }
}

export const counters = new Counters();

const shown = new Map<string, BoardStatus>();

/** newest returns the newest known status of a board: while the database is away, a server may know less than was shown before. */
export function newest(next: BoardStatus): BoardStatus {
  const before = shown.get(next.board);
  const older = before && next.stale && before.window === next.window && (!next.period || next.period === before.period) && next.seq < before.seq;
  const out = older ? { ...next, period: before.period, entries: before.entries, seq: before.seq, as_of: before.as_of } : next;
  shown.set(next.board, out);
  return out;
}

/** statusOf returns how a board stands; undefined when it is gone. */
export async function statusOf(board: string, signal: AbortSignal): Promise<BoardStatus | undefined> {
  for await (const page of session.client.getStatus({ signal })) {
    const found = page.boards.find((b) => b.board === board);
    if (found) return newest(found);
  }
  return undefined;
}
