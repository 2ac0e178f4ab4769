// The package as npm publishes it: its content, and a program elsewhere that installs it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const own = fileURLToPath(new URL("../../", import.meta.url));
let folder: string, tarball: string, files: string[];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "packed-"));
  const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: own }); // npm test has built it
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  tarball = join(folder, packed.filename);
  files = packed.files.map(({ path }) => path).sort();
});
after(() => rm(folder, { recursive: true }));

test("it has what is built, its license, and nothing else", async () => {
  const built = files.filter((file) => file.startsWith("dist/"));
  assert.deepEqual(files.filter((file) => !file.startsWith("dist/")), ["LICENSE", "README.md", "package.json"]);
  for (const file of built) assert.match(file, /^dist\/[\w/]+(\.d\.ts|\.js)$/);
  assert.equal(await readFile(join(own, "LICENSE"), "utf8"), await readFile(join(own, "../../LICENSE"), "utf8"));
});

test("it says what npm shows, and the server's version", async () => {
  const about = JSON.parse(await readFile(join(own, "package.json"), "utf8"));
  for (const name of ["name", "version", "description", "keywords", "homepage", "bugs", "repository", "license", "engines", "exports", "types"])
    assert.ok(about[name], `package.json has no ${name}`);
  assert.equal(about.sideEffects, false);
  assert.equal(about.dependencies, undefined);
  assert.equal(about.repository.directory, "clients/typescript");
  for (const file of [about.main, about.types, about.exports["."].types, about.exports["."].default]) assert.ok(files.includes(file.slice(2)), `${file} is not in it`);
});

test("a program elsewhere imports it", async () => {
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", tarball], { cwd: folder });
  await writeFile(join(folder, "main.js"), 'import { Leaderboard, ProblemError } from "@leaderboard/client";\nconst lb = new Leaderboard({ url: "http://127.0.0.1:1" });\nconsole.log(typeof lb.getTop, ProblemError.name);\n');
  assert.equal((await run(process.execPath, ["main.js"], { cwd: folder })).stdout, "function ProblemError\n");
});

const program = `import { Leaderboard, type Schemas } from "@leaderboard/client";
export async function first(lb: Leaderboard): Promise<bigint | undefined> {
  const page = await lb.getTop("spring", { limit: 1 });
  const entry: Schemas["Entry"] | undefined = page.entries[0];
  // @ts-expect-error it has types, not any
  const wrong: string | undefined = entry?.score;
  return entry?.score;
}
`;
for (const [module, resolution] of [["nodenext", "nodenext"], ["esnext", "bundler"]] as const)
  test(`it has types there: ${resolution}`, async () => {
    await writeFile(join(folder, "main.ts"), program);
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable,dom.asynciterable", "--module", module, "--moduleResolution", resolution];
    await run(process.execPath, [join(own, "node_modules/typescript/bin/tsc"), ...options, "main.ts"], { cwd: folder }).catch((error: { stdout: string }) => assert.fail(error.stdout));
  });
