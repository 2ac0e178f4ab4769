/** A string or a long integer of JSON. Strings are matched whole, so that no integer is found inside them. */
const longIntegers = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** exactly parses JSON with each integer that a double cannot hold as a bigint, whatever its name is. */
export function exactly(text: string): unknown {
  JSON.parse(text); // ill-formed JSON throws the browser's error
  const mark = marker();
  const marked = text.replace(longIntegers, (found) => (found.startsWith('"') ? found : `"${mark}${found}"`));
  return JSON.parse(marked, (_, value: unknown) => (typeof value === "string" && value.startsWith(mark) ? integer(value.slice(mark.length)) : value));
}

/** integer is a number where that is exact. */
function integer(digits: string): bigint | number {
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits);
}

/** pretty writes JSON for people, bigints as the integers that they are. */
export function pretty(value: unknown): string {
  const mark = marker();
  const text = JSON.stringify(value, (_, v: unknown) => (typeof v === "bigint" ? `${mark}${v}` : v), 2);
  return text.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/** marker is a text that nobody could have foreseen. */
const marker = () => `int${Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join("-")}:`;

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

/** same reports whether two values have the same JSON. */
export const same = (a: unknown, b: unknown) => pretty(a ?? null) === pretty(b ?? null);

/** mergePatch returns the patch from one object to another (RFC 7396): without equal members, and null for removed members. */
export function mergePatch(before: object, after: object): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const a = (before as Record<string, unknown>)[name];
    const b = (after as Record<string, unknown>)[name];
    if (b === undefined) out[name] = null;
    else if (isObject(a) && isObject(b)) {
      const inner = mergePatch(a, b);
      if (Object.keys(inner).length) out[name] = inner;
    } else if (!same(a, b)) out[name] = b;
  }
  return out;
}

/** A Difference is a place at which two values are not the same. */
export interface Difference { at: string; before: string | undefined; after: string | undefined }

/** differences lists what one value has at its places (JSON pointers) and another has not. */
export function differences(before: unknown, after: unknown): Difference[] {
  const left = places(before);
  const right = places(after);
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((at) => left.get(at) !== right.get(at))
    .map((at) => ({ at, before: left.get(at), after: right.get(at) }));
}

/** places writes what stands at each place of a value. */
function places(value: unknown, at = "", out = new Map<string, string>()): Map<string, string> {
  if (value === undefined || value === null) return out;
  if (isObject(value)) for (const [name, item] of Object.entries(value)) places(item, `${at}/${name}`, out);
  else if (Array.isArray(value) && value.some((v) => typeof v === "object")) value.forEach((item, i) => places(item, `${at}/${i}`, out));
  else out.set(at || "/", Array.isArray(value) ? value.map(String).join(", ") : String(value));
  return out;
}
