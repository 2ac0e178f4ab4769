import { base } from "./base";
import type english from "../../../features/pages/languages/en.json";

/** A Key names a text of the public pages. */
export type Key = keyof typeof english.texts;
/** A Place is a value for a {place} of a text. */
export type Place = string | number | bigint;

/** The file of the page's language, which the server puts into the page. The console is in English without a file, and writes numbers as the browser does. */
const given: { locale: string; texts: { [key: string]: string | { [category: string]: string } } } | null = JSON.parse(document.getElementById("language")?.textContent ?? "null");

/** The language of numbers and times; undefined: the browser's. */
export const locale = given?.locale;

const whole = new Intl.NumberFormat(locale, { useGrouping: "always" }); // of four digits too, as the server does
const categories = new Intl.PluralRules(locale);

/** number writes a whole number, exactly, as the language does. */
export const number = (n: number | bigint) => whole.format(n);

/** written returns the text of a value. */
export const written = (place: Place | undefined) => (typeof place === "string" ? place : place === undefined ? "" : number(place));

/** pieces are the parts of a text: at odd places the names of places. The number n chooses the form. */
export function pieces(key: Key, n?: unknown): string[] {
  const of = given?.texts[key] ?? "";
  const form = typeof of === "string" ? of : ((typeof n === "number" && of[categories.select(n)]) || of.other!);
  return form.split(/\{(\w+)\}/);
}

/** text is a text with its places filled. */
export const text = (key: Key, places: { [name: string]: Place } = {}) => pieces(key, places.n).map((piece, i) => (i % 2 === 0 ? piece : written(places[piece]))).join("");

const ordinals = new Intl.PluralRules(locale, { type: "ordinal" });
/** ordinal writes a rank as a part of a sentence: 603rd. */
export function ordinal(n: number): string {
  const of = given?.texts.ordinal ?? "{n}";
  return (typeof of === "string" ? of : (of[ordinals.select(n)] ?? of.other!)).replace("{n}", number(n));
}

/** windowName returns the name of a window. */
export const windowName = (w: string) => (`window.${w}` in (given?.texts ?? {}) ? text(`window.${w}` as Key) : w);

const asked = new URLSearchParams(location.search).get("lang");
/** The language that the address names, which links keep; empty: none. */
export const kept = asked === document.documentElement.lang ? asked : "";

/** page is the address of a page of this server, by its path, with that language. */
export const page = (path: string) => base + (kept ? `${path}${path.includes("?") ? "&" : "?"}lang=${kept}` : path);

// The links to other languages lead to the page in its current state, because its script changes the address.
document.querySelector(".languages")?.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a");
  if (!link) return;
  const to = new URL(location.href);
  to.searchParams.set("lang", link.lang);
  link.href = to.href;
});
