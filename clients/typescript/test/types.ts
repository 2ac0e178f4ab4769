// The types of openapi.yaml, checked by the compiler alone.
import type { Leaderboard, Schemas, Sent } from "../src/index.js";

// A member with a default may be left out of a request.
const noRules: Sent<Schemas["BoardRules"]> = {};
const rules: Sent<Schemas["BoardRules"]> = { mode: "tied", limits: { max_score: 100 }, tiebreak: { fields: [{ name: "level", bits: 20 }] } };
const derived: Sent<Schemas["BoardRules"]> = { derive: { from: [{ board: "a" }, { board: "b", weight: 2 }] } };
const noProfile: Sent<Schemas["ProfileFields"]> = {};
const fullRebuild: Sent<Schemas["Rebuild"]> = {};
export const requests = [noRules, rules, derived, noProfile, fullRebuild];

// A member that an answer always has needs no question mark, an optional member does.
export function always(b: Schemas["Board"], p: Schemas["Profile"], f: Schemas["FriendsAnswer"]) {
  const texts: string[] = [b.title, b.order, b.refresh.incremental, b.tiebreak.order, p.display_name, p.avatar_url];
  const bits: number[] = (b.tiebreak.fields ?? []).map((field) => field.bits);
  const rank: number | undefined = f.self?.rank;
  const scores: (bigint | undefined)[] = [f.self?.score, b.limits.max_score];
  const values: (string | number | boolean)[] = Object.values(p.attributes);
  const ops: ("union" | "intersect")[] = b.derive ? [b.derive.op] : [];
  return [texts, bits, rank, scores, values, ops];
}

// @ts-expect-error a submission has a member; a submission that only changes fields has no score
export const noMember: Sent<Schemas["Submission"]> = { score: 1 };
// @ts-expect-error there is no such mode
export const noMode: Sent<Schemas["BoardRules"]> = { mode: "loose" };
// @ts-expect-error a board need not have an end
export const end = (b: Schemas["Board"]): string => b.ends_at;
// @ts-expect-error a result may have no score
export const score = (r: Schemas["Result"]): bigint => r.score;
// @ts-expect-error a score that is read is a bigint
export const read = (e: Schemas["Entry"]): number => e.score;
// @ts-expect-error getTop has no parameter of this name
export const top = (lb: Leaderboard) => lb.getTop("b", { limits: 1 });
