import type { Schemas } from "@leaderboard/client";
import { round, type Tick } from "../shared/axis";
import { about, number, scoreText } from "../shared/format";

/** A Bucket counts the entries with a score in a range. */
interface Bucket {
  from: bigint;
  to: bigint;
  count: number;
}

/** A Histogram has the buckets of a distribution to draw, all of the same width. */
export interface Histogram {
  buckets: Bucket[];
  /** The buckets of outliers, which the axis does not reach. */
  below: Bucket | undefined;
  above: Bucket | undefined;
}

const width = (b: Bucket) => b.to - b.from + 1n;

/** histogram leaves out a bucket at an end that is wider than the others, and the empty buckets next to it. */
export function histogram(buckets: Bucket[]): Histogram {
  const wide = (b: Bucket | undefined, beside: Bucket | undefined) => (b && beside && width(b) > 2n * width(beside) ? b : undefined);
  const below = wide(buckets[0], buckets[1]);
  const above = wide(buckets.at(-1), buckets.at(-2));
  const shown = buckets.filter((b) => b !== below && b !== above);
  while (below && shown.length > 1 && !shown[0]!.count) shown.shift();
  while (above && shown.length > 1 && !shown.at(-1)!.count) shown.pop();
  return { buckets: shown, below, above };
}

/** place returns where a score is on the axis of a histogram: in the middle of a bar that is of one score. */
export function place(h: Histogram, score: bigint): number {
  const first = h.buckets[0]!;
  const all = BigInt(h.buckets.length) * width(first);
  return Math.max(0, Math.min(1, Number(2n * (score - first.from) + 1n) / Number(2n * all)));
}

/** scores returns round scores for the axis of a histogram; when they differ in their last digits only, the first and how much there is from there. */
export function scores(h: Histogram, display: Schemas["Display"] | undefined): Tick[] {
  const low = h.buckets[0]!.from;
  const high = h.buckets.at(-1)!.to;
  for (const [steps, length] of [[4, 6], [3, 9]] as const) {
    const { values, step } = round(low, high, steps);
    const texts = values.map((v) => (display ? scoreText(v, display) : about(v, step)));
    if (texts.every((t) => t && t.length <= length) && (texts.length > 1 || low === high)) return values.map((v, i) => ({ at: place(h, v), text: texts[i]! }));
  }
  return [{ at: 0, text: scoreText(low, display) }, { at: 1, text: display ? scoreText(high, display) : `+${number(high - low)}` }];
}

/** axisText returns a score in a few characters, without zeros at the end of its fraction, for the axis of a plot. */
export const axisText = (display: Schemas["Display"] | undefined) => (score: bigint, step: bigint) => {
  const decimals = display?.decimals ?? 0;
  const it = display ? scoreText(score, display) : about(score, step);
  const short = it.replace(/(\D)(\d+)(?=\D*$)/, (all, point: string, digits: string) => {
    if (digits.length !== decimals) return all;
    const kept = digits.replace(/0+$/, "");
    return kept && point + kept;
  });
  return short.length <= 7 ? short : "";
};
