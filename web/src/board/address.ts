import { base } from "../shared/base";
import { page } from "../shared/language";

/** A Question is the content of the page's address, read as features/pages/question.go reads it. */
export interface Question {
  board: string;
  window: string;
  period: string;
  mode: string;
  member: string;
  among: string; // friends: only the reader's own, and the reader; anything else: everybody
  offset: number;
  limit: number;
  embed: boolean;
}

const pageEntries = 25;
const embedEntries = 10;

export function readQuestion(address: { pathname: string; search: string }): Question {
  const v = new URLSearchParams(address.search);
  const given = (name: string) => v.get(name) ?? "";
  const whole = (name: string) => (/^\d{1,15}$/.test(given(name)) ? Number(given(name)) : 0);
  const embed = given("embed") === "1";
  let limit = embed ? embedEntries : pageEntries;
  if (whole("limit") > 0 && whole("limit") <= 100) limit = whole("limit");
  const rank = whole("rank");
  return {
    board: decodeURIComponent(address.pathname.slice(base.length).split("/")[2] ?? ""),
    window: given("window"), period: given("period"), mode: given("mode"), member: given("member"), among: given("among") === "friends" ? "friends" : "",
    offset: rank > 0 ? rank - 1 - ((rank - 1) % limit) : whole("offset"), limit, embed,
  };
}

/** link returns the address of a question, without parameters that equal their defaults. */
export function link(q: Question): string {
  const v = new URLSearchParams();
  for (const name of ["window", "period", "mode", "member", "among"] as const) if (q[name]) v.set(name, q[name]);
  if (q.offset > 0) v.set("offset", String(q.offset));
  if (q.limit !== (q.embed ? embedEntries : pageEntries)) v.set("limit", String(q.limit));
  if (q.embed) v.set("embed", "1");
  return page(`/boards/${encodeURIComponent(q.board)}${v.size ? `?${v}` : ""}`);
}

/** chosen are the parameters that choose the period and the ranks. */
export const chosen = (q: Question) => ({
  window: (q.window || undefined) as "day" | undefined,
  period: q.period || undefined,
  mode: (q.mode || undefined) as "strict" | "tied" | "dense" | undefined,
});

/** isAround reports whether the page shows the neighbours of a member: in a frame that names a member. */
export const isAround = (q: Question) => q.embed && q.member !== "" && !/^\.{1,2}$/.test(q.member);

/** sides is how many entries there are ahead of the member and behind it. features/pages/question.go asks for the same. */
export function sides(q: Question): { before: number; after: number } {
  const before = Math.min(49, Math.floor((q.limit - 1) / 2));
  return { before, after: Math.min(49, q.limit - 1 - before) };
}
