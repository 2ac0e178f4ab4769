import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError } from "../src/index.js";
import { lost, problem, scripted, still, type Answer } from "./script.js";

/** stream answers with events, in pieces as given; then it ends, or stays open until the client leaves. */
const stream = (pieces: string[], end: "ends" | "stays" = "ends", left: () => void = () => {}): Answer => ({ signal }) =>
  new Response(
    new ReadableStream<Uint8Array>({
      start(controller) {
        signal!.addEventListener("abort", () => controller.error(signal!.reason));
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        if (end === "ends") controller.close();
      },
      cancel: left,
    }),
    { headers: { "Content-Type": "text/event-stream" } },
  );
const page = (seq: number) => `id: all_time.${seq}\nevent: page\ndata: {"seq":${seq},"entries":[{"member":"é","score":9007199254740993}]}\n\n`;
const gone = 'event: gone\ndata: {"type":"/problems/board-not-found","title":"Gone","status":404,"detail":"No board has this name."}\n\n';

test("pages come as they are sent, however they are cut, until the board is gone", async (t) => {
  const settle = still(t);
  const all = `:hello\r\n\r\n${page(1)}${page(2).replaceAll("\n", "\r\n")}${page(3).replace("data: ", "data:").replace(',"entries"', ',\ndata: "entries"')}${gone}`;
  const bytes = new TextEncoder().encode(all);
  for (const size of [1, 2, 7, bytes.length]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      },
    });
    const { lb, sent } = scripted([() => new Response(body)]);
    const seqs: number[] = [];
    const reading = (async () => {
      for await (const { seq, entries } of lb.streamPage("b", { limit: 5 })) {
        seqs.push(seq);
        assert.deepEqual([entries[0]!.member, entries[0]!.score], ["é", 9007199254740993n]);
      }
    })();
    const failed = assert.rejects(reading, { name: "ProblemError", code: "board-not-found", status: 404 });
    await settle(failed);
    assert.deepEqual(seqs, [1, 2, 3]);
    assert.equal(sent[0]!.url, "http://server/v1/boards/b/stream?limit=5");
    assert.equal(sent.length, 1);
  }
});

test("a stream that ends is opened again: after what the server says, for as long as it takes", async (t) => {
  const settle = still(t);
  const away = Array<Answer>(30).fill(lost); // for longer than maxWait
  const { lb, sent } = scripted([problem(503, "overloaded"), stream([page(1), "retry: 8000\n\n"]), ...away, stream([page(2)]), stream([gone])], { maxWait: 20_000 });
  const seqs: number[] = [], times: number[] = [];
  const reading = (async () => {
    for await (const { seq } of lb.streamPage("b")) seqs.push(seq), times.push(Date.now());
  })();
  const failed = assert.rejects(reading, { code: "board-not-found" });
  await settle(failed);
  assert.deepEqual(seqs, [1, 2]);
  assert.equal(sent.length, 34);
  assert.ok(times[1]! - times[0]! > 40_000, "it was away for longer than that");
});

test("each notice of who was passed is told once, though each stream begins with those of the last minute", async (t) => {
  const settle = still(t);
  const passed = (n: number) => `id: evt_${n}\nevent: passed\ndata: {"member":"ada","by":{"member":"bob","score":9007199254740993,"previous_score":-1},"seq":${n}}\n\n`;
  const { lb, sent } = scripted([stream([page(1) + passed(1) + page(2)]), stream([passed(1), page(3), passed(2), gone])]);
  const told: unknown[] = [], seqs: number[] = [];
  const reading = (async () => {
    for await (const { seq } of lb.streamPage("b", { member: "ada", onPassed: ({ by, seq }) => told.push([by.member, by.score, by.previous_score, seq]) })) seqs.push(seq);
  })();
  await settle(assert.rejects(reading, { code: "board-not-found" }));
  assert.deepEqual(told, [["bob", 9007199254740993n, -1n, 1], ["bob", 9007199254740993n, -1n, 2]]);
  assert.deepEqual(seqs, [1, 2, 3]);
  assert.equal(sent[1]!.url, "http://server/v1/boards/b/stream?member=ada&passed=true");
});

test("the pause before it is opened again is what the server says, and jitter", async (t) => {
  const settle = still(t);
  const { lb, sent } = scripted([stream(["retry: 8000\n\n", page(1)]), stream([gone])]);
  const took = await settle(assert.rejects(async () => { for await (const _ of lb.streamPage("b")); }, { code: "board-not-found" }));
  assert.ok(took >= 4000 && took <= 12_100, `${took} ms`);
  assert.equal(sent.length, 2);
});

test("who leaves closes the connection: by break, and by a signal", async (t) => {
  const settle = still(t);
  let left = 0;
  const leaving = () => { left++; };
  const { lb, sent } = scripted([stream([page(1)], "stays", leaving)]);
  for await (const { seq } of lb.streamPage("b")) { assert.equal(seq, 1); break; }
  assert.equal(left, 1);

  const reason = new Error("left");
  const going = new AbortController();
  const reading = (async () => { for await (const _ of lb.streamPage("b", { signal: going.signal })) setTimeout(() => going.abort(reason), 1000); })();
  const failed = assert.rejects(reading, reason);
  await settle(failed);
  assert.equal(sent.length, 2);
});

test("a stream that says nothing for too long is opened again; one with comments is not", async (t) => {
  const settle = still(t);
  const { lb, sent } = scripted([stream([page(1)], "stays"), stream([page(2), gone])]);
  const seqs: number[] = [];
  const took = await settle(assert.rejects(async () => { for await (const { seq } of lb.streamPage("b")) seqs.push(seq); }, { code: "board-not-found" }));
  assert.deepEqual(seqs, [1, 2]);
  assert.equal(sent.length, 2);
  assert.ok(took >= 30_000 && took <= 33_000, `${took} ms`);

  const comments: Answer = () => new Response(new ReadableStream<Uint8Array>({
    start(controller) {
      const say = (text: string) => controller.enqueue(new TextEncoder().encode(text));
      say(page(1));
      for (let at = 15_000; at < 120_000; at += 15_000) setTimeout(() => say(":\n\n"), at);
      setTimeout(() => say(gone), 120_000);
    },
  }));
  const kept = scripted([comments]);
  await settle(assert.rejects(async () => { for await (const _ of kept.lb.streamPage("b")); }, { code: "board-not-found" }));
  assert.equal(kept.sent.length, 1);
});

test("what cannot be opened is told: at once when it will not be better, after maxWait otherwise", async (t) => {
  const settle = still(t);
  for (const [answer, want] of [[problem(404, "board-not-found"), { code: "board-not-found" }], [lost, { name: "ConnectionError" }]] as const) {
    const { lb } = scripted([answer], { maxWait: 5000 });
    const took = await settle(assert.rejects(async () => { for await (const _ of lb.streamPage("b")); }, want));
    assert.ok(took <= 5000);
  }
  assert.ok(new ConnectionError("x") instanceof Error);
});
