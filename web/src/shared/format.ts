import type { Schemas } from "@leaderboard/client";
import { countryName } from "./country";
import { locale, number, text } from "./language";

export { number, windowName } from "./language";

const point = new Intl.NumberFormat(locale).formatToParts(1.5).find((p) => p.type === "decimal")?.value ?? ".";
const short = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const date = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
const month = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
const day = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });
const ago = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });

/** compact writes about how much it is, for axes. */
export const compact = (n: number | bigint) => short.format(n);

type Display = Schemas["Display"];

/** scoreText writes a score as the board shows it to people: a number with decimals and a unit, a duration, a moment. */
export function scoreText(score: bigint, display: Display | undefined): string {
  const decimals = display?.decimals ?? 0;
  const unit = 10n ** BigInt(decimals);
  const size = score < 0n ? -score : score;
  const sign = score < 0n ? "-" : "";
  const fraction = decimals > 0 ? point + String(size % unit).padStart(decimals, "0") : "";
  const rest = size / unit;
  switch (display?.kind) {
    case "duration": {
      const two = (n: bigint) => String(n).padStart(2, "0");
      const [hours, minutes, seconds] = [rest / 3600n, (rest / 60n) % 60n, rest % 60n];
      return sign + (hours > 0n ? `${hours}:${two(minutes)}` : String(minutes)) + `:${two(seconds)}` + fraction;
    }
    case "date": {
      const at = new Date(Number((score * 1000n) / unit));
      return Number.isNaN(at.getTime()) ? number(score) : moment.format(at);
    }
    default:
      return sign + number(rest) + fraction + (display?.unit ? ` ${display.unit}` : "");
  }
}

/** isLong reports whether scores are too long for the text size of phones. features/pages/board.go has the same rule. */
export const isLong = (entries: { score: bigint }[], display: Display | undefined) => entries.some((e) => [...scoreText(e.score, display)].length > 15);

/** power is how many digits a number has after its first one. */
const power = (n: bigint) => String(n < 0n ? -n : n).length - 1;

/** about writes a number of an axis on which the next one is a step away, in few characters; empty: it takes more than a few. */
export function about(n: bigint, step: bigint): string {
  const digits = power(n);
  if (n === 0n || digits < 4) return number(n);
  const unit = digits < 15 ? digits - (digits % 3) : digits;
  const fraction = Math.max(0, unit - power(step));
  if (fraction > 2) return digits < 7 ? number(n) : "";
  if (digits < 15) return new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: fraction }).format(n);
  const first = new Intl.NumberFormat(locale, { maximumFractionDigits: fraction }).format(Number(n) / 10 ** digits);
  return `${first}×10${[...String(digits)].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)]).join("")}`;
}

/** best says among which share of all a rank is, in whole percent or, below one, in tenths; empty in the worse half. features/pages/entry.go says the same. */
export function best(rank: number, total: number): string {
  const n = (100 * rank) / total;
  return n > 50 ? "" : text("place.top", { percent: text("percent", { n: share.format(n < 1 ? Math.ceil(n * 10) / 10 : Math.ceil(n)) }) });
}
/** members says how many there are. */
export const members = (n: number) => text("members", { n });

/** time writes when something was, in the reader's zone: of today the clock alone. */
export function time(at: string): string {
  const when = new Date(at);
  return when.toDateString() === new Date().toDateString() ? clock.format(when) : moment.format(when);
}

/** until says how long it is from now. */
export function until(at: string, now: number): string {
  const minutes = Math.round((Date.parse(at) - now) / 60_000);
  if (Math.abs(minutes) < 90) return ago.format(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return Math.abs(hours) < 36 ? ago.format(hours, "hour") : ago.format(Math.round(hours / 24), "day");
}

/** periodName returns the name of a period. The owner of a board chooses the names of its seasons. */
export function periodName(window: string, period: string): string {
  const utc = (text: string) => new Date(`${text}Z`);
  switch (window) {
    case "all_time":
      return text("window.all_time");
    case "hour":
      return text("period.hour", { date: date.format(utc(`${period.slice(0, 10)}T00:00`)), hour: period.slice(11) });
    case "day":
      return date.format(utc(`${period}T00:00`));
    case "week":
      return text("period.week", { week: String(Number(period.slice(6))), year: period.slice(0, 4) });
    case "month":
      return month.format(utc(`${period}-01T00:00`));
    case "quarter":
      return text("period.quarter", { quarter: period.slice(6), year: period.slice(0, 4) });
    default:
      return period;
  }
}

/** periodTick is a short name of a period, for axes. */
export function periodTick(window: string, period: string): string {
  if (window === "hour") return `${period.slice(11)}:00`;
  if (window === "day") return day.format(new Date(`${period}T00:00Z`));
  return window === "week" ? text("period.weekShort", { week: period.slice(6) }) : periodName(window, period);
}

const order = new Intl.Collator(locale);
/** compare orders names as the language does. */
export const compare = (a: string, b: string) => order.compare(a, b);

/** partName returns the name of a part of a board by the value of its label: of a country its name. features/pages/view.go writes its code. */
export const partName = (label: string, value: string) => (label === "country" && /^[a-z]{2}$/.test(value) ? countryName(value) : value);

const hourly = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" });
const daily = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });

/** momentName is a moment in full, in the reader's zone. */
export const momentName = (at: string) => moment.format(new Date(at));

/** momentTick is a short name of a moment, for axes from one moment to another. */
export function momentTick(at: string, from: string, to: string): string {
  const isLong = Date.parse(to) - Date.parse(from) > 2 * 86_400_000;
  return (isLong ? daily : hourly).format(new Date(at));
}
