import { ProblemError, type Leaderboard, type Schemas } from "@leaderboard/client";

export type Board = Schemas["Board"];

/** A Standing is a member's entry in a period, with the number of entries there. */
export type Standing = Schemas["PositionedEntry"] & { window: string; period: string; total: number };

/** standingOn returns a member's entry in the current period of a window, undefined if the member has no entry or the window has no period now. */
export async function standingOn(client: Leaderboard, board: string, member: string, window: string | undefined, signal: AbortSignal): Promise<Standing | undefined> {
  try {
    const { entries, ...at } = await client.getRanks(board, { members: [member] }, { window: window as never, mode: "all", profiles: true, signal });
    return entries[0] && { ...entries[0], window: at.window, period: at.period, total: at.total };
  } catch (error) {
    if (error instanceof ProblemError && error.code === "period-not-found") return undefined;
    throw error;
  }
}

/** each calls a function for every item of a list, a few at a time, and returns the results in the order of the list. */
export async function each<T, R>(list: T[], some: number, what: (item: T) => Promise<R>): Promise<R[]> {
  const out = new Array<R>(list.length);
  let next = 0;
  const work = async () => {
    for (let i = next++; i < list.length; i = next++) out[i] = await what(list[i]!);
  };
  await Promise.all(Array.from({ length: Math.min(some, list.length) }, work));
  return out;
}
