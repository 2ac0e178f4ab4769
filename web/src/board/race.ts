import type { Schemas } from "@leaderboard/client";
import { momentName, momentTick, periodName, periodTick } from "../shared/format";
import type { Top } from "./live.svelte";

/** Members that a race is of, and periods that it goes through, at most. */
export const runners = 10;
export const laps = 12;

/** A Runner is a member of a race, with its rank in each lap, the oldest first; undefined: it was not among the first ten. */
export interface Runner {
  member: string;
  name: string;
  ranks: (number | undefined)[];
}

/** A Race is of runners through laps, the oldest first: periods, or moments of one period. */
export interface Race {
  runners: Runner[];
  /** What laps are called on the axis. */
  ticks: string[];
  from: string;
  to: string;
  /** moments: the ranks are places among the runners. */
  moments: boolean;
}

const namesIn = (tops: Top[]) => new Map(tops.flatMap((t) => t.entries).map((e) => [e.member, e.profile?.display_name || e.member]));

/** ofPeriods follows the first ten of the newest period through those before it. tops are the first ten of each, the oldest first. */
export function ofPeriods(tops: Top[]): Race {
  const names = namesIn(tops);
  const ranks = tops.map((t) => new Map(t.entries.map((e) => [e.member, e.rank])));
  const [first, last] = [tops[0]!, tops.at(-1)!];
  return {
    runners: last.entries.map(({ member }) => ({ member, name: names.get(member)!, ranks: ranks.map((r) => r.get(member)) })),
    ticks: tops.map((t) => periodTick(t.window, t.period)), from: periodName(first.window, first.period), to: periodName(last.window, last.period), moments: false,
  };
}

/** ofMoments follows the first ten by what is recorded of their submissions. top has their names. */
export function ofMoments({ moments, runners }: Schemas["Race"], top: Top): Race {
  const names = namesIn([top]);
  const [first, last] = [moments[0]!, moments.at(-1)!];
  return {
    runners: runners.map(({ member, places }) => ({ member, name: names.get(member) ?? member, ranks: places.map((p) => p ?? undefined) })),
    ticks: moments.map((m) => momentTick(m, first, last)), from: momentName(first), to: momentName(last), moments: true,
  };
}
