import type { Top } from "./live.svelte";

/** Members that a race is of, and periods that it goes through, at most. */
export const runners = 10;
export const laps = 12;

/** A Runner is a member of a race, with its rank in each period, the oldest first; undefined: it was not among the first ten. */
export interface Runner {
  member: string;
  name: string;
  ranks: (number | undefined)[];
}

/** race follows the first ten of the newest period through those before it. tops are the first ten of each, the oldest first. */
export function race(tops: Top[]): Runner[] {
  const names = new Map(tops.flatMap((t) => t.entries).map((e) => [e.member, e.profile?.display_name || e.member]));
  const ranks = tops.map((t) => new Map(t.entries.map((e) => [e.member, e.rank])));
  return (tops.at(-1)?.entries ?? []).map(({ member }) => ({ member, name: names.get(member)!, ranks: ranks.map((r) => r.get(member)) }));
}
