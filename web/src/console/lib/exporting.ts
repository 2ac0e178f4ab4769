/** An Exporting has the progress of an export, and the state of the board that it shows. */
export interface Exporting { entries: number; total: number; seq: number; asOf: string }

/** exportTo reads an export to its end. An export with fewer entries than the server announced is an error. */
export async function exportTo(response: Response, format: "csv" | "jsonl", tell: (e: Exporting) => void): Promise<Blob> {
  const header = (name: string) => response.headers.get(name) ?? "";
  const state = { total: Number(header("Leaderboard-Total")), seq: Number(header("Leaderboard-Seq")), asOf: header("Leaderboard-As-Of") };
  let lines = format === "csv" ? -1 : 0; // the names of the columns are a line too
  const parts: Blob[] = [];
  const reader = response.body!.getReader();
  for (let told = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    for (const byte of value) if (byte === 10) lines++;
    parts.push(new Blob([value])); // the browser may keep a blob on disk
    if (Date.now() - told > 100) {
      tell({ ...state, entries: Math.max(0, lines) });
      told = Date.now();
    }
  }
  tell({ ...state, entries: lines });
  if (lines !== state.total) throw new Error(`The export broke off: it has ${lines} of ${state.total} entries.`);
  return new Blob(parts, { type: format === "csv" ? "text/csv" : "application/jsonl" });
}
