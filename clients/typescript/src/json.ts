import { open, wide, wideMaps } from "./generated/operations.js";

// JSON.parse reads numbers as doubles, which are exact up to 2^53. Scores and tiebreaks are 64-bit integers: they are read
// as bigint, by the names of their properties, which the API's document gives, and written digit by digit.

/** A long integer and the name before it. A match within a string has a backslash before its first quote, so the result is JSON too. */
const longIntegers = /("\w+"\s*:\s*)(-?\d{16,})(?=\s*[,}])/g;

/** parse reads an answer, its 64-bit integers as bigint, but for objects by the names in `opaque`, whose members are not the API's. */
export function parse<T>(text: string, opaque: ReadonlySet<string> = open): T {
  const value = JSON.parse(text);
  const quoted = /\d{16}/.test(text) ? text.replace(longIntegers, '$1"$2"') : text;
  restore(value, quoted === text ? value : JSON.parse(quoted), false, opaque);
  return value;
}

/** restore puts bigints into a value, from the same value with long integers as strings. */
function restore(value: any, exact: any, all: boolean, opaque: ReadonlySet<string>): void {
  if (Array.isArray(value)) return value.forEach((item, i) => typeof item === "object" && item && restore(item, exact[i], false, opaque));
  for (const name in value) {
    const item = value[name];
    if (typeof item === "number") {
      if (all || wide.has(name)) value[name] = BigInt(exact[name]);
    } else if (typeof item === "object" && item && !opaque.has(name)) restore(item, exact[name], wideMaps.has(name), opaque);
  }
}

/** stringify writes a body, its 64-bit integers exactly. A number beyond 2^53 is a RangeError: it may have lost digits already. */
export function stringify(value: unknown): string {
  return encode(value, false, false) ?? "null";
}

/** encode writes a value that stands where a wide integer is expected, or in a map of them, or neither. */
function encode(value: unknown, isWide: boolean, all: boolean): string | undefined {
  if (typeof value === "bigint" || (isWide && (typeof value === "number" || typeof value === "string"))) return integer(value);
  if (typeof value !== "object" || value === null || "toJSON" in value) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => encode(item, false, false) ?? "null").join()}]`;
  const members = Object.entries(value).flatMap(([name, item]) => {
    const text = open.has(name) ? JSON.stringify(item) : encode(item, all || wide.has(name), wideMaps.has(name));
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join()}}`;
}

/** integer is a 64-bit integer in digits. */
export function integer(value: bigint | number | string): string {
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new RangeError(`${value} is not an exact integer: give it as a bigint or a string of digits`);
  if (!/^-?\d+$/.test(String(value))) throw new RangeError(`${JSON.stringify(value)} is not an integer`);
  return String(BigInt(value));
}
