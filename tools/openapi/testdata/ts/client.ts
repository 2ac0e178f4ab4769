// Tries the types that openapi-typescript makes: with openapi-fetch, against a running server whose address and admin key
// are the arguments. That it compiles under --strict is what make openapi asks of it.
import createClient from "openapi-fetch";
import type { components, paths } from "../../out/api";

type Schemas = components["schemas"];

declare const process: { argv: string[]; exitCode: number };

// What has a default may be left out of a request.
const noRules: Schemas["BoardRules"] = {};
const rules: Schemas["BoardRules"] = { mode: "tied", limits: { max_score: 100 }, tiebreak: { fields: [{ name: "level", bits: 20 }] } };
const derived: Schemas["BoardRules"] = { derive: { from: [{ board: "a" }, { board: "b", weight: 2 }] } };
const noProfile: Schemas["ProfileFields"] = {};
const fullRebuild: Schemas["Rebuild"] = {};
export const requests = [noRules, derived, noProfile, fullRebuild];

// What an answer always has needs no question mark, what it may lack does.
export function always(b: Schemas["Board"], p: Schemas["Profile"], f: Schemas["FriendsAnswer"]) {
  const texts: string[] = [b.title, b.order, b.refresh.incremental, b.tiebreak.order, p.display_name, p.avatar_url];
  const bits: number[] = (b.tiebreak.fields ?? []).map((field) => field.bits);
  const rank: number | undefined = f.self?.rank;
  const values: (string | number | boolean)[] = Object.values(p.attributes);
  const ops: ("union" | "intersect")[] = b.derive ? [b.derive.op] : [];
  return [texts, bits, rank, values, ops];
}

// @ts-expect-error a submission has a score
export const noScore: Schemas["Submission"] = { member: "ada" };
// @ts-expect-error there is no such mode
export const noMode: Schemas["BoardRules"] = { mode: "loose" };
// @ts-expect-error a board need not have an end
export const end = (b: Schemas["Board"]): string => b.ends_at;
// @ts-expect-error a result may have no score
export const score = (r: Schemas["Result"]): number => r.score;

const params = { path: { board: "openapi-ts" } };

async function run(address: string, key: string): Promise<void> {
  const client = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${key}` } });
  const made = await client.PUT("/v1/boards/{board}", { params, body: rules });
  if (!made.data) throw new Error(`put board: ${made.error.detail}`);
  console.log(`board ${made.data.name}: ${made.data.order}, ${made.data.mode}, at most ${made.data.limits.max_score}`);
  try {
    const entries = [
      { member: "ada", score: 90, fields: { level: 3 } },
      { member: "bob", score: 90, fields: { level: 7 } },
      { member: "eve", score: 101, fields: { level: 1 } },
    ];
    const sent = await client.POST("/v1/boards/{board}/scores", { params: { ...params, header: { "Idempotency-Key": "openapi-ts-1" } }, body: { entries } });
    if (!sent.data) throw new Error(`submit: ${sent.error.detail}`);
    for (const r of sent.data.results) console.log(r.error ? `${r.member} is rejected: ${r.error.type}, ${r.error.detail}` : `${r.member} has ${r.score}`);

    const top = await client.GET("/v1/boards/{board}/top", { params: { ...params, query: { limit: 10, min_seq: sent.data.seq } } });
    if (!top.data) throw new Error(`top: ${top.error?.detail}`);
    for (const e of top.data.entries) console.log(`${e.rank}. ${e.member} ${e.score}, level ${e.fields?.level}`);
    if (top.data.entries.length !== 2) throw new Error(`there are ${top.data.entries.length} entries, want 2`);

    const nobody = await client.GET("/v1/boards/{board}/members/{member}", { params: { path: { ...params.path, member: "nobody" } } });
    if (nobody.error?.type !== "/problems/not-ranked") throw new Error(`member nobody: ${nobody.response.status}`);
    console.log(`nobody: ${nobody.error.type}: ${nobody.error.detail}`);
  } finally {
    await client.DELETE("/v1/boards/{board}", { params });
  }
}

const [, , address, key] = process.argv;
if (address && key) {
  run(address, key).catch((err: unknown) => {
    console.error(err);
    process.exitCode = 1;
  });
}
