import type { Rules } from "./rules";

/** A Preset has the rules of a common kind of board. */
export interface Preset { name: string; rules: () => Rules }

/** The presets of a new board. */
export const presets: Preset[] = [
  { name: "High score", rules: () => ({ windows: ["all_time", "week"] }) },
  { name: "Time trial", rules: () => ({ order: "asc", display: { kind: "duration", decimals: 3 } }) },
  { name: "Season points", rules: () => ({ policy: "sum", windows: ["season", "all_time"], seasons: [firstSeason(new Date())] }) },
  { name: "Streak", rules: () => ({ policy: "latest", display: { unit: "days" } }) },
  { name: "Sales", rules: () => ({ policy: "sum", windows: ["month", "quarter", "year"], visibility: "private", display: { decimals: 2 } }) },
];

/** firstSeason is three months long, and has begun. */
function firstSeason(now: Date): { name: string; starts_at: string; ends_at: string } {
  const day = (months: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString();
  return { name: "season-1", starts_at: day(0), ends_at: day(3) };
}
