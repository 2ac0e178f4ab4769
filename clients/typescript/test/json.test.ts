import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvent, type Schemas } from "../src/index.js";
import { parse, stringify } from "../src/json.js";

const max = 9223372036854775807n, odd = 9007199254740993n; // 2^53 + 1, which no double is

test("64-bit integers are read exactly, and nothing else is changed", () => {
  assert.deepEqual(parse('{"score":9007199254740993,"tiebreak":-9223372036854775808,"rank":3,"entries":[{"score":7,"fields":{"level":9223372036854775807}}]}'), {
    score: odd, tiebreak: -max - 1n, rank: 3, entries: [{ score: 7n, fields: { level: max } }],
  });
  assert.deepEqual(parse('{"score":null,"previous_score" : 9007199254740993 ,"limits":{"max_delta":5}}'), { score: null, previous_score: odd, limits: { max_delta: 5n } });
  assert.deepEqual(parse('{"derive":{"from":[{"board":"a","weight":2}]},"tiebreak":{"order":"desc","fields":[{"name":"level","bits":20}]}}'), {
    derive: { from: [{ board: "a", weight: 2 }] }, tiebreak: { order: "desc", fields: [{ name: "level", bits: 20 }] },
  });
});

test("numbers that are no integers are what they were", () => {
  for (const number of ["1234567890123456.5", "1234567890123456e3", "-12345678901234567E-2", "0.12345678901234567", "[12345678901234567]"]) {
    const text = `{"attributes":{"wide":${number}},"percentile":${number},"score":9007199254740993}`;
    assert.deepEqual(parse(text), { ...JSON.parse(text), score: odd });
  }
});

test("names and attributes of members are theirs, whatever they look like", () => {
  for (const name of ['"score":9007199254740993', '\\"score\\":9007199254740993,', '\\', '\\\\"', "9007199254740993", 'a"score', '","score":9007199254740993,"x":"']) {
    const profile = { display_name: name, attributes: { score: "9007199254740993", [name]: 9007199254740992, level: 12, wide: 9007199254740992 } };
    const text = JSON.stringify({ member: name, profile }).replace(/}$/, ',"score":9007199254740993}');
    assert.deepEqual(parse(text), { member: name, profile, score: odd });
  }
});

test("they are written exactly: bigint, digits, numbers that are exact", () => {
  const entries = [{ member: "a", score: odd }, { member: "b", score: "9223372036854775807", tiebreak: -1 }, { member: "7", score: 7, tiebreak: null, fields: { level: max, deaths: "3" } }];
  assert.equal(stringify({ entries }), '{"entries":[{"member":"a","score":9007199254740993},{"member":"b","score":9223372036854775807,"tiebreak":-1},{"member":"7","score":7,"tiebreak":null,"fields":{"level":9223372036854775807,"deaths":3}}]}');
  assert.equal(stringify({ limits: { max_score: max, min_score: undefined } }), '{"limits":{"max_score":9223372036854775807}}');
  for (const score of [2 ** 53, 1.5, NaN, "", "1e3", "0x10", "12 "]) assert.throws(() => stringify({ score }), RangeError, String(score));
});

test("the rest is written as JSON.stringify does", () => {
  for (const value of [null, [], {}, { a: undefined, b: [undefined, 1.5, "é\u2028\"\\"] }, { at: new Date(0) }, { attributes: { score: "x", wide: 1e300, from: "me" } }, { derive: { from: [{ board: "a" }] } }])
    assert.equal(stringify(value), JSON.stringify(value));
});

test("what an endpoint is sent is read exactly too", () => {
  const passed = readEvent(`{"id":"evt_a","type":"member.passed","timestamp":"2026-11-25T00:00:00.000000Z","data":{"member":"ada","by":{"member":"bob","score":${odd},"previous_score":-1},"board":"b","window":"all_time","period":"all_time","seq":7,"score":${max}}}`);
  if (passed.type !== "member.passed") assert.fail(passed.type);
  const { by, score, seq } = passed.data;
  assert.deepEqual([by.score, by.previous_score, score, seq], [odd, -1n, max, 7]);
  const closed = readEvent(`{"type":"period.closed","data":{"top":[{"member":"ada","rank":1,"score":${odd},"tiebreak":2,"fields":{"level":${max}}}],"total":1}}`);
  assert.deepEqual((closed as Schemas["PeriodClosedEvent"]).data.top, [{ member: "ada", rank: 1, score: odd, tiebreak: 2n, fields: { level: max } }]);
});
