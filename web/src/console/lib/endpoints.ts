import type { Schemas } from "@leaderboard/client";

export type Endpoint = Schemas["Endpoint"];
export type EventKind = Schemas["EventKind"];

/** The kinds of events that an endpoint may ask for. */
export const eventKinds = ["period.closed", "board.changed", "member.hidden", "member.restored", "member.erased", "member.passed"] as const satisfies readonly EventKind[];

/** An EndpointDraft is an endpoint as it stands in the controls of the form. */
export interface EndpointDraft { name: string; url: string; kinds: EventKind[]; boards: string; enabled: boolean; allow_private: boolean }

export const emptyEndpoint = (): EndpointDraft => ({ name: "", url: "", kinds: [], boards: "", enabled: true, allow_private: false });

/** endpointDraftOf fills the form. */
export function endpointDraftOf(e: Endpoint): EndpointDraft {
  return { name: e.name, url: e.url, kinds: [...(e.kinds ?? [])], boards: e.boards?.join(", ") ?? "", enabled: e.enabled, allow_private: e.allow_private };
}

/** endpointOf is what the form says. */
export function endpointOf(d: EndpointDraft): Schemas["EndpointRequest"] {
  const boards = d.boards.split(/[\s,]+/).filter(Boolean);
  return { url: d.url, kinds: d.kinds.length ? d.kinds : null, boards: boards.length ? boards : null, enabled: d.enabled, allow_private: d.allow_private };
}

/** The places of the body that the form has a control for. */
export const endpointPlaces = ["/url", "/kinds", "/boards"];

/** whyOff tells why an endpoint is sent nothing, "" when it is sent events. */
export function whyOff(e: Endpoint): string {
  if (e.state === "gone") return "It answered 410.";
  return e.state === "off" ? "It was turned off." : "";
}
