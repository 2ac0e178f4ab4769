import { locale } from "./language";

const regions = new Intl.DisplayNames(locale, { type: "region", fallback: "code" });

/** countryName returns the name of a country, by its code of two letters. */
export const countryName = (code: string) => regions.of(code.toUpperCase()) ?? code;

/** countryOf returns the code of the country in the attribute of a profile; empty: none. features/pages/entry.go reads it in the same way. */
export function countryOf(profile: { attributes: { [name: string]: unknown } } | null | undefined): string {
  const code = profile?.attributes.country;
  return typeof code === "string" && /^[A-Za-z]{2}$/.test(code) ? code.toUpperCase() : "";
}

/** flagOf returns the flag of a country: the letters of its code as regional indicators. */
export const flagOf = (code: string) => String.fromCodePoint(...[...code].map((letter) => 0x1f1a5 + letter.charCodeAt(0)));
