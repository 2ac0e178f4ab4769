// The same in TypeScript for Node.js: node receiver.js events.jsonl
import { createHmac, timingSafeEqual } from "node:crypto";
import { fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? "").replace(/^whsec_/, ""), "base64");
if (key.length === 0) throw new Error("WEBHOOK_SECRET is no secret of an endpoint");

// The file has an event on each line. A last line without an end was torn by a kill: its event was not answered and comes again.
const file = openSync(process.argv[2]!, "a+", 0o600);
const text = readFileSync(file), whole = text.subarray(0, text.lastIndexOf("\n") + 1);
ftruncateSync(file, whole.length);
const has = new Set(whole.toString().split("\n").filter((line) => line).map((line) => (JSON.parse(line) as { id: string }).id));

/** signed reports whether one of the signatures is by the secret, and not older than five minutes. */
function signed(id: string, timestamp: string, signatures: string, body: Buffer): boolean {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const want = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((s) => {
    const got = Buffer.from(s.replace(/^v1,/, ""), "base64");
    return got.length === want.length && timingSafeEqual(got, want); // in constant time
  });
}

/** take adds an event to the file unless it is there. It waits for nothing in between: an event may come twice at once. */
function take(id: string, body: Buffer): void {
  if (has.has(id)) return;
  const line = Buffer.concat([body, Buffer.from("\n")]);
  try {
    if (writeSync(file, line) !== line.length) throw new Error("the disk is full");
    fsyncSync(file);
  } catch (error) {
    console.error(error);
    process.exit(1); // a part of a line may be there: the next start cuts it off
  }
  has.add(id);
}

const [host, port] = (process.env.LISTEN ?? "127.0.0.1:8090").split(":");
createServer((request, response) => {
  const parts: Buffer[] = [];
  let size = 0;
  request.on("data", (part: Buffer) => {
    if ((size += part.length) > 1 << 20) request.destroy();
    else parts.push(part);
  });
  request.on("end", () => {
    const header = (name: string) => String(request.headers[name] ?? ""), id = header("webhook-id"), body = Buffer.concat(parts);
    if (!signed(id, header("webhook-timestamp"), header("webhook-signature"), body)) response.writeHead(401).end();
    else response.writeHead((take(id, body), 204)).end();
  });
}).listen(Number(port), host);
