/** One member of an entry's metadata as people read it. link is its address when that is of this server. */
export interface Line {
  name: string;
  text: string;
  link?: string | undefined;
}

/** lines are the members of metadata, each as text. */
export const lines = (metadata: { [name: string]: unknown } | undefined): Line[] =>
  Object.entries(metadata ?? {}).map(([name, value]) => (typeof value === "string" ? { name, text: value, link: ofThisServer(value) } : { name, text: asJSON(value) }));

/** ofThisServer returns the address that a text is, if it is a path or has this origin, and leads nowhere else. */
function ofThisServer(text: string): string | undefined {
  if (!text.startsWith("/") && !text.startsWith(location.origin + "/")) return undefined;
  if (!URL.canParse(text, location.href) || new URL(text, location.href).origin !== location.origin) return undefined;
  return text;
}

const asJSON = (value: unknown) => JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner));
