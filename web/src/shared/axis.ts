/** A Tick is a place on an axis, from 0 to 1, with its text. */
export interface Tick {
  at: number;
  text: string;
  /** Which end of the text is at its place. Otherwise a short text has its middle there. */
  anchor?: "start" | "end";
}

/** round returns the round numbers from low to high, at most the given number of steps apart, and the size of a step. */
export function round(low: bigint, high: bigint, steps: number): { values: bigint[]; step: bigint } {
  let step = 1n;
  for (let i = 1; (high - low) / step > BigInt(steps); i++) step = [1n, 2n, 5n][i % 3]! * 10n ** BigInt(Math.floor(i / 3));
  const values: bigint[] = [];
  for (let v = low + (((-low % step) + step) % step); v <= high; v += step) values.push(v);
  return { values, step };
}
