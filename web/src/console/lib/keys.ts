import type { Schemas } from "@leaderboard/client";
import type { Key } from "./session.svelte";

/** A KeyDraft is a key as it stands in the controls of the form. */
export interface KeyDraft { name: string; scope: Schemas["Scope"]; boards: string; expires: string; requests: string; rows: string }

export const emptyKey = (): KeyDraft => ({ name: "", scope: "write", boards: "", expires: "", requests: "", rows: "" });

/** keyDraftOf fills the form. A time is one of UTC. */
export function keyDraftOf(key: Key): KeyDraft {
  const { requests_per_second, rows_per_second } = key.quota ?? {};
  return {
    name: key.name, scope: key.scope, boards: key.boards?.join(", ") ?? "", expires: key.expires_at?.slice(0, 16) ?? "",
    requests: String(requests_per_second ?? ""), rows: String(rows_per_second ?? ""),
  };
}

/** keyOf returns the body of a request from the form. For a key that exists, an unchanged time of expiry keeps its seconds. */
export function keyOf(d: KeyDraft, was?: Key): Schemas["KeyRequest"] {
  const boards = d.boards.split(/[\s,]+/).filter(Boolean);
  const rate = (text: string) => (text === "" ? null : Number(text));
  return {
    name: d.name, scope: d.scope, boards: boards.length ? boards : null,
    expires_at: was && d.expires === keyDraftOf(was).expires ? was.expires_at : d.expires ? `${d.expires}:00Z` : null,
    quota: d.requests || d.rows ? { requests_per_second: rate(d.requests), rows_per_second: rate(d.rows) } : null,
  };
}

/** standing returns whether a key is valid, and why it is not. */
export function standing(key: Key, now: number): "revoked" | "expired" | "active" {
  if (key.revoked_at) return "revoked";
  return key.expires_at && Date.parse(key.expires_at) <= now ? "expired" : "active";
}
