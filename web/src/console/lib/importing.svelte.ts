import { SvelteMap } from "svelte/reactivity";
import { EntryReader, type Format, type ImportEntry } from "./records";
import { session } from "./session.svelte";

/** maxEntries and maxBytes bound a request: a server takes 1,000 entries and 1 MiB. */
const maxEntries = 1000;
const maxBytes = 900 << 10;

/** A Refusal is a line that did not come in, and why: its code is the problem's, malformed-line when it was not sent. */
export interface Refusal { line: number; code: string; detail: string }

/** A Batch is a piece of the file, sent in one request under a key that is made of all of the file up to its end. */
interface Batch { entries: ImportEntry[]; lines: number[]; refused: Refusal[]; key: string; end: boolean; offset: number; sent: boolean }

/** An Importing submits the entries of a file, one batch after the other: the order of the file is the order in which they count. */
export class Importing {
  state = $state<"running" | "stopped" | "done">("stopped");
  error = $state.raw<unknown>();
  offset = $state(0); // bytes that are dealt with
  applied = $state(0);
  unchanged = $state(0);
  replayed = $state(0); // applied or unchanged by an earlier request of the same content
  refused = $state.raw<Refusal[]>([]);
  began = $state(0);
  heard = $state(0); // when the server answered last
  #reader: EntryReader | undefined;
  #pending: Batch | undefined; // sent again under the same key when the import continues
  #leave = new AbortController();

  constructor(readonly board: string, readonly file: File, readonly format: Format, readonly raw: boolean) {}

  /** run imports up to the end of the file, until stop is called or an error occurs. */
  async run(): Promise<void> {
    if (this.state === "running") return;
    this.state = "running";
    this.error = undefined;
    this.#leave = new AbortController();
    this.began ||= Date.now();
    this.heard = Date.now();
    try {
      this.#reader ??= await EntryReader.open(this.file, this.format, `leaderboard console import 1\n${this.board}\n${this.format}\n${this.raw}\n`, this.raw);
      for (let end = false; !end; ) {
        const batch: Batch = (this.#pending ??= await readBatch(this.#reader));
        await this.#send(batch);
        this.#pending = undefined;
        end = batch.end;
      }
      this.state = "done";
    } catch (error) {
      this.state = "stopped";
      if (!this.#leave.signal.aborted) this.error = error;
    }
  }

  stop(): void {
    this.#leave.abort();
  }

  async #send(batch: Batch): Promise<void> {
    const refused = [...batch.refused];
    this.#leave.signal.throwIfAborted();
    if (batch.entries.length) {
      const options = { idempotencyKey: batch.key, maxWait: 300_000, timeout: 30_000, signal: this.#leave.signal };
      const before = batch.sent; // by this import, which may have been stopped after the server counted the batch
      batch.sent = true;
      const { results, replayed } = await session.client.submitScores(this.board, { entries: batch.entries }, options);
      results.forEach((r, i) => {
        if (replayed && !before && (r.status === "applied" || r.status === "unchanged")) this.replayed++;
        else if (r.status === "applied") this.applied++;
        else if (r.status === "unchanged") this.unchanged++;
        else refused.push({ line: batch.lines[i]!, code: r.error?.type.split("/").pop() ?? "", detail: r.error?.detail ?? "" });
      });
    }
    if (refused.length) this.refused = [...this.refused, ...refused.sort((a, b) => a.line - b.line)];
    this.offset = batch.offset;
    this.heard = Date.now();
  }

  /** report is a CSV of the lines that did not come in. */
  report(): string {
    const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return `line,code,detail\n${this.refused.map((r) => `${r.line},${r.code},${cell(r.detail)}\n`).join("")}`;
  }
}

/** readBatch reads as many entries as a request takes. */
async function readBatch(reader: EntryReader): Promise<Batch> {
  const batch: Batch = { entries: [], lines: [], refused: [], key: "", end: false, offset: 0, sent: false };
  for (let bytes = 0; batch.entries.length < maxEntries && batch.refused.length < maxEntries && bytes < maxBytes; ) {
    const before = reader.offset;
    const next = await reader.next();
    if (!next) {
      batch.end = true;
      break;
    }
    if (next.entry) {
      batch.entries.push(next.entry);
      batch.lines.push(next.line);
      bytes += reader.offset - before + 100; // names that a CSV says once are in every entry
    } else batch.refused.push({ line: next.line, code: "malformed-line", detail: next.fault ?? "" });
  }
  batch.key = `import-${reader.digest()}`;
  batch.offset = reader.offset;
  return batch;
}

/** The imports of this page, by board. An import continues while another view is shown. */
export const imports = new SvelteMap<string, Importing>();
