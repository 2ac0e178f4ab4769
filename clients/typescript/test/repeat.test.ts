import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, ProblemError } from "../src/index.js";
import { json, lost, problem, scripted, silence, still } from "./script.js";

const receipt = json('{"results":[],"seq":1}');
const oneScore = { entries: [{ member: "m", score: 5 }] };

test("a submission is repeated under one key, after what the server asks for, whatever went wrong before", async (t) => {
  const settle = still(t);
  const { lb, sent, pauses } = scripted([problem(503, "unavailable", 7), lost, silence, problem(503, "outcome-unknown"), receipt], { maxWait: 60_000 });
  const submitted = lb.submitScores("b", oneScore);
  await settle(submitted);
  assert.equal((await submitted).seq, 1);
  assert.equal(pauses.length, 4);
  assert.ok(pauses[0]! >= 7000 && pauses[0]! <= 8000, `the first pause is ${pauses[0]}, want 7 to 8 s`);
  const key = sent[0]!.headers.get("Idempotency-Key");
  assert.match(key ?? "", /^[!-~]{16,128}$/);
  for (const request of sent) {
    assert.equal(request.headers.get("Idempotency-Key"), key);
    assert.equal(request.body, '{"entries":[{"member":"m","score":5}]}');
  }
});

test("the answer to a repetition of its own is no replay", async (t) => {
  const settle = still(t);
  const replay = json('{"results":[],"seq":1,"replayed":true}');
  for (const [name, before, replayed] of [
    ["first", [], true], ["after overloaded", [problem(503, "overloaded")], true], ["after a quota", [problem(429, "quota-exceeded", 1)], true],
    ["after a lost answer", [lost], undefined], ["after outcome-unknown", [problem(503, "outcome-unknown")], undefined],
    ["after a lost answer and overloaded", [lost, problem(503, "overloaded")], undefined],
  ] as const) {
    const { lb } = scripted([...before, replay]);
    const submitted = lb.submitScores("b", oneScore);
    await settle(submitted);
    assert.equal((await submitted).replayed, replayed, name);
  }
});

test("two submissions have different keys, and one that is given is sent", async () => {
  const { lb, sent } = scripted([receipt]);
  await lb.submitScores("b", oneScore);
  await lb.submitScores("b", oneScore);
  await lb.submitScores("b", oneScore, { idempotencyKey: "match-7" });
  const keys = sent.map((s) => s.headers.get("Idempotency-Key"));
  assert.notEqual(keys[0], keys[1]);
  assert.equal(keys[2], "match-7");
});

test("what is not safe is sent once, unless the server says that nothing was done", async (t) => {
  const settle = still(t);
  for (const [name, answer, sends] of [
    ["lost", lost, 1], ["unavailable", problem(503, "unavailable"), 1], ["silence", silence, 1],
    ["overloaded", problem(503, "overloaded"), 2], ["quota", problem(429, "quota-exceeded", 1), 2],
  ] as const) {
    const { lb, sent } = scripted([answer, json({})]);
    const done = lb.createKey({ name: "k", scope: "read" }).then(() => true, () => false);
    await settle(done);
    assert.equal(sent.length, sends, name);
    assert.equal(await done, sends === 2, name);
  }
});

test("reads are repeated, POST ranks too", async (t) => {
  const settle = still(t);
  const { lb, sent } = scripted([lost, json({ entries: [] })]);
  await settle(lb.getTop("b"));
  assert.equal(sent.length, 2);
  const ranks = scripted([lost, json({ entries: [] })]);
  await settle(ranks.lb.getRanks("b", { members: ["a"] }));
  assert.equal(ranks.sent.length, 2);
  assert.equal(ranks.sent[0]!.headers.get("Idempotency-Key"), null);
});

test("repeating ends: after maxWait, at once when it would not help or would take too long", async (t) => {
  const settle = still(t);
  for (const [name, answer, most, within] of [
    ["overloaded for long", problem(503, "overloaded"), 30, 20_000], ["asked to come later", problem(503, "overloaded", 60), 1, 50],
    ["not ranked", problem(404, "not-ranked"), 1, 50], ["silence", silence, 3, 30_050], ["run failed", json({ status: 503, run: { id: 7 } }, 503), 1, 50],
  ] as const) {
    const { lb, sent } = scripted([answer], { maxWait: 20_000 });
    const failed = lb.getMember("b", "m").catch((error: unknown) => error);
    const took = await settle(failed);
    assert.ok(sent.length <= most && took <= within, `${name}: ${sent.length} requests in ${took} ms`);
    assert.ok((await failed) instanceof (name === "silence" ? ConnectionError : ProblemError), name);
  }
});

test("the signal ends a call: before it, in an attempt, in a pause; its reason is thrown", async (t) => {
  const settle = still(t);
  const reason = new Error("the page was left");
  const before = scripted([receipt]);
  await assert.rejects(before.lb.getTop("b", { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(before.sent.length, 0);
  for (const answer of [silence, problem(503, "overloaded", 20)]) {
    const { lb, sent } = scripted([answer]);
    const leaving = new AbortController();
    const call = lb.getTop("b", { signal: leaving.signal });
    setTimeout(() => leaving.abort(reason), 3000);
    const failed = assert.rejects(call, reason);
    assert.ok((await settle(failed)) <= 3100);
    assert.equal(sent.length, 1);
  }
});

test("a problem is an error with all that it says", async () => {
  const said = { type: "/problems/invalid-board", title: "No board", status: 422, detail: "The rules do not fit.", errors: [{ pointer: "/top_n", detail: "at least 1" }], request_id: "r-1" };
  const { lb } = scripted([json(said, 422)]);
  await assert.rejects(lb.putBoard("b", {}), (error: unknown) => {
    assert.ok(error instanceof ProblemError);
    assert.deepEqual([error.code, error.status, error.title, error.detail, error.requestId], ["invalid-board", 422, "No board", "The rules do not fit.", "r-1"]);
    assert.deepEqual(error.errors, said.errors);
    assert.equal(error.message, "The rules do not fit.");
    return true;
  });
  const proxy = scripted([() => new Response("<h1>No</h1>", { status: 500, headers: { "Content-Type": "text/html" } })]);
  await assert.rejects(proxy.lb.getTop("b"), { code: "", status: 500 });
});

test("parts of a path are escaped; what would lead elsewhere is refused before anything is sent", async () => {
  const { lb, sent } = scripted([json({})]);
  await lb.getMember("b", "a/b?c#d %");
  assert.equal(sent[0]!.url, "http://server/v1/boards/b/members/a%2Fb%3Fc%23d%20%25");
  for (const member of ["", ".", "..", undefined as unknown as string]) await assert.rejects(lb.removeMember("b", member), TypeError);
  assert.equal(sent.length, 1);
});

test("key, query, headers and bodies are sent as the API wants them", async () => {
  const { lb, sent } = scripted([json({})], { url: "http://server/games/", key: "lbk_1" });
  await lb.getTop("b", { limit: 3, mode: "tied", window: undefined, timeout: 5, profiles: true });
  await lb.patchBoard("b", { title: "T", top_n: null }, { ifMatch: '"e"' });
  await lb.startRebuild("b", {}, { wait: "1m" });
  assert.equal(sent[0]!.url, "http://server/games/v1/boards/b/top?limit=3&mode=tied&profiles=true");
  assert.equal(sent[0]!.headers.get("Authorization"), "Bearer lbk_1");
  assert.equal(sent[1]!.headers.get("Content-Type"), "application/merge-patch+json");
  assert.equal(sent[1]!.headers.get("If-Match"), '"e"');
  assert.equal(sent[1]!.body, '{"title":"T","top_n":null}');
  assert.equal(sent[2]!.headers.get("Content-Type"), "application/json");
});

test("a rebuild that is waited for may take as long", async (t) => {
  const settle = still(t);
  const { lb } = scripted([silence]);
  const failed = assert.rejects(lb.startRebuild("b", {}, { wait: "1m30s" }), ConnectionError);
  const took = await settle(failed);
  assert.ok(took >= 100_000 && took <= 101_000, `${took} ms`);
});

test("an address that is none is told at once", async () => {
  assert.throws(() => scripted([json({})], { url: "localhost 8080" }), TypeError);
});
