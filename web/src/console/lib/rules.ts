import type { Schemas, Sent } from "@leaderboard/client";
import type { Row } from "../parts/Rows.svelte";

export type Rules = Sent<Schemas["BoardRules"]>;

export const windowNames = ["all_time", "hour", "day", "week", "month", "quarter", "year", "season"] as const;
export type WindowName = (typeof windowNames)[number];

export const holdKinds = ["above", "rank_within", "per_second", "by"] as const;
/** A Hold is one rule of a review; value is "" for none. */
export interface Hold { kind: (typeof holdKinds)[number]; value: string }
const maxHolds = 8;

/** A Draft is what the form shows of the rules: texts, as they stand in its controls. */
export interface Draft {
  title: string;
  order: string;
  policy: string;
  mode: string;
  windows: WindowName[];
  time_zone: string;
  visibility: string;
  top_n: string;
  record: string;
  limits: { min_score: string; max_score: string; max_delta: string; per_second: string };
  labels: string;
  face: { accent: string; logo: string; parts: string; footer: string };
  notify: { passed: string; within: string };
  players: { read: boolean; submit: string; min_time: string; max_time: string };
  review: { hold: Hold[]; expire: string };
  metadata: { max_bytes: string };
  starts_at: string; // times are in UTC
  ends_at: string;
  seasons: Row[];
  keep: Row; // by window
  fields: Row[];
  derive: { from: Row[]; last: string; op: string; aggregate: string };
}

/** The places (JSON pointers) of the rules that the form has a control for. */
export const shown = ["/title", "/order", "/policy", "/mode", "/windows", "/time_zone", "/visibility", "/top_n", "/record", "/limits/min_score", "/limits/max_score", "/limits/max_delta", "/limits/per_second", "/labels", "/face/accent", "/face/logo", "/face/parts", "/face/footer", "/notify/passed", "/notify/within", "/players/read", "/players/submit", "/players/min_time", "/players/max_time", ...Array.from({ length: maxHolds }, (_, i) => `/review/hold/${i}`), "/review/expire", "/metadata/max_bytes", "/starts_at", "/ends_at", "/seasons", ...windowNames.map((name) => `/keep/${name}`), "/tiebreak/fields", "/derive/from", "/derive/last", "/derive/op", "/derive/aggregate"];

/** What a new board is like unless one says otherwise. */
export const defaults: Rules = { order: "desc", policy: "best", mode: "strict", windows: ["all_time"], time_zone: "UTC", visibility: "public", top_n: 1000 };

/** What GET shows and nobody sets. */
const readOnly = ["name", "created_time", "updated_time"];

/** rulesOf returns what can be changed of a board. */
export function rulesOf(board: object): Rules {
  return Object.fromEntries(Object.entries(board).filter(([name]) => !readOnly.includes(name))) as Rules;
}

const text = (value: unknown) => (value === undefined || value === null ? "" : String(value));

/** draftOf fills the form. */
export function draftOf(r: Rules): Draft {
  const { min_score, max_score, max_delta, per_second } = r.limits ?? {};
  return {
    title: text(r.title), order: r.order ?? "desc", policy: r.policy ?? "best", mode: r.mode ?? "strict", windows: [...(r.windows ?? ["all_time"])],
    time_zone: text(r.time_zone), visibility: r.visibility ?? "public", top_n: text(r.top_n), record: text(r.record),
    limits: { min_score: text(min_score), max_score: text(max_score), max_delta: text(max_delta), per_second: text(per_second) },
    labels: Object.entries(r.labels ?? {}).map(([name, value]) => `${name}:${value}`).join(", "),
    face: { accent: text(r.face?.accent), logo: text(r.face?.logo), parts: text(r.face?.parts), footer: text(r.face?.footer) },
    notify: { passed: text(r.notify?.passed), within: text(r.notify?.within) },
    players: { read: r.players?.read ?? false, submit: r.players?.submit ?? "none", min_time: text(r.players?.min_time), max_time: text(r.players?.max_time) },
    review: { hold: holdsOf(r), expire: text(r.review?.expire) },
    metadata: { max_bytes: text(r.metadata?.max_bytes) },
    starts_at: minute(r.starts_at), ends_at: minute(r.ends_at),
    seasons: (r.seasons ?? []).map((s) => ({ name: s.name, starts_at: minute(s.starts_at), ends_at: minute(s.ends_at) })),
    keep: Object.fromEntries(windowNames.map((name) => [name, text(r.keep?.[name])])),
    fields: (r.tiebreak?.fields ?? []).map((f) => ({ name: f.name, bits: text(f.bits), order: f.order ?? "desc" })),
    derive: {
      from: (r.derive?.from ?? []).map((f) => ({ board: f.board, window: text(f.window), period: text(f.period), weight: text(f.weight) })),
      last: text(r.derive?.last), op: r.derive?.op ?? "union", aggregate: r.derive?.aggregate ?? "sum",
    },
  };
}

/** minute writes a time as a control for times has it, without what is 0 at its end. */
const minute = (time: string | null | undefined) => (time ? time.replace(/Z$/, "").replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/(T\d\d:\d\d):00$/, "$1") : "");

/** timesOf returns how texts of the form are made times. One of the rules that nobody touched stays to the microsecond. */
function timesOf(r: Rules): (written: string | undefined) => string {
  const all = [r.starts_at, r.ends_at, ...(r.seasons ?? []).flatMap((s) => [s.starts_at, s.ends_at])];
  const known = new Map(all.filter((t) => !!t).map((t) => [minute(t), t!]));
  return (written = "") => known.get(minute(written)) ?? (written && `${written}${written.length === "2026-01-01T00:00".length ? ":00" : ""}Z`);
}

/** sources returns where a derived board of the draft takes its entries from. */
const sources = (from: Row[]) => from.map(({ board, window, period, weight }) => ({
  board, ...(window && { window }), ...(period && { period }), ...(weight && { weight: Number(weight) }),
}));

/** less returns an object without a member. */
function less(object: object | undefined, name: string): object | undefined {
  return object && Object.fromEntries(Object.entries(object).filter(([n]) => n !== name));
}

/** kept tells for which windows the form asks how much of them is kept. */
export const kept = (d: Draft) => windowNames.filter((name) => name !== "all_time" && (d.windows.includes(name) || d.keep[name]));

/** holdsOf returns the rules of a review in their order, then empty ones of the kinds that are not among them. */
function holdsOf(r: Rules): Hold[] {
  const given = (r.review?.hold ?? []).flatMap((h) => holdKinds.filter((kind) => h[kind] !== undefined).map((kind) => ({ kind, value: text(h[kind]) })));
  return [...given, ...holdKinds.filter((kind) => !given.some((h) => h.kind === kind)).map((kind) => ({ kind, value: "" }))];
}

/** fits tells whether a board of the draft may have a rule of review: some are about players and plays. */
export function fits(d: Draft, { kind }: Hold): boolean {
  return kind === "per_second" ? d.players.submit === "play" : kind === "by" ? d.players.submit !== "none" : true;
}

/** heldBy returns the rules of review that the draft makes. */
export const heldBy = (d: Draft) => d.review.hold.filter((h) => h.value !== "" && fits(d, h));

/** take puts what the form says into rules; what the form does not show stays. An empty control leaves a rule out. */
export function take(r: Rules, d: Draft): Rules {
  const out: Record<string, unknown> = { ...r };
  const put = (name: string, value: unknown) => (value === "" || value === undefined ? delete out[name] : (out[name] = value));
  for (const name of ["title", "order", "policy", "mode", "time_zone", "visibility", "record"] as const) put(name, d[name]);
  put("top_n", d.top_n === "" ? undefined : Number(d.top_n));
  put("windows", d.windows);
  const plays = d.players.submit === "play"; // whose rules are told of no other board
  const { per_second, ...limits } = d.limits;
  put("limits", Object.fromEntries(Object.entries(plays ? { ...limits, per_second } : limits).filter(([, v]) => v !== "").map(([name, v]) => [name, BigInt(v)])));
  put("labels", labelsOf(d.labels));
  const face = Object.fromEntries(Object.entries(d.face).map(([name, v]) => [name, v || undefined]));
  put("face", Object.values(d.face).some(Boolean) ? { ...r.face, ...face } : undefined);
  const { passed, within } = d.notify;
  put("notify", passed ? { ...r.notify, passed, within: within === "" ? undefined : Number(within) } : undefined);
  const { read, submit, min_time, max_time } = d.players;
  const given = { read: read || undefined, submit: submit === "none" ? undefined : submit, min_time: (plays && min_time) || undefined, max_time: (plays && max_time) || undefined };
  put("players", read || submit !== "none" ? { ...r.players, ...given } : undefined);
  const hold = heldBy(d).map(({ kind, value }) => ({ [kind]: kind === "by" ? value : kind === "rank_within" ? Number(value) : BigInt(value) }));
  put("review", hold.length ? { ...r.review, hold, expire: d.review.expire || undefined } : undefined);
  put("metadata", d.metadata.max_bytes === "" ? undefined : { ...r.metadata, max_bytes: Number(d.metadata.max_bytes) });
  const time = timesOf(r);
  put("starts_at", time(d.starts_at));
  put("ends_at", time(d.ends_at));
  put("seasons", d.seasons.length ? d.seasons.map((s) => ({ name: s.name, starts_at: time(s.starts_at), ends_at: time(s.ends_at) })) : undefined);
  const keeps = Object.entries(d.keep).filter(([, n]) => n !== "").map(([name, n]) => [name, Number(n)]);
  put("keep", keeps.length ? Object.fromEntries(keeps) : undefined);
  put("tiebreak", d.fields.length ? { ...r.tiebreak, fields: d.fields.map((f) => ({ name: f.name, bits: Number(f.bits), order: f.order })) } : less(r.tiebreak, "fields"));
  const { from, last, op, aggregate } = d.derive;
  put("derive", from.length ? { ...less(r.derive ?? {}, "last"), from: sources(from), ...(last && { last }), op, aggregate } : undefined);
  return out as Rules;
}

/** labelsOf reads name:value pairs with commas between them. */
function labelsOf(written: string): Record<string, string> | undefined {
  const pairs = written.split(",").map((p) => p.trim()).filter(Boolean);
  if (!pairs.length) return undefined;
  return Object.fromEntries(pairs.map((p) => {
    const [name = "", ...value] = p.split(":");
    return [name.trim(), value.join(":").trim()];
  }));
}
