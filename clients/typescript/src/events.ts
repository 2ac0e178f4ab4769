import { connectionError } from "./errors.js";
import { parse } from "./json.js";
import type { Schemas } from "./types.js";

/** The event in a request to an endpoint, by its `type`. Later versions add kinds: accept them too. */
export type WebhookEvent = Schemas["PeriodClosedEvent"] | Schemas["BoardChangedEvent"] | Schemas["MemberEvent"] | Schemas["MemberPassedEvent"] | Schemas["SubmissionEvent"];

/** In the data of an event all names are the API's. */
const noNames: ReadonlySet<string> = new Set();

/** readEvent reads the body that an endpoint was sent, its 64-bit integers as bigint. Verify the signature of the body first. */
export const readEvent = (body: string): WebhookEvent => parse(body, noNames);

/** One of a stream of server-sent events (the HTML standard, section 9.2). */
export interface ServerEvent {
  id: string;
  name: string;
  data: string;
  /** Milliseconds to wait before the stream is opened again, when the server says so. */
  retry: number | undefined;
}

/** events reads the events of a stream, each when its blank line is there; alive is called whenever something comes, a comment too. */
export async function* events(body: ReadableStream<Uint8Array>, alive: () => void): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let event: ServerEvent = { id: "", name: "", data: "", retry: undefined };
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => Promise.reject(connectionError(error)));
      if (done) return;
      alive();
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [, name, text = ""] = /^([^:]*):? ?(.*)\r?$/.exec(line) ?? [];
        if (line === "" || line === "\r") {
          if (event.name || event.data || event.retry !== undefined) yield event;
          event = { id: "", name: "", data: "", retry: undefined };
        } else if (name === "id") event.id = text;
        else if (name === "event") event.name = text;
        else if (name === "data") event.data += (event.data && "\n") + text;
        else if (name === "retry" && /^\d+$/.test(text)) event.retry = Number(text);
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // the connection is over already
  }
}
