import type { Schemas, Sent } from "@leaderboard/client";
import type { Row } from "../parts/Rows.svelte";
import { ruleFields } from "./generated/rules";

export type Rules = Sent<Schemas["BoardRules"]>;

/** A RuleField is a rule as the tags of leaderboard.Rules describe it. */
export interface RuleField {
  at: string; // its place, a JSON pointer, with * for a row: /seasons/*/name
  label: string;
  group?: string; // its heading; none of a column
  kind: "text" | "number" | "long" | "choice" | "switch" | "time" | "texts" | "choices" | "pairs" | "numbers" | "rows";
  hint: string;
  default?: string;
  words?: string[];
  bytes?: number;
  most?: number; // items
  needed?: boolean; // without it there is nothing of the object that it is in
  fields?: RuleField[]; // the columns of rows
}

/** A Draft has the rules as the form shows them, by their places: texts of controls, chosen options, and rows. */
export interface Draft { text: Record<string, string>; chosen: Record<string, string[]>; rows: Record<string, Row[]> }

type Values = Record<string, unknown>;

/** called has the names of values of some rules, with "" for a rule that is not set. Other values are shown unchanged. */
const called: Record<string, Record<string, string>> = {
  "/order": { desc: "highest first", asc: "lowest first" },
  "/policy": { best: "best: keep the better score", latest: "latest: take the last one", sum: "sum: add up" },
  "/mode": { strict: "strict: 1, 2, 3, 4", tied: "tied: 1, 2, 2, 4", dense: "dense: 1, 2, 2, 3" },
  "/windows": { all_time: "never", hour: "each hour", day: "each day", week: "each week", month: "each month", quarter: "each quarter", year: "each year", season: "by seasons" },
  "/tiebreak/order": { desc: "more is better", asc: "less is better" },
  "/tiebreak/fields/*/order": { desc: "more is better", asc: "less is better" },
  "/derive/from/*/window": { "": "its first" },
  "/derive/op": { union: "union: members of any source", intersect: "intersect: members of all sources" },
  "/derive/aggregate": { sum: "sum: added up", min: "min: the least", max: "max: the greatest" },
  "/visibility": { public: "public: anyone", private: "private: keys only" },
  "/players/submit": { none: "none: only keys submit", own: "own: their own scores", play: "play: one score for each play" },
  "/notify/passed": { "": "nobody", friends: "members who have the passing member as a friend", top: "members in the first places" },
  "/review/hold/*/by": { "": "no", players: "all of them wait for an admin" },
  "/record": { "": "none", applied: "submissions that change an entry", all: "all" },
  "/display/kind": { "": "numbers", duration: "durations", date: "dates" },
  "/resident": { "": "while it is read often" },
};

/** options lists the options of a rule, each with its name. A rule without a default has an option for leaving it out. */
export function options(f: RuleField): [string, string][] {
  const words = f.kind === "switch" ? ["false", "true"] : f.kind === "choice" && f.default === undefined ? ["", ...(f.words ?? [])] : (f.words ?? []);
  return words.map((word) => [word, called[f.at]?.[word] ?? (f.kind === "switch" ? (word === "true" ? "yes" : "no") : word || "none")]);
}

/** isCalled reports whether the values of a rule have names for people. */
export const isCalled = (f: RuleField) => !!called[f.at];

/** nameOf returns the name of a rule in the object that it is in. */
export const nameOf = (f: RuleField) => f.at.slice(f.at.lastIndexOf("/") + 1);

const field = (at: string) => ruleFields.find((f) => f.at === at)!;

/** The windows whose periods end. */
const ending = field("/windows").words!.filter((name) => name !== "all_time");

/** readOnly lists members of a board that GET shows and nobody can set. */
const readOnly = ["name", "created_time", "updated_time"];

/** rulesOf returns the rules of a board: all that can be changed. */
export function rulesOf(board: object): Rules {
  return Object.fromEntries(Object.entries(board).filter(([name]) => !readOnly.includes(name))) as Rules;
}

/** valueAt returns the value of a rule. */
const valueAt = (r: Rules, f: RuleField) => f.at.split("/").slice(1).reduce<unknown>((value, name) => (value as Values | undefined)?.[name], r);

/** written is a value as a control has it. */
function written(f: RuleField, value: unknown): string {
  if (value === undefined || value === null) return f.kind === "choice" || f.kind === "switch" ? (f.default ?? "") : "";
  if (f.kind === "time") return minute(String(value));
  if (f.kind === "pairs") return Object.entries(value).map(([name, v]) => `${name}:${v}`).join(", ");
  return f.kind === "texts" ? (value as string[]).join(", ") : String(value);
}

/** draftOf fills the form. */
export function draftOf(r: Rules): Draft {
  const out: Draft = { text: {}, chosen: {}, rows: {} };
  for (const f of ruleFields) {
    const value = valueAt(r, f);
    const rows = (value ?? []) as Values[];
    if (f.at === "/review/hold") out.rows[f.at] = holdsOf(f, rows);
    else if (f.kind === "rows") out.rows[f.at] = rows.map((row) => Object.fromEntries(f.fields!.map((c) => [nameOf(c), written(c, row[nameOf(c)])])));
    else if (f.kind === "choices") out.chosen[f.at] = [...((value as string[] | undefined) ?? (f.default ? [f.default] : []))];
    else if (f.kind === "numbers") for (const name of ending) out.text[`${f.at}/${name}`] = written(f, (value as Values | undefined)?.[name]);
    else out.text[f.at] = written(f, value);
  }
  return out;
}

/** blankOf is a row to fill. */
export const blankOf = (f: RuleField): Row => Object.fromEntries(f.fields!.map((c) => [nameOf(c), c.at === "/tiebreak/fields/*/bits" ? "16" : written(c, undefined)]));

/** withEntered returns a draft with the changes that were made in another draft since rules filled it. */
export function withEntered(draft: Draft, entered: Draft, rules: Rules): Draft {
  const before = draftOf(rules);
  for (const kind of ["text", "chosen", "rows"] as const) {
    for (const [at, value] of Object.entries(entered[kind])) if (JSON.stringify(value) !== JSON.stringify(before[kind][at])) (draft[kind] as Values)[at] = value;
  }
  return draft;
}

/** minute writes a time as a control for times has it, without zeros at its end. */
const minute = (time: string) => time.replace(/Z$/, "").replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/(T\d\d:\d\d):00$/, "$1");

/** timesOf returns how texts of the form are made times. One of the rules that nobody touched stays to the microsecond. */
function timesOf(r: Rules): (text: string) => string {
  const all = [r.starts_at, r.ends_at, ...(r.seasons ?? []).flatMap((s) => [s.starts_at, s.ends_at])];
  const known = new Map(all.filter((t) => !!t).map((t) => [minute(t!), t!]));
  return (text) => known.get(minute(text)) ?? `${text}${text.length === "2026-01-01T00:00".length ? ":00" : ""}Z`;
}

/** holdsOf returns the rules of a review in their order, then empty ones of the kinds that are not among them. A row has the name of one, and its value. */
function holdsOf(f: RuleField, rows: Values[]): Row[] {
  const kinds = f.fields!.map(nameOf);
  const given = rows.flatMap((h) => kinds.filter((kind) => h[kind] !== undefined).map((kind) => ({ kind, value: String(h[kind]) })));
  return [...given, ...kinds.filter((kind) => !given.some((h) => h.kind === kind)).map((kind) => ({ kind, value: "" }))];
}

/** holds reports whether a board of the draft may have a rule of review: some need plays or players who submit. */
const holds = (d: Draft, { kind }: Row) => kind === "per_second" ? plays(d) : kind === "by" ? d.text["/players/submit"] !== "none" : true;

/** heldBy returns the rules of review that the draft sets, shownHolds all that the form shows. */
export const heldBy = (d: Draft) => shownHolds(d).filter((h) => h.value !== "");
export const shownHolds = (d: Draft) => d.rows["/review/hold"]!.filter((h) => holds(d, h));

const plays = (d: Draft) => d.text["/players/submit"] === "play";

/** kept returns the windows for which the form asks how many periods are kept. */
export const kept = (d: Draft) => ending.filter((name) => d.chosen["/windows"]!.includes(name) || d.text[`/keep/${name}`]);

/** given reports whether the draft sets a rule. */
function given(d: Draft, f: RuleField): boolean {
  if (f.at === "/review/hold") return heldBy(d).length > 0;
  if (f.kind === "numbers") return ending.some((name) => d.text[`${f.at}/${name}`]);
  return (d.rows[f.at] ?? d.chosen[f.at] ?? d.text[f.at] ?? "").length > 0;
}

/** fits reports whether a board of the draft may have a rule: some rules have a meaning only with another rule. */
export function fits(d: Draft, f: RuleField): boolean {
  if (["/players/min_time", "/players/max_time", "/limits/per_second"].includes(f.at)) return plays(d);
  if (f.at === "/seasons") return given(d, f) || d.chosen["/windows"]!.includes("season");
  if (f.at === "/keep") return kept(d).length > 0;
  const inside = f.at.slice(0, f.at.lastIndexOf("/") + 1);
  const needed = ruleFields.find((n) => n.needed && n.at.startsWith(inside) && inside !== "/");
  return !needed || needed === f || given(d, needed);
}

/** differs reports whether the draft sets a rule to another value than the default. */
export function differs(d: Draft, f: RuleField): boolean {
  const value = d.chosen[f.at]?.join() ?? d.text[f.at];
  return given(d, f) && fits(d, f) && (value === undefined || value !== f.default);
}

/** whole returns a text that is a whole number, and throws for another one. */
function whole(f: RuleField, text: string): string {
  if (!/^-?[0-9]+$/.test(text)) throw new Error(`${f.label}: want a whole number, not ${text}`);
  return text;
}

/** valueOf returns the value of a rule in the draft: undefined if it is not set, or is the default. */
function valueOf(r: Rules, d: Draft, f: RuleField): unknown {
  if (!fits(d, f) || !given(d, f) && f.at !== "/windows") return undefined; // a board has to have a window: the server says so
  const time = timesOf(r);
  const read = (c: RuleField, text: string): unknown => {
    switch (c.kind) {
      case "number": return Number(whole(c, text));
      case "long": return BigInt(whole(c, text));
      case "switch": return text === "true";
      case "time": return time(text);
      case "texts": return text.split(",").map((t) => t.trim()).filter(Boolean);
      case "pairs": return labelsOf(text);
      default: return text;
    }
  };
  const cells = (columns: RuleField[], row: Row) => Object.fromEntries(columns.filter((c) => row[nameOf(c)]).map((c) => [nameOf(c), read(c, row[nameOf(c)]!)]));
  if (f.at === "/review/hold") return heldBy(d).map(({ kind, value }) => cells(f.fields!, { [kind!]: value! }));
  if (f.kind === "rows") return d.rows[f.at]!.map((row) => cells(f.fields!, row));
  if (f.kind === "numbers") return Object.fromEntries(ending.filter((name) => d.text[`${f.at}/${name}`]).map((name) => [name, Number(d.text[`${f.at}/${name}`])]));
  const value = f.kind === "choices" ? d.chosen[f.at]! : read(f, d.text[f.at]!);
  return String(value) === f.default && String(valueAt(r, f)) !== f.default ? undefined : value;
}

/** take copies the values of the form into rules; rules that the form does not show stay. An empty control removes a rule. */
export function take(r: Rules, d: Draft): Rules {
  const out: Values = { ...r };
  const put = (object: Values, name: string, value: unknown) => (value !== undefined ? (object[name] = value) : object[name] !== "" && delete object[name]);
  for (const f of ruleFields) {
    const [name, member] = f.at.split("/").slice(1) as [string, string?];
    const value = valueOf(r, d, f);
    if (member === undefined) put(out, name, value);
    else if (value === undefined && f.needed) delete out[name];
    else {
      const object = { ...(out[name] as Values | undefined) };
      put(object, member, value);
      const before = (r as Values)[name] as Values | undefined;
      put(out, name, Object.keys(object).length || before && !Object.keys(before).length ? object : undefined);
    }
  }
  return out as Rules;
}

/** labelsOf reads name:value pairs with commas between them. */
function labelsOf(text: string): Record<string, string> | undefined {
  const pairs = text.split(",").map((p) => p.trim()).filter(Boolean);
  if (!pairs.length) return undefined;
  return Object.fromEntries(pairs.map((p) => {
    const [name = "", ...value] = p.split(":");
    return [name.trim(), value.join(":").trim()];
  }));
}
