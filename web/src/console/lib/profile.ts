import type { Schemas, Sent } from "@leaderboard/client";
import { mergePatch } from "./json";
import type { Row } from "../parts/Rows.svelte";

type Attributes = Schemas["Attributes"];
type Patch = Sent<Schemas["ProfilePatch"]>;

/** kindOf names what an attribute is. */
const kindOf = (value: unknown) => (typeof value === "string" ? "text" : typeof value === "boolean" ? "boolean" : "number");

/** rowsOf shows attributes as texts. */
export const rowsOf = (attributes: Attributes): Row[] => Object.entries(attributes).map(([name, value]) => ({ name, kind: kindOf(value), value: String(value) }));

/** attributesOf returns the attributes of rows. An unchanged attribute keeps its value exactly. */
export function attributesOf(rows: Row[], before: Attributes): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const { name = "", kind = "", value = "" } of rows) {
    if (name in out) throw new Error(`Two attributes are called ${name}.`);
    const old = before[name];
    out[name] = old !== undefined && kindOf(old) === kind && String(old) === value ? old : valueOf(name, kind, value.trim(), value);
  }
  return out;
}

function valueOf(name: string, kind: string, trimmed: string, value: string): unknown {
  if (kind === "text") return value;
  if (kind === "boolean") {
    if (!/^(true|false)$/.test(trimmed)) throw new Error(`${name} wants true or false.`);
    return trimmed === "true";
  }
  const number = Number(trimmed);
  if (trimmed === "" || !Number.isFinite(number)) throw new Error(`${name} wants a number such as 7 or 0.5.`);
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) throw new Error(`${name} has too many digits for a number here: make it a text.`);
  return number;
}

/** patchOf returns the patch from one profile to another. */
export function patchOf(before: Schemas["MemberProfile"] | undefined, after: { display_name: string; avatar_url: string; attributes: Record<string, unknown> }): Patch {
  const { display_name = "", avatar_url = "", attributes = {} } = before ?? {};
  return mergePatch({ display_name, avatar_url, attributes }, after) as Patch;
}
