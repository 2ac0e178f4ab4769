import { ProblemError, type Leaderboard, type Schemas } from "@leaderboard/client";

export type Board = Schemas["Board"];
export type Standing = Schemas["MemberAnswer"];

/** absent: the member has no entry there, or the board no such period now. */
const absent = (error: unknown) => error instanceof ProblemError && error.status === 404;

/** standingOn returns a member's entry in the current period of a window, undefined when there is none. */
export async function standingOn(client: Leaderboard, board: string, member: string, window: string | undefined, signal: AbortSignal): Promise<Standing | "hidden" | undefined> {
  try {
    return await client.getMember(board, member, { window: window as never, mode: "all", signal });
  } catch (error) {
    if (error instanceof ProblemError && error.code === "member-hidden") return "hidden";
    if (absent(error)) return undefined;
    throw error;
  }
}

/** each does something for all of a list, a few at a time, and returns what came of it in the order of the list. */
export async function each<T, R>(list: T[], some: number, what: (item: T) => Promise<R>): Promise<R[]> {
  const out = new Array<R>(list.length);
  let next = 0;
  const work = async () => {
    for (let i = next++; i < list.length; i = next++) out[i] = await what(list[i]!);
  };
  await Promise.all(Array.from({ length: Math.min(some, list.length) }, work));
  return out;
}
