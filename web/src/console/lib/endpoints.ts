import type { Schemas } from "@leaderboard/client";

export type Endpoint = Schemas["Endpoint"];
export type EventKind = Schemas["EventKind"];

/** The kinds of events that an endpoint may ask for, and the meaning of each. */
const kinds = {
  "period.closed": "a day, a season or another period is over, with its first places",
  "board.changed": "a board is created, changed or deleted",
  "member.hidden": "a member is hidden",
  "member.restored": "a hidden member is shown again",
  "member.erased": "all data of a member are erased",
  "member.passed": "another member passed a member who wants to know",
  "submission.held": "a score waits for an admin",
  "submission.approved": "a score that waited is entered",
  "submission.rejected": "a score that waited is refused",
} satisfies Record<Exclude<EventKind, "endpoint.test">, string>;
export const eventKinds = Object.entries(kinds) as [keyof typeof kinds, string][];

/** An EndpointDraft is an endpoint as it stands in the controls of the form. */
export interface EndpointDraft { name: string; url: string; kinds: EventKind[]; boards: string; enabled: boolean; allow_private: boolean }

export const emptyEndpoint = (): EndpointDraft => ({ name: "", url: "", kinds: [], boards: "", enabled: true, allow_private: false });

/** endpointDraftOf fills the form. */
export function endpointDraftOf(e: Endpoint): EndpointDraft {
  return { name: e.name, url: e.url, kinds: [...(e.kinds ?? [])], boards: e.boards?.join(", ") ?? "", enabled: e.enabled, allow_private: e.allow_private };
}

/** endpointOf returns the body of a request from the form. */
export function endpointOf(d: EndpointDraft): Schemas["EndpointRequest"] {
  const boards = d.boards.split(/[\s,]+/).filter(Boolean);
  return { url: d.url, kinds: d.kinds.length ? d.kinds : null, boards: boards.length ? boards : null, enabled: d.enabled, allow_private: d.allow_private };
}

/** The places of the body that the form has a control for. */
export const endpointPlaces = ["/url", "/kinds", "/boards"];

/** whyOff returns why an endpoint is sent no events, "" if it is sent events. */
export function whyOff(e: Endpoint): string {
  if (e.state === "gone") return "It answered 410.";
  return e.state === "off" ? "It was turned off." : "";
}
