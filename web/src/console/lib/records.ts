import { Sha256 } from "./sha256";

// Reads the entries of a file as internal/transfer does, record by record on bytes: a line is refused here for the same reasons
// as by `leaderboard import`, and a batch has the same Idempotency-Key. docs/transfer.md has the formats.

/** maxRecord bounds a record, in bytes. */
const maxRecord = 64 << 10;
const byteOrder = [0xef, 0xbb, 0xbf];
const newline = 10;
const carriage = 13;
const quote = 34;
const comma = 44;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const wantInteger = "want a whole number from -9223372036854775808 to 9223372036854775807";

export type Format = "csv" | "jsonl";

/** An ImportEntry is one of POST …/scores. */
export interface ImportEntry {
  member: string;
  score: bigint;
  tiebreak?: bigint;
  fields?: Record<string, bigint>;
  created_time?: string;
  metadata?: Record<string, unknown>;
}

/** A Line is the result of a record: an entry, or why it is refused. */
export interface Line { line: number; entry?: ImportEntry; fault?: string }

/** otherKinds has the first bytes of files that are not text in UTF-8, and the kind of each. */
const otherKinds: [number[], string][] = [
  [[0xff, 0xfe], "UTF-16, want UTF-8"],
  [[0xfe, 0xff], "UTF-16, want UTF-8"],
  [[0x1f, 0x8b], "compressed with gzip: unpack it first"],
  [[0x28, 0xb5, 0x2f, 0xfd], "compressed with zstd: unpack it first"],
  [[0x50, 0x4b, 3, 4], "a zip archive, as a workbook of a spreadsheet (.xlsx, .ods) is too: save the sheet as CSV in UTF-8, with commas"],
  [[0xd0, 0xcf, 0x11, 0xe0], "a workbook of a spreadsheet (.xls): save the sheet as CSV in UTF-8, with commas"],
];

/** A Source reads a file once, a window at a time. Bytes that were taken are hashed, counted and forgotten. */
class Source {
  #buffer: Uint8Array<ArrayBufferLike> = new Uint8Array();
  #read = 0; // bytes of the file that are or were in the buffer
  #ended = ""; // the last line end, not hashed before more follows: so the hash does not depend on a line end at the end of the file
  offset = 0;
  line = 1;

  constructor(private readonly file: Blob, readonly hash: Sha256) {}

  /** window returns the next bytes: one more than the longest record, fewer only at the end of the file. */
  async window(): Promise<Uint8Array> {
    if (this.#buffer.length <= maxRecord && this.#read < this.file.size) {
      const more = new Uint8Array(await this.file.slice(this.#read, this.#read + (1 << 20)).arrayBuffer());
      this.#read += more.length;
      const joined = new Uint8Array(this.#buffer.length + more.length);
      joined.set(this.#buffer);
      joined.set(more, this.#buffer.length);
      this.#buffer = joined;
    }
    return this.#buffer.subarray(0, maxRecord + 1);
  }

  /** take passes over the first bytes of the window. */
  take(n: number): void {
    const bytes = this.#buffer.subarray(0, n);
    this.#hashLines(bytes);
    for (const b of bytes) if (b === newline) this.line++;
    this.offset += n;
    this.#buffer = this.#buffer.subarray(n);
  }

  #hashLines(bytes: Uint8Array): void {
    if (this.#ended === "\r" && bytes.length === 1 && bytes[0] === newline) {
      this.#ended = "\r\n";
      return;
    }
    this.hash.update(new TextEncoder().encode(this.#ended));
    let end = bytes.length;
    if (bytes[end - 1] === newline) end--;
    if (bytes[end - 1] === carriage) end--;
    this.hash.update(bytes.subarray(0, end));
    this.#ended = String.fromCharCode(...bytes.subarray(end));
  }

  /** takeLine passes over everything to the end of the line. */
  async takeLine(): Promise<void> {
    for (;;) {
      const b = await this.window();
      const i = b.indexOf(newline);
      if (i >= 0 || b.length === 0) return void (i >= 0 && this.take(i + 1));
      this.take(b.length);
    }
  }
}

/** An EntryReader reads the entries of a file, one after another. */
export class EntryReader {
  readonly #source: Source;
  #columns: string[] = [];

  private constructor(file: Blob, seed: string, private readonly format: Format, private readonly raw: boolean) {
    this.#source = new Source(file, new Sha256().update(new TextEncoder().encode(seed)));
  }

  /** open begins to read a file; of a CSV it takes the names of the columns. */
  static async open(file: Blob, format: Format, seed: string, raw: boolean): Promise<EntryReader> {
    const reader = new EntryReader(file, seed, format, raw);
    const head = await reader.#source.window();
    for (const [begins, says] of otherKinds) if (startsWith(head, begins)) throw new Error(`The file is ${says}.`);
    if (startsWith(head, byteOrder)) reader.#source.take(3);
    const first = /^[\r\n]*([^\n]*)/.exec(new TextDecoder().decode(await reader.#source.window()))![1]!;
    if (format === "csv") reader.#columns = checkColumns(first, await reader.#csv());
    return reader;
  }

  /** Bytes of the file that were read. */
  get offset(): number {
    return this.#source.offset;
  }

  /** digest names the content of the file as far as it was read. */
  digest(): string {
    return this.#source.hash.hex();
  }

  /** next returns the entry or the fault of the next record, undefined at the end. */
  async next(): Promise<Line | undefined> {
    if (this.format === "jsonl") return this.#jsonl();
    const { line, fields, fault } = await this.#csv();
    if (line === undefined) return undefined;
    return fields ? { line, ...entryOfRecord(this.#columns, fields, this.raw) } : { line, fault: fault! };
  }

  async #jsonl(): Promise<Line | undefined> {
    for (;;) {
      const b = await this.#source.window();
      if (b.length === 0) return undefined;
      const { line } = this.#source;
      const size = b.indexOf(newline) + 1 || b.length;
      if (size > maxRecord) {
        await this.#source.takeLine();
        return { line, fault: "is longer than 65536 bytes" };
      }
      const bytes = b.slice(0, size);
      this.#source.take(size);
      const text = decode(bytes);
      if (text === undefined) return { line, fault: "is not UTF-8" };
      if (text.trim()) return { line, ...entryOfLine(text) };
    }
  }

  /** csv reads the next record, and passes over empty lines. If the quotes of a record are wrong, it takes only the first line. */
  async #csv(): Promise<{ line?: number; fields?: Uint8Array[]; fault?: string }> {
    for (;;) {
      const b = await this.#source.window();
      if (b.length === 0) return {};
      const { line } = this.#source;
      const empty = b[0] === newline ? 1 : b[0] === carriage && b[1] === newline ? 2 : b[0] === carriage && b.length === 1 ? 1 : 0;
      if (empty) {
        this.#source.take(empty);
        continue;
      }
      let fault = startsWith(b, byteOrder) ? "begins with a byte order mark, in the middle of the file" : "";
      const record = csvRecord(b, b.length <= maxRecord);
      fault ||= record.fault ?? (record.size > maxRecord ? "is longer than 65536 bytes" : "");
      if (fault) {
        await this.#source.takeLine();
        return { line, fault };
      }
      this.#source.take(record.size);
      return { line, fields: record.fields };
    }
  }
}

const startsWith = (b: Uint8Array, head: number[]) => head.every((byte, i) => b[i] === byte);

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** csvRecord splits the first record of b (RFC 4180; lines may end in LF too). atEnd: nothing follows b. */
function csvRecord(b: Uint8Array, atEnd: boolean): { fields: Uint8Array[]; size: number; fault?: string } {
  const fields: Uint8Array[] = [];
  const fail = (fault: string) => ({ fields, size: 0, fault });
  for (let at = 0; ; ) {
    const { field, end, fault } = csvField(b, at);
    if (fault) return fail(fault);
    if (end === b.length && !atEnd) return fail("is longer than 65536 bytes");
    fields.push(field);
    if (end === b.length) return { fields, size: end };
    if (b[end] === comma) at = end + 1;
    else if (b[end] === newline) return { fields, size: end + 1 };
    else if (end + 1 === b.length && !atEnd) return fail("is longer than 65536 bytes");
    else if (end + 1 < b.length && b[end + 1] !== newline) return fail("has a carriage return without a line feed");
    else return { fields, size: Math.min(end + 2, b.length) };
  }
}

/** csvField returns the field that begins at a place of b, and where the comma or line end after it is. */
function csvField(b: Uint8Array, at: number): { field: Uint8Array; end: number; fault?: string } {
  if (b[at] === quote) return quotedField(b, at + 1);
  let end = at;
  for (; end < b.length; end++) {
    const c = b[end];
    if (c === comma || c === carriage || c === newline) break;
    if (c === quote) return { field: b, end, fault: 'has a quote (") inside of a field that does not begin with one' };
    if (c === 0) return { field: b, end, fault: "has a NUL byte outside of quotes; is it UTF-16?" };
  }
  return { field: b.slice(at, end), end };
}

/** quotedField reads on behind the opening quote. */
function quotedField(b: Uint8Array, at: number): { field: Uint8Array; end: number; fault?: string } {
  const out: number[] = [];
  for (let i = at; i < b.length; i++) {
    if (b[i] !== quote) out.push(b[i]!);
    else if (b[i + 1] === quote) out.push(b[i++]!);
    else {
      const after = b[i + 1];
      if (after !== undefined && after !== comma && after !== newline && after !== carriage) return { field: b, end: i, fault: 'has something behind a closing quote (")' };
      return { field: Uint8Array.from(out), end: i + 1 };
    }
  }
  return { field: b, end: b.length, fault: 'has a quote (") that is not closed' };
}

const known = ["member", "score", "tiebreak", "created_time", "metadata", "strict_rank", "tied_rank", "rank"];

/** checkMark refuses a first line whose names, with quotes or without, are separated by something else than commas. */
function checkMark(line: string): void {
  for (const [mark, means] of Object.entries({ ";": "semicolons", "\t": "tabs", "|": "bars" })) {
    const names = line.toLowerCase().replace(/["\r]/g, "").split(mark);
    if (names.includes("member") && names.includes("score")) throw new Error(`The columns are separated by ${means}; want commas, as in member,score.`);
  }
}

/** checkColumns returns the names of a CSV's columns, if an entry can be made of them. first is its first line. */
function checkColumns(first: string, { fields, fault, line }: { line?: number; fields?: Uint8Array[]; fault?: string }): string[] {
  if (line === undefined) throw new Error("The file is empty: its first line has to name the columns, such as member,score.");
  if (!fields) checkMark(first);
  if (!fields) throw new Error(`The first line of the file, the names of the columns, ${fault}.`);
  const names = fields.map((f) => decode(f) ?? "");
  const other = names.find((name) => !known.includes(name) && known.includes(name.trim().toLowerCase()));
  if (other !== undefined) throw new Error(`Column ${excerpt(other)} has to be written as "${other.trim().toLowerCase()}": names of columns have small letters and no spaces.`);
  if (names.length === 1) checkMark(names[0]!);
  for (const wanted of ["member", "score"]) if (!names.includes(wanted)) throw new Error(`The first line of the file has no column ${wanted}: it has to name the columns, such as member,score.`);
  names.forEach((name, i) => {
    if (!known.includes(name) && !/^fields\../.test(name)) throw new Error(`Column ${name} is not known: want member and score, and may be tiebreak, created_time, metadata, fields.NAME; ranks are passed over.`);
    if (names.indexOf(name) < i) throw new Error(`Column ${name} is there twice.`);
  });
  return names;
}

/** Made is an entry, or the fault of a record. */
type Made = { entry: ImportEntry } | { fault: string };

function entryOfRecord(columns: string[], fields: Uint8Array[], raw: boolean): Made {
  if (fields.length !== columns.length) return { fault: `has ${fields.length} fields, want ${columns.length}` };
  const values = fields.map(decode);
  if (values.includes(undefined)) return { fault: "is not UTF-8" };
  const entry: ImportEntry = { member: "", score: 0n };
  for (const [i, name] of columns.entries()) {
    const value = values[i]!;
    if (name === "member") entry.member = raw ? value : unquoteFormula(value);
    else if (value === "" && name !== "score") continue;
    else if (name === "created_time") entry.created_time = value;
    else if (name === "metadata") {
      const metadata = objectOf(value);
      if (!metadata) return { fault: `metadata ${excerpt(value)}: want a JSON object` };
      entry.metadata = metadata;
    }
    else if (name === "score" || name === "tiebreak" || name.startsWith("fields.")) {
      const n = integer(value);
      if (n === undefined) return { fault: `${name} ${excerpt(value)}: ${wantInteger}` };
      if (name === "score" || name === "tiebreak") entry[name] = n;
      else (entry.fields ??= {})[name.slice("fields.".length)] = n;
    }
  }
  return check(entry);
}

/** rawJSON keeps the digits of numbers. Browsers without rawJSON write numbers as doubles. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
const exactly = JSON.parse as (text: string, reviver: (name: string, value: unknown, context?: { source?: string }) => unknown) => unknown;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** objectOf reads a JSON object whose numbers keep their digits. It returns undefined for any other text. */
function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    if (!isObject(JSON.parse(text))) return undefined;
    return exactly(text, (_, value, context) => (typeof value === "number" && context?.source && rawJSON ? rawJSON(context.source) : value)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** integer reads a whole number of 64 bits in any form of JSON: 100, 100.0 and 1e2 are 100. */
function integer(text: string): bigint | undefined {
  const parts = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
  if (!parts) return undefined;
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts;
  const kept = (whole + fraction).replace(/0+$/, "");
  const power = Number(exponent) + whole.length - kept.length; // kept times ten to this power is the number
  const digits = kept.replace(/^0+/, "");
  if (!digits) return 0n;
  if (power < 0 || digits.length + power > 19) return undefined;
  const n = BigInt(sign + digits + "0".repeat(power));
  return BigInt.asIntN(64, n) === n ? n : undefined;
}

const excerpt = (text: string) => (text.length > 40 ? `${JSON.stringify(text.slice(0, 40))}…` : JSON.stringify(text));

/** unquoteFormula takes away the quote before an id that is a formula to a spreadsheet. */
const unquoteFormula = (id: string) => (/^'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(id) ? id.slice(1) : id);

/** check finds faults that every board refuses. Fields take the place of a tiebreak. */
function check(entry: ImportEntry): Made {
  if (entry.fields) delete entry.tiebreak;
  const bytes = new TextEncoder().encode(entry.member).length;
  if (bytes === 0) return { fault: "a member id has at least 1 byte" };
  if (bytes > 64) return { fault: `a member id has at most 64 bytes, this one has ${bytes}` };
  const control = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.exec(entry.member);
  if (control) return { fault: `a member id has no control characters, this one has U+${control[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}` };
  if (entry.member === "." || entry.member === "..") return { fault: "a member id is not . or .., which a path cannot name" };
  return { entry };
}

/** Digits of a number that stands where a value of JSON does; strings are matched whole so that nothing is found inside. */
const numbers = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const passedOver = ["strict_rank", "tied_rank", "rank"];

/** entryOfLine makes an entry of a line of JSON. */
function entryOfLine(text: string): Made {
  let value: unknown, plain: unknown;
  try {
    plain = JSON.parse(text); // the next line reads the digits of numbers
    value = JSON.parse(text.replace(numbers, (found) => (found.startsWith('"') ? found : `{"":"${found}"}`)));
  } catch (error) {
    return { fault: `is not valid JSON: ${error instanceof Error ? error.message : error}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { fault: "want an object with member and score" };
  const entry: ImportEntry = { member: "", score: 0n };
  for (const [name, item] of Object.entries(value)) {
    if (name === "metadata" && item !== null) {
      if (!isObject(plain) || !isObject(plain["metadata"])) return { fault: "metadata: want a JSON object" };
      entry.metadata = objectOf(text)!["metadata"] as Record<string, unknown>;
      continue;
    }
    if (passedOver.includes(name) || (item === null && name !== "member" && name !== "score")) continue;
    const fault = put(entry, name, item);
    if (fault) return { fault };
  }
  if (!("member" in value) || value.member === null) return { fault: "has no member" };
  if (!("score" in value) || value.score === null) return { fault: "has no score" };
  return check(entry);
}

/** digitsOf returns the digits of a number of a line, which may be in a string. */
const digitsOf = (item: unknown) => (typeof item === "string" ? item : typeof item === "object" && item !== null && "" in item && typeof item[""] === "string" ? item[""] : "");

/** put puts a member of a line's object into an entry, or returns its fault. */
function put(entry: ImportEntry, name: string, item: unknown): string | undefined {
  if (name === "member") return typeof item === "string" ? void (entry.member = item) : "member: want a string";
  if (name === "created_time") return typeof item === "string" ? void (entry.created_time = item) : "created_time: want an RFC 3339 time in a string";
  if (name === "score" || name === "tiebreak") {
    const n = integer(digitsOf(item));
    return n === undefined ? `${name}: ${wantInteger}` : void (entry[name] = n);
  }
  if (name !== "fields") return `${excerpt(name)} is not known`;
  if (typeof item !== "object" || item === null || Array.isArray(item)) return "fields: want an object";
  for (const [field, value] of Object.entries(item)) {
    const n = integer(digitsOf(value));
    if (n === undefined) return `${excerpt(`fields/${field}`)}: ${wantInteger}`;
    (entry.fields ??= {})[field] = n;
  }
  return undefined;
}
