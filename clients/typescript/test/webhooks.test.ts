// The receivers of examples/webhooks get a server's events and a forger's. Signatures are also verified by standardwebhooks, an
// implementation other than the server's.
import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { createHmac } from "node:crypto";
import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as listenTCP, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { Leaderboard } from "../src/index.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url)), own = join(root, "clients/typescript");
const { LEADERBOARD_URL: url = "", LEADERBOARD_KEY: key = "", GO = "go" } = process.env;
const lb = new Leaderboard({ url, key });

/** An event as the server sent it. */
interface Sent { headers: Record<string, string>; body: string }

let folder: string, secret: string, sent: Sent[];

before(async () => {
  folder = await mkdtemp(join(own, "out", "webhooks-"));
  ({ secret, sent } = await fromServer());
});
after(async () => {
  await lb.deleteEndpoint("ts-receiver");
  await rm(folder, { recursive: true });
});

const named = (headers: IncomingHttpHeaders) => Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("webhook-")).map(([name, value]) => [name, String(value)]));

/** fromServer has the server send three events. */
async function fromServer(): Promise<{ secret: string; sent: Sent[] }> {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => (body += part)).on("end", () => {
      if (body.includes("endpoint.test")) sent.push({ headers: named(request.headers), body });
      response.writeHead(204).end();
      if (sent.length === 3) came();
    });
  });
  let came = () => {};
  const all = new Promise<void>((resolve) => (came = resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { secret } = await lb.putEndpoint("ts-receiver", { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, allow_private: true, kinds: ["member.erased"] });
  for (let n = 0; n < 3; n++) await lb.testEndpoint("ts-receiver");
  await all;
  server.close();
  server.closeAllConnections();
  return { secret: secret!, sent };
}

test("what the server signs, standardwebhooks verifies", () => {
  const verifier = new Webhook(secret);
  for (const { headers, body } of sent) {
    const event = verifier.verify(body, headers) as { id: string; type: string };
    assert.deepEqual([event.id, event.type], [headers["webhook-id"], "endpoint.test"]);
    assert.throws(() => verifier.verify(body.replace("endpoint.test", "period.closed"), headers));
  }
  assert.equal(new Set(sent.map(({ headers }) => headers["webhook-id"])).size, 3);
});

/** signed signs an event with the secret as if it were sent then. */
function signed(id: string, body: string, seconds = Math.floor(Date.now() / 1000)): Sent {
  const signature = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64")).update(`${id}.${seconds}.${body}`).digest("base64");
  return { headers: { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": `v1,AAAA v1,${signature}` }, body };
}

async function freePort(): Promise<number> {
  const server = listenTCP();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** received runs a receiver through events, repeated, forged and old ones, torn lines and kills. */
async function received(command: string, args: string[]): Promise<void> {
  const file = join(folder, `events-${args.length}.jsonl`), port = await freePort();
  let program: ChildProcess;
  const start = async () => {
    program = spawn(command, [...args, file], { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, WEBHOOK_SECRET: secret, LISTEN: `127.0.0.1:${port}` } });
    for (const deadline = Date.now() + 30_000; ; ) {
      if (await fetch(`http://127.0.0.1:${port}/`, { method: "POST" }).then(() => true, () => false)) return;
      assert.ok(Date.now() < deadline && program.exitCode === null, "the receiver does not listen");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const kill = async () => {
    const gone = new Promise((resolve) => program.once("exit", resolve));
    program.kill("SIGKILL");
    await gone;
  };
  const send = async ({ headers, body }: Sent) => (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status;
  await start();
  try {
    for (const event of sent) assert.deepEqual(await Promise.all([send(event), send(event), send(event)]), [204, 204, 204]);
    const [first] = sent as [Sent];
    const minutes = 60, now = Math.floor(Date.now() / 1000), other = '{"id":"evt_other"}';
    for (const bad of [
      { ...first, body: first.body.replace("endpoint.test", "period.closed") },
      { ...first, headers: { ...first.headers, "webhook-id": "evt_other" } },
      { ...first, headers: { ...first.headers, "webhook-signature": "v1," } },
      { ...first, headers: {} },
      signed("evt_other", other, now - 6 * minutes),
      signed("evt_other", other, now + 6 * minutes),
    ]) assert.equal(await send(bad), 401, JSON.stringify(bad));
    await kill();
    await appendFile(file, '{"id":"evt_torn","ty');
    await start();
    for (const event of [...sent, signed("evt_torn", '{"id":"evt_torn"}'), signed("evt_torn", '{"id":"evt_torn"}', now - 4 * minutes)]) assert.equal(await send(event), 204);
    await kill();
    assert.equal(await readFile(file, "utf8"), [...sent.map(({ body }) => body), '{"id":"evt_torn"}', ""].join("\n"));
  } finally {
    program!.kill("SIGKILL");
  }
}

test("the receiver in Go takes each event once", async () => {
  const program = join(folder, "receiver");
  await run(GO, ["build", "-o", program, "./webhooks"], { cwd: join(root, "examples") });
  await received(program, []);
});

test("the receiver in TypeScript takes each event once", async () => {
  await copyFile(join(root, "examples/webhooks/receiver.ts"), join(folder, "receiver.ts"));
  await writeFile(join(folder, "tsconfig.json"), '{ "extends": "../../test/tsconfig.json", "compilerOptions": { "rootDir": ".", "outDir": "js" }, "include": ["*.ts"] }');
  await run(join(own, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: { stdout: string }) => assert.fail(error.stdout));
  await received(process.execPath, [join(folder, "js/receiver.js")]);
});
