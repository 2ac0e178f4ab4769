// The client against a real server, whose address and admin key are in LEADERBOARD_URL and LEADERBOARD_KEY.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Leaderboard, ProblemError, type Schemas } from "../src/index.js";
import { table } from "../src/generated/operations.js";

const url = process.env["LEADERBOARD_URL"] ?? "", key = process.env["LEADERBOARD_KEY"] ?? "";
if (!url || !key) throw new Error("LEADERBOARD_URL and LEADERBOARD_KEY, an admin key of that server, are needed: make test-web sets them");
const lb = new Leaderboard({ url, key });

const max = 9223372036854775807n, odd = 9007199254740993n; // 2^53 + 1, which no double is
const boards: string[] = [];
/** board makes a board that is deleted after the tests. */
async function board(name: string, rules: Parameters<Leaderboard["putBoard"]>[1] = {}): Promise<string> {
  boards.push(`ts-${name}`);
  await lb.putBoard(`ts-${name}`, rules);
  return `ts-${name}`;
}
after(async () => {
  for (const name of boards) await lb.deleteBoard(name).catch((error: unknown) => assert.equal((error as ProblemError).status, 404));
});

test("scores are exact both ways, at any size, in every answer that has them", async () => {
  const b = await board("exact", { tiebreak: { fields: [{ name: "level", bits: 63 }] }, limits: { max_score: max } });
  const { results, seq } = await lb.submitScores(b, { entries: [
    { member: "ada", score: odd, fields: { level: max } }, { member: "bob", score: "9223372036854775806", fields: { level: 7 } }, { member: "eve", score: -max, fields: { level: "0" } },
  ] });
  assert.deepEqual(results.map((r) => r.score), [odd, max - 1n, -max]);
  assert.equal((await lb.getBoard(b)).limits.max_score, max);
  const { entries } = await lb.getTop(b, { min_seq: seq });
  assert.deepEqual(entries.map((e) => [e.rank, e.member, e.score, e.fields?.["level"]]), [[1, "bob", max - 1n, 7n], [2, "ada", odd, max], [3, "eve", -max, 0n]]);
  assert.equal((await lb.getMember(b, "ada")).score, odd);
  assert.equal((await lb.getScoreRank(b, odd + 1n, { fields: "level:0" })).strict_rank, 2);
  assert.equal((await lb.getScoreRank(b, odd - 1n, { fields: "level:0" })).strict_rank, 3);
  const { buckets } = await lb.getDistribution(b, { buckets: 4 });
  assert.equal(buckets[0]!.from, -max);
  for await (const page of lb.streamPage(b)) {
    assert.equal(page.entries[1]!.score, odd);
    break;
  }
});

test("changes come each once and in order, from an export on", async () => {
  const b = await board("changes", {});
  await lb.submitScores(b, { entries: [{ member: "ada", score: 1 }] });
  const after = (await lb.exportEntries(b)).headers.get("Leaderboard-Cursor")!;
  await lb.submitScores(b, { entries: [{ member: "ada", score: odd }, { member: "bob", score: 2 }] });
  const scores: unknown[] = [];
  for await (const change of lb.readChanges(b, { after, limit: 1 })) {
    if ("end" in change) continue;
    scores.push([change.seq, change.member, change.before?.score, change.after?.score]);
    if (scores.length === 2) break;
  }
  assert.deepEqual(scores, [[2, "ada", 1n, odd], [3, "bob", undefined, 2n]]);
  await lb.deleteBoard(b);
  await board("changes", {});
  await assert.rejects(async () => { for await (const _ of lb.readChanges(b, { after })); }, { code: "history-changed", status: 410 });
});

test("metadata is kept with its entry, shown where it is asked for, and stays as it was sent", async () => {
  const b = await board("metadata", { metadata: { max_bytes: 100 } });
  const metadata = { replay: "/replays/4711", laps: [1.5, null] };
  const { results, seq } = await lb.submitScores(b, { entries: [
    { member: "ada", score: odd, metadata }, { member: "bob", score: 2 }, { member: "eve", score: 1, metadata: { text: "x".repeat(100) } },
  ] });
  assert.deepEqual(results.map((r) => [r.status, r.error?.type]), [["applied", undefined], ["applied", undefined], ["rejected", "/problems/invalid-metadata"]]);
  const { entries } = await lb.getTop(b, { metadata: true, min_seq: seq });
  assert.deepEqual(entries.map((e) => [e.member, e.score, e.metadata]), [["ada", odd, metadata], ["bob", 2n, undefined]]);
  assert.deepEqual((await lb.getMember(b, "ada", { metadata: true })).metadata, metadata);
  assert.equal((await lb.getMember(b, "ada")).metadata, undefined);
  await lb.submitScores(b, { entries: [{ member: "ada", score: odd + 1n }] }); // a submission without metadata removes it
  assert.equal((await lb.getMember(b, "ada", { metadata: true })).metadata, undefined);
});

test("a submission whose answer is lost is repeated, and counted once", async () => {
  const b = await board("once", { policy: "sum" });
  let sends = 0;
  const losing = new Leaderboard({ url, key, fetch: async (...request) => {
    const answer = await fetch(...request);
    if (++sends > 2) return answer;
    await answer.text();
    throw new TypeError("fetch failed"); // after the server has done it
  } });
  const { results } = await losing.submitScores(b, { entries: [{ member: "ada", score: odd }] });
  assert.equal(sends, 3);
  assert.deepEqual([results[0]!.status, results[0]!.score], ["applied", odd]);
  assert.equal((await lb.getMember(b, "ada")).score, odd);
});

test("problems say what is wrong and where", async () => {
  const b = await board("problems", { limits: { max_score: 100 } });
  await assert.rejects(lb.getMember(b, "nobody"), (error: unknown) => error instanceof ProblemError && error.code === "not-ranked" && error.status === 404 && !!error.requestId);
  await assert.rejects(lb.getTop("ts-none"), { name: "ProblemError", code: "board-not-found" });
  await assert.rejects(lb.getTop(b, { limit: 0 }), { code: "malformed-request", errors: [{ parameter: "limit", detail: "want a whole number from 1 to 1000" }] });
  await assert.rejects(lb.putBoard(b, { top_n: 0 }), (error: unknown) => error instanceof ProblemError && error.errors[0]?.pointer === "/top_n");
  await assert.rejects(new Leaderboard({ url }).deleteBoard(b), { code: "unauthorized", status: 401 });
  const { results } = await lb.submitScores(b, { entries: [{ member: "eve", score: 101 }] });
  assert.equal(results[0]!.error?.type, "/problems/score-out-of-range");
});

test("pages follow their cursors, from the first or from an offset; await is the first alone", async () => {
  const b = await board("pages");
  await lb.submitScores(b, { entries: Array.from({ length: 25 }, (_, i) => ({ member: `m${i}`, score: 100 - i })) });
  const read = async (options: Parameters<Leaderboard["getTop"]>[1]) => {
    const sizes: number[] = [], ranks: number[] = [];
    for await (const page of lb.getTop(b, options)) sizes.push(page.entries.length), ranks.push(...page.entries.map((e) => e.rank!));
    return { sizes, ranks };
  };
  const all = Array.from({ length: 25 }, (_, i) => i + 1);
  assert.deepEqual(await read({ limit: 10 }), { sizes: [10, 10, 5], ranks: all });
  assert.deepEqual((await read({ limit: 10, offset: 3 })).ranks, all.slice(3));
  assert.equal((await lb.getTop(b, { limit: 10 })).entries.length, 10);
  await assert.rejects(async () => { for await (const _ of lb.getTop("ts-none")); }, { code: "board-not-found" });
});

test("a stream sees a commit, who is around a member, and the end of the board", async () => {
  const b = await board("stream");
  await lb.submitScores(b, { entries: [{ member: "ada", score: 5 }] });
  const seen: (bigint | undefined)[] = [];
  const watching = (async () => {
    for await (const page of lb.streamPage(b, { limit: 3 })) {
      const score = page.entries[0]!.score;
      seen.push(score);
      if (score === 5n) await lb.submitScores(b, { entries: [{ member: "ada", score: odd }] });
      else await lb.deleteBoard(b);
    }
  })();
  for await (const page of lb.streamPage(b, { member: "ada", before: 1, after: 1 })) {
    assert.equal(page.entries[0]!.member, "ada");
    break;
  }
  await assert.rejects(watching, { code: "board-not-found" });
  assert.deepEqual([seen[0], seen.at(-1)], [5n, odd]);
});

test("a signal ends a stream that says nothing", async () => {
  const b = await board("quiet");
  const leaving = new AbortController();
  const reading = (async () => { for await (const _ of lb.streamPage(b, { signal: leaving.signal })) leaving.abort(new Error("left")); })();
  await assert.rejects(reading, { message: "left" });
});

test("ETags say whether a board has changed", async () => {
  const b = await board("etag");
  let etag = "";
  await lb.getBoard(b, { onResponse: (response) => { etag = response.headers.get("ETag") ?? ""; } });
  assert.equal((await lb.patchBoard(b, { title: "one" }, { ifMatch: etag })).title, "one");
  await assert.rejects(lb.patchBoard(b, { title: "two" }, { ifMatch: etag }), { code: "precondition-failed", status: 412 });
  await assert.rejects(lb.putBoard(b, {}, { ifNoneMatch: "*" }), { status: 412 });
});

test("every operation of the document that the server shows has a method, and each of them works", async () => {
  const b = await board("all", { windows: ["all_time", "day"], record: "all" });
  const d = await board("derived", { derive: { from: [{ board: b }] } });
  const called = new Set<string>();
  const every = new Proxy(lb, { get(target, name) {
    const member: unknown = Reflect.get(target, name, target);
    if (typeof name === "string" && name in table) called.add(name);
    return typeof member === "function" ? member.bind(target) : member;
  } });
  await boardOperations(every, b, d);
  await memberOperations(every, b);
  await eventOperations(every);
  await playerOperations(every, b);
  await heldOperations(every);
  await otherOperations(every, b);
  const { paths } = (await lb.getOpenAPI()) as { paths: Record<string, Record<string, { operationId?: string }>> };
  const documented = Object.values(paths).flatMap((item) => Object.values(item).flatMap((o) => o.operationId ?? []));
  assert.deepEqual(Object.keys(table).sort(), documented.sort(), "the client is not of this server's document: make client");
  for (const [id, operation] of Object.entries(table)) if (!called.has(id)) await callRead(lb, id, operation, b);
});

/** callRead calls a read that no test knows by name: the server has it, whatever it says. */
async function callRead(lb: Leaderboard, id: string, operation: string, board: string): Promise<void> {
  assert.match(operation, /^GET /, `${id} is called by no test`);
  const known: Record<string, unknown> = { "{board}": board, "{member}": "ts-ada", "{id}": 1 };
  const args = (operation.match(/{\w+}/g) ?? []).map((name) => known[name] ?? assert.fail(`${id}: what is ${name}?`));
  const method = Reflect.get(lb, id) as (...args: unknown[]) => Promise<unknown>;
  await method.apply(lb, args).catch((error: unknown) => assert.ok(error instanceof ProblemError && error.code !== "not-found" && error.status < 500, `${id}: ${error}`));
}

async function boardOperations(lb: Leaderboard, b: string, d: string): Promise<void> {
  await lb.listBoards({ limit: 1 });
  await lb.getBoard(b);
  await lb.putBoard("ts-gone", {});
  await lb.patchBoard("ts-gone", { title: "T" });
  assert.equal(await lb.deleteBoard("ts-gone"), undefined);
  const after = (await lb.exportEntries(b)).headers.get("Leaderboard-Cursor")!;
  await lb.submitScores(b, { entries: [{ member: "ts-ada", score: 5 }, { member: "ts-bob", score: 7 }] });
  for await (const _ of lb.readChanges(b, { after })) break;
  await lb.submitMultiBoard({ entries: [{ board: b, member: "ts-ada", score: 6n }] });
  assert.equal((await lb.listSubmissions(b, "ts-ada")).submissions[0]!.new_score, 6n);
  assert.equal((await lb.getActivity(b, { hours: 1 })).hours[0]!.entries, 2);
  assert.deepEqual((await lb.getRace(b)).runners.map((r) => r.places.at(-1)), [1, 2]);
  assert.equal((await lb.getAround(b, "ts-ada")).entries.length, 2);
  assert.equal((await lb.getHistory(b, "ts-ada")).periods[0]!.score, 6n);
  assert.deepEqual((await lb.getRanks(b, { members: ["ts-ada", "x"] })).not_ranked, ["x"]);
  assert.equal((await lb.getScoreRank(b, 6)).strict_rank, 3);
  await lb.getTop(b);
  await lb.getMember(b, "ts-ada");
  await lb.getDistribution(b);
  await lb.listPeriods(b);
  for await (const _ of lb.streamPage(b)) break;
  const standings = await lb.getStandings("ts-ada", { boards: b });
  assert.equal(standings.standings[0]!.score, 6n);
  assert.deepEqual(standings.not_ranked, []);
  await lb.getMergedTop({ boards: b });
  await lb.getMergedMember("ts-ada", { boards: b });
  await lb.getMergedAround("ts-ada", { boards: b });
  assert.equal((await lb.getSources(d)).board, d);
  const run: Schemas["Run"] = await lb.startRebuild(b, { kind: "full" }, { wait: "30s" });
  assert.equal(run.state, "done");
  assert.equal((await lb.getRun(run.id)).id, run.id);
  await lb.listRuns({ board: b });
  assert.equal((await lb.verifyCopy(b)).equal, true);
  const exported = await lb.exportEntries(b, { format: "jsonl" });
  assert.equal((await exported.text()).trim().split("\n").length, 2);
  assert.equal(exported.headers.get("Leaderboard-Total"), "2");
}

async function memberOperations(lb: Leaderboard, b: string): Promise<void> {
  await lb.putProfile("ts-ada", { display_name: "Ada", attributes: { score: 1e16, from: "9007199254740993" } });
  await lb.patchProfile("ts-ada", { attributes: { level: 7.5 } });
  assert.deepEqual((await lb.getProfile("ts-ada")).attributes, { score: 1e16, from: "9007199254740993", level: 7.5 });
  const reset = await lb.resetName("ts-ada", { reason: "a slur" });
  assert.deepEqual([reset.display_name, reset.reset_names], ["", ["Ada"]]);
  await lb.putFriends("ts-ada", { members: ["ts-bob"] });
  await lb.addFriends("ts-ada", { members: ["ts-eve"] });
  await lb.removeFriend("ts-ada", "ts-eve");
  assert.deepEqual((await lb.listFriends("ts-ada")).members, ["ts-bob"]);
  assert.equal((await lb.getBoardFriends(b, "ts-ada")).entries.length, 2);
  assert.equal((await lb.hideMember(b, "ts-bob", { reason: "cheat" })).reason, "cheat");
  await lb.restoreMember(b, "ts-bob", { reason: "was none" });
  await lb.hideMemberEverywhere("ts-bob", { reason: "cheat" });
  assert.ok((await lb.listHidden({ member: "ts-bob" })).hidden.length > 0);
  await lb.restoreMemberEverywhere("ts-bob");
  assert.deepEqual((await lb.moderateMembersEverywhere({ action: "hide", members: ["ts-bob"], reason: "cheat" })).unchanged, []);
  await lb.moderateMembersEverywhere({ action: "restore", members: ["ts-bob"] });
  assert.deepEqual((await lb.moderateMembers(b, { action: "restore", members: ["ts-bob"] })).unchanged, ["ts-bob"]);
  await lb.removeMember(b, "ts-bob");
  const data = await lb.getMemberData("ts-ada");
  assert.deepEqual([data.friends, data.profile?.member, data.entries[0]?.board], [["ts-bob"], "ts-ada", b]);
  await lb.forgetMember("ts-ada");
}

async function eventOperations(lb: Leaderboard): Promise<void> {
  const made = await lb.putEndpoint("ts", { url: "https://hooks.example:1/hooks", kinds: ["board.changed"] });
  assert.match(made.secret!, /^whsec_/);
  assert.equal((await lb.getEndpoint("ts")).url, "https://hooks.example:1/hooks");
  assert.ok((await lb.listEndpoints()).endpoints.some((e) => e.name === "ts")); // tests of the console, at the same time, have others
  const tested = await lb.testEndpoint("ts");
  assert.deepEqual([tested.delivered, tested.status], [false, null], "an address that is none was sent to");
  assert.notEqual((await lb.rotateEndpoint("ts", { overlap: "1h" })).secret, made.secret);
  await lb.putBoard("ts-event", {});
  assert.ok((await lb.replayEvents("ts", { since: "2000-01-01T00:00:00Z" })).events > 0);
  const [delivery] = (await lb.listDeliveries("ts")).deliveries;
  assert.equal(delivery!.kind, "board.changed");
  assert.equal(await lb.deleteEndpoint("ts"), undefined);
}

async function heldOperations(lb: Leaderboard): Promise<void> {
  await board("held", { players: { submit: "own" }, review: { hold: [{ by: "players" }] } });
  const player = new Leaderboard({ url, key: (await lb.createToken({ member: "ts-held" })).token });
  for (const score of [1, 2n ** 60n + 1n]) {
    const { results } = await player.submitScores("ts-held", { entries: [{ member: "ts-held", score }] });
    assert.deepEqual([results[0]!.status, results[0]!.error!.type], ["held", "/problems/held-for-review"]);
  }
  const [second, first] = (await lb.listHeld({ board: "ts-held" })).held;
  assert.equal(second!.score, 2n ** 60n + 1n);
  assert.equal((await lb.approveHeld(second!.id, { note: "seen" })).outcome, "applied");
  assert.equal((await lb.rejectHeld(first!.id, {})).state, "rejected");
  assert.equal((await lb.getHeld(second!.id)).note, "seen");
  await assert.rejects(lb.rejectHeld(second!.id, {}), { code: "held-decided", status: 409 });
}

async function playerOperations(lb: Leaderboard, b: string): Promise<void> {
  const made = await lb.createToken({ member: "ts-player", boards: [b], ttl: "1m" });
  assert.equal(made.member, "ts-player");
  await board("plays", { players: { submit: "play" }, limits: { per_second: 10n ** 18n } });
  await assert.rejects(lb.beginPlay("ts-plays"), { status: 403 }); // a key is no player
  const player = new Leaderboard({ url, key: (await lb.createToken({ member: "ts-player" })).token });
  const { play } = await player.beginPlay("ts-plays");
  const { results } = await player.submitScores("ts-plays", { entries: [{ member: "ts-player", score: 1, play }] });
  assert.equal(results[0]!.status, "applied");
  const { keys } = await lb.getTokenKeys();
  const { kty, crv, kid, x } = keys[0]!;
  await lb.putIssuer("ts", { issuer: "https://idp.example", audience: "game", prefix: "ts:", jwks: { keys: [{ kty, crv, kid, x }] } });
  assert.equal((await lb.getIssuer("ts")).audience, "game");
  assert.equal((await lb.listIssuers()).issuers.length, 1);
  assert.equal(await lb.deleteIssuer("ts"), undefined);
  assert.equal((await lb.barMember("ts-player")).member, "ts-player");
  assert.ok((await lb.getBar("ts-player")).not_before);
  assert.equal(await lb.unbarMember("ts-player"), undefined);
  assert.equal(await lb.rotateTokens({ overlap: "1h" }), undefined); // tokens that others have stay good: the server may be used by other tests
}

async function otherOperations(lb: Leaderboard, b: string): Promise<void> {
  const made = await lb.createKey({ name: "ts", scope: "read", boards: [b] });
  assert.equal((await lb.getKey(made.id)).name, "ts");
  await lb.changeKey(made.id, { name: "ts 2" });
  assert.notEqual((await lb.rotateKey(made.id, { overlap: "1m" })).secret, made.secret);
  await lb.revokeKey(made.id);
  await lb.listKeys();
  await lb.getOwnKey();
  assert.equal((await lb.getSession()).key?.scope, "admin");
  await lb.keepKey(); // in a browser
  await lb.endSession(); // a key is no session, so nothing ends
  await lb.getOwnKey();
  assert.ok((await lb.listAudit({ limit: 5 })).entries.length > 0);
  assert.equal((await lb.getLivez()).status, "ok");
  await lb.getReadyz();
  assert.match(await lb.getMetrics(), /^# HELP/m);
  await lb.getOpenAPI();
  assert.match(await lb.getOpenAPIYAML(), /^openapi: /);
  const home = await lb.getHome();
  for (const text of [home, await lb.getBoardPage(b), await lb.getConsole(), await lb.getDocs(), String(await lb.getManualPage("boards")), await lb.getProblemPage("not-ranked")]) assert.match(text, /<html/i);
  const [, script] = /\/assets\/([\w.-]+\.js)/.exec(home) ?? [];
  assert.ok((await lb.getAsset(script!)).length > 0);
}
