// The programs of docs/clients.md and the lines of README.md, each run unchanged. TypeScript uses the built package.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Leaderboard } from "@leaderboard/client";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url)), own = join(root, "clients/typescript");
const { LEADERBOARD_URL: url = "", LEADERBOARD_KEY: key = "", GO = "go" } = process.env;
let programs: Map<string, string>, folder: string;

before(async () => {
  const text = await readFile(join(root, "docs/clients.md"), "utf8");
  programs = new Map([...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, program]) => [language!, program!]));
  assert.deepEqual([...programs.keys()], ["sh", "go", "ts"]);
  folder = await mkdtemp(join(own, "out", "docs-")); // here, so that the package finds itself
});
after(() => rm(folder, { recursive: true }));

/** inFile writes a program to a file and deletes its board of the time before. */
async function inFile(language: string): Promise<string> {
  const lb = new Leaderboard({ url, key });
  await lb.putBoard("spring", {});
  await lb.deleteBoard("spring");
  const file = join(folder, `main.${language}`);
  await writeFile(file, programs.get(language)!);
  return file;
}

const said = "1 ada 9007199254740993\n2 bob 7\nnobody is not ranked\nlive: ada 9007199254740993\n";

test("curl", async () => {
  const { stdout } = await run("bash", [await inFile("sh")]);
  for (const part of ['"mode":"tied"', '"status":"applied"', '"score":9007199254740993', "/problems/not-ranked", "event: page\n"]) assert.ok(stdout.includes(part), `${part} is not in ${stdout}`);
});

test("Go", async () => {
  assert.equal((await run(GO, ["run", await inFile("go")], { cwd: root })).stdout, said);
});

test("TypeScript", async () => {
  await inFile("ts");
  assert.equal(await compiled(), said);
});

/** compiled compiles the program in TypeScript, runs it and returns its output. */
async function compiled(): Promise<string> {
  await writeFile(join(folder, "tsconfig.json"), '{ "extends": "../../test/tsconfig.json", "compilerOptions": { "rootDir": ".", "outDir": "js" }, "include": ["*.ts"] }');
  await run(join(own, "node_modules/.bin/tsc"), ["-p", folder]).catch((error: { stdout: string }) => assert.fail(error.stdout));
  return (await run(process.execPath, [join(folder, "js/main.js")])).stdout;
}

/** linesOfReadme returns the lines of README.md in a language, for the server of the test, which has the demo board. */
async function linesOfReadme(language: string): Promise<string> {
  const lines = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms").exec(await readFile(join(root, "README.md"), "utf8"))?.[1];
  assert.ok(lines, `README.md has nothing in ${language}`);
  return lines.replace("http://127.0.0.1:8080", url);
}

test("README, Go", async () => {
  const lines = await linesOfReadme("go");
  const packages = programs.get("go")!.match(/"\S+\/(?:client|leaderboard)"/g) ?? []; // by the path that the module has
  const imports = ['"context"', '"fmt"', ...packages].map((name) => `import ${name}`).join("\n");
  await writeFile(join(folder, "main.go"), `package main\n\n${imports}\n\nfunc main() {\nctx, key := context.Background(), ${JSON.stringify(key)}\n${lines}if err != nil {\npanic(err)\n}\n}\n`);
  assert.match((await run(GO, ["run", join(folder, "main.go")], { cwd: root })).stdout, /^\d+ of \d+\n$/);
});

test("README, TypeScript", async () => {
  const lines = await linesOfReadme("ts");
  await writeFile(join(folder, "main.ts"), `import { Leaderboard } from "@leaderboard/client";\nconst key = ${JSON.stringify(key)};\n${lines}`);
  assert.match(await compiled(), /^\d+ of \d+\n$/);
});
