import type { Schemas } from "@leaderboard/client";

/** A Runner is a member of a race, with its scores over time in milliseconds, the oldest first. */
export interface Runner { member: string; score: bigint; points: { at: number; score: bigint }[] }

/** runnersOf returns the members of a race that have a score. */
export function runnersOf(race: Schemas["Race"]): Runner[] {
  return race.runners.filter((r) => r.points.length > 0).map((r) => ({
    member: r.member, score: r.points.at(-1)!.score, points: r.points.map((p) => ({ at: Date.parse(p.time), score: p.score })),
  }));
}

/** hasRace reports whether a board has periods shorter than the periods of a window, or records of it. */
export function hasRace(board: Schemas["Board"], window: string, isNow: boolean): boolean {
  const all = ["hour", "day", "week", "month", "quarter", "year", "season", "all_time"];
  const laps = !board.derive && board.windows!.some((w) => all.indexOf(w) < Math.min(all.indexOf(window), all.indexOf("season")));
  return laps || (!!board.record && isNow && window === board.windows![0]);
}
