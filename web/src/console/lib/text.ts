const grouped = new Intl.NumberFormat("en-US");
const rate = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** count writes an integer with its digits in groups, exactly. */
export const count = (n: bigint | number) => grouped.format(n);

/** perSecond writes a rate. */
export const perSecond = (n: number) => (n >= 100 ? grouped.format(Math.round(n)) : rate.format(n));

/** some writes a number of things: "1 entry", "2 entries". */
export const some = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** clock writes a moment in UTC, to the second. */
export function clock(time: string): string {
  return time.slice(0, 19).replace("T", " ");
}

/** age writes how long ago a moment was, in the largest unit that fits. */
export function age(time: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (seconds < 1) return "now";
  return `${span(seconds)} ago`;
}

/** span writes a number of seconds. */
export function span(seconds: number): string {
  const units: [number, string][] = [[86_400, "d"], [3_600, "h"], [60, "min"]];
  for (const [size, unit] of units) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return `${seconds} s`;
}

/** lag writes milliseconds. */
export const lag = (ms: number) => (ms < 1000 ? `${count(ms)} ms` : span(Math.round(ms / 1000)));

/** message returns the text of any error. */
export const message = (error: unknown) => (error instanceof Error ? error.message : String(error));
