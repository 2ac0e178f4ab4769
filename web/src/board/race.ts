import type { Schemas } from "@leaderboard/client";
import type { Entry, Top } from "./live.svelte";

/** Members that a race is of, and periods that it goes through, at most. */
export const runners = 10;
export const laps = 12;

/** A Point is the score of a member at a time, in milliseconds. */
export interface Point { at: number; score: bigint }

/** A Runner is a member of a race, with its scores over time, the oldest first. */
export interface Runner { member: string; name: string; score: bigint; points: Point[] }

/** A Lap is a short period within the period of the race: its end, and the scores in it. */
export interface Lap { end: number; scores: Map<string, bigint> }

const runner = (e: Entry, points: Point[]): Runner => ({ member: e.member, name: e.profile?.display_name || e.member, score: e.score, points });

/** ofMoments follows the first members through recorded submissions. */
export function ofMoments(race: Schemas["Race"], top: Top): Runner[] {
  const points = new Map(race.runners.map((r) => [r.member, r.points.map((p) => ({ at: Date.parse(p.time), score: p.score }))]));
  return top.entries.map((e) => runner(e, points.get(e.member) ?? []));
}

/** lapWindow returns the window of a board whose periods are the laps of a race in another window: days, if it can be. */
export function lapWindow(board: Schemas["Board"], window: string) {
  const all = ["hour", "day", "week", "month", "quarter", "year", "season", "all_time"];
  return (["day", "week", "month", "quarter", "year", "hour"] as const).find((w) => board.windows?.includes(w) && all.indexOf(w) < all.indexOf(window));
}

/** ofLaps follows the first members from the end of one lap to the end of the next. Earlier scores follow from the policy: of a sum, the score of
 * now less the later laps; otherwise the score of now since it was reached, and before that the scores of the laps. */
export function ofLaps(board: Schemas["Board"], laps: Lap[], top: Top): Runner[] {
  const now = Date.parse(top.as_of);
  const better = (a: bigint, b: bigint) => (board.policy === "latest" || (board.order === "asc" ? b < a : b > a) ? b : a);
  return top.entries.map((e) => {
    const points: Point[] = [];
    let best: bigint | undefined;
    laps.forEach((lap, i) => {
      const its = lap.scores.get(e.member);
      if (its !== undefined) best = best === undefined ? its : better(best, its);
      const later = laps.slice(i + 1).reduce((sum, l) => sum + (l.scores.get(e.member) ?? 0n), 0n);
      const score = board.policy === "sum" ? e.score - later : Date.parse(e.created_time) <= lap.end ? e.score : best;
      if (score !== undefined && (score !== 0n || best !== undefined)) points.push({ at: Math.min(lap.end, now), score });
    });
    return runner(e, points);
  });
}
