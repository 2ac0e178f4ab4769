/** A Route is the part of the address after #: the parts of a path, and a query. */
class Route {
  parts = $state.raw<string[]>([]);
  query = $state.raw(new URLSearchParams());
  path = $derived(this.parts.map(encodeURIComponent).join("/"));

  constructor() {
    this.#read();
    addEventListener("hashchange", () => this.#read());
  }

  #read(): void {
    const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
    this.parts = path.split("/").filter(Boolean).map(decode);
    this.query = new URLSearchParams(query);
  }
}

/** decode reads a part of a path. A part typed by hand may be ill-formed. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export type Query = Record<string, string | undefined>;

/** href returns the address of a view. Empty values are left out of the query. */
export function href(parts: string[], query: Query = {}): string {
  const wanted = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  const search = wanted.length ? `?${new URLSearchParams(wanted)}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${search}`;
}

/** go shows a view. Instead of the one of now in the history of the browser when that is wanted, as while a filter is typed. */
export function go(parts: string[], query: Query = {}, instead = false): void {
  if (instead) location.replace(href(parts, query));
  else location.assign(href(parts, query));
}

export const route = new Route();
