// Writes src/generated/: the types of api/openapi.yaml, by openapi-typescript, and a method for each operation. It reads
// openapi.json, which is openapi.yaml as the server shows it; a test of httpapi holds the two together.
//
//	node scripts/generate.mjs           writes the files
//	node scripts/generate.mjs --check   fails when they are not what would be written
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const folder = new URL("../src/generated/", import.meta.url);
const document = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8"));
const { schemas } = document.components;

/** resolve follows a reference within the document. */
const resolve = (node) => (node?.$ref ? node.$ref.slice(2).split("/").reduce((at, part) => at[part], document) : node);
const types = (schema) => [schema.type ?? []].flat();
/** isWide reports that a number may lie beyond 2^53: scores, tiebreaks and their bounds. Ranks, counts and seqs do not. */
const isWide = (schema) => schema?.format === "int64" && (schema.minimum === undefined || schema.minimum < -(2 ** 53) || changes.includes(schema));
/** changes, as bounds of scores, are as wide as these though they are not negative. */
const changes = Object.values(schemas).flatMap((s) => [s.properties, s.properties?.limits?.properties]).flatMap((p) => [p?.max_delta, p?.per_second].filter(Boolean));

/** Each is marked, for the types. */
(function mark(node) {
  if (!node || typeof node !== "object") return;
  if (isWide(node)) node["x-wide"] = true;
  Object.values(node).forEach(mark);
})(document);

/** isShown leaves out parameters that the client does not need: it reads 64-bit integers exactly without being sent strings. */
const isShown = (parameter) => parameter.name !== "numbers";

/** An Operation is one route of the document. */
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  ["get", "put", "post", "patch", "delete"].filter((method) => item[method]).map((method) => ({
    ...item[method], path, method: method.toUpperCase(), parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map(resolve).filter(isShown),
  })));
for (const o of operations) if ((o.requestBody !== undefined) !== ["PUT", "POST", "PATCH"].includes(o.method)) throw new Error(`${o.operationId}: PUT, POST and PATCH have a body, others none`);

const success = (o) => Object.entries(o.responses).filter(([status]) => status.startsWith("2")).map(([status, r]) => ({ status, ...resolve(r) }));
const contents = (o) => success(o).flatMap((r) => Object.entries(r.content ?? {}));
const named = (o) => contents(o).flatMap(([kind, { schema }]) => (kind === "application/json" && schema.$ref ? [schema.$ref.split("/").pop()] : []));

/** answerType is the type of a method's result. */
function answerType(o) {
  const parts = new Set(named(o).map((name) => `Schemas["${name}"]`));
  for (const [kind, { schema }] of contents(o)) if (kind !== "application/json") parts.add("string"); else if (!schema.$ref) parts.add("Record<string, unknown>");
  if (success(o).some((r) => !r.content)) parts.add("undefined");
  return [...parts].join(" | ") || "string"; // a redirection is followed
}

const camel = (header) => header.toLowerCase().replace(/-(\w)/g, (_, c) => c.toUpperCase());
const of = (o, where) => o.parameters.filter((p) => p.in === where);
/** optionsType is the type of a method's last argument: its own options, and the options of all methods. */
function optionsType(o) {
  const query = of(o, "query"), headers = of(o, "header").filter((p) => o.method !== "GET" || p.name !== "If-None-Match"); // fetch sends it
  const parts = [];
  if (query.length) parts.push(`Query<"${o.operationId}">`);
  if (headers.length) parts.push(`{ ${headers.map((p) => `${camel(p.name)}?: string | undefined`).join("; ")} }`);
  return [...parts, "CallOptions"].join(" & ");
}

/** bodyType is the type of a method's body. */
function bodyType(o) {
  const [{ schema }] = Object.values(o.requestBody.content);
  return `Sent<Schemas["${schema.$ref.split("/").pop()}"]>`;
}

const handWritten = ["exportEntries", "readChanges", "streamPage"]; // whose answers are streams

/** method is the declaration of an operation: the parts of its path, its body, and the rest by name. */
function method(o) {
  const kind = ({ schema }) => (isWide(schema) ? "Integer" : types(schema).includes("integer") ? "number" : "string");
  const path = of(o, "path").map((p) => `${p.name}: ${kind(p)}`);
  if (path.length !== (o.path.match(/{/g)?.length ?? 0)) throw new Error(`${o.operationId}: parameters of the path are missing`);
  path.sort((a, b) => o.path.indexOf(`{${a.split(":")[0]}}`) - o.path.indexOf(`{${b.split(":")[0]}}`));
  const must = of(o, "query").some((p) => p.required) ? "" : "?";
  const body = o.requestBody ? [`body${o.requestBody.required || !must ? "" : "?"}: ${bodyType(o)}`] : [];
  const paged = of(o, "query").some((p) => p.name === "cursor");
  return `  /** ${o.summary}. ${o.method} ${o.path} */
  ${o.operationId}(${[...path, ...body, `options${must}: ${optionsType(o)}`].join(", ")}): ${paged ? "Pages" : "Promise"}<${answerType(o)}>;`;
}

/** flags are facts that the method does not show: a read by POST, a write with an Idempotency-Key, a body that is not the API's. */
function flags(o) {
  if (of(o, "header").some((p) => p.name === "Idempotency-Key")) return " key";
  if (o.method === "POST" && o.tags.includes("Reading")) return " read";
  return contents(o).some(([kind, { schema }]) => kind === "application/json" && !schema.$ref) ? " plain" : "";
}

/** positions finds where JSON holds wide integers: properties by name, maps by the name of the property that has them, and parts to leave alone. */
function positions() {
  const found = { wide: new Set(), maps: new Set(), open: new Set() }, other = new Set();
  const visit = (schema) => {
    if (!schema || typeof schema !== "object") return;
    for (const [name, given] of Object.entries(schema.properties ?? {})) {
      const property = [given, ...(given.oneOf ?? []), ...(given.allOf ?? [])].map(resolve);
      const map = property.map((p) => p.additionalProperties).find((p) => p);
      if (property.some(isWide)) found.wide.add(name);
      else if (map && isWide(resolve(map))) found.maps.add(name);
      else if (map && !resolve(map).properties && !types(resolve(map)).includes("integer")) found.open.add(name);
      else if (property.some((p) => types(p).some((t) => ["integer", "number", "string"].includes(t)))) other.add(name);
      visit(given);
    }
    for (const key of ["items", "additionalProperties"]) visit(schema[key]);
    for (const key of ["allOf", "oneOf", "anyOf"]) schema[key]?.forEach(visit);
  };
  Object.values(schemas).forEach(visit);
  for (const name of found.wide) if (other.has(name)) throw new Error(`${name} is a 64-bit integer in one schema and something else in another: the client knows them by name`);
  return found;
}

const list = (set) => `new Set(${JSON.stringify([...set].sort()).replaceAll(",", ", ")})`;
const { wide, maps, open } = positions();

/** pruned is the document without parts that the types do not need: problems are all of one type, and parameters of a path are in its operations. */
function pruned() {
  const copy = structuredClone(document);
  for (const item of Object.values(copy.paths)) for (const o of Object.values(item)) {
    if (!o.operationId) continue;
    o.responses = {};
    delete o.description;
  }
  delete copy.components.responses;
  delete copy.components.headers;
  delete copy.components.parameters.numbersParam;
  for (const item of Object.values(copy.paths)) for (const holder of [item, ...Object.values(item)]) {
    if (holder.parameters) holder.parameters = holder.parameters.filter((p) => isShown(resolve(p)));
  }
  return copy;
}

const head = "// Made by scripts/generate.mjs of api/openapi.yaml; do not edit.\n\n";
const word = (kind) => ts.factory.createKeywordTypeNode(kind);
const bigint = word(ts.SyntaxKind.BigIntKeyword);
const orNull = ts.factory.createUnionTypeNode([bigint, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);
const ast = await openapiTS(pruned(), {
  defaultNonNullable: false, silent: true,
  transform: (schema) => (schema["x-wide"] ? (types(schema).includes("null") ? orNull : bigint) : undefined),
});
const api = head + astToString(ast.filter((node) => ["components", "operations", "WithRequired"].includes(node.name?.text)));

const methods = `${head}import type { CallOptions, Integer, Pages, Query, Schemas, Sent } from "../types.js";

/** A method for each operation of the API but for the three whose answers are streams. */
export interface Operations {
${operations.filter((o) => !handWritten.includes(o.operationId)).map(method).join("\n")}
}

/** Method and path of each operation. key: an Idempotency-Key goes with it; read: it changes nothing; plain: no numbers to restore. */
export const table = {
${operations.map((o) => `  ${o.operationId}: "${o.method} ${o.path}${flags(o)}",`).join("\n")}
} as const;

/** The properties with 64-bit integers, the properties with maps of them, and the properties whose names are the caller's own. */
export const wide = ${list(wide)};
export const wideMaps = ${list(maps)};
export const open = ${list(open)};
`;

const stale = [];
for (const [name, text] of Object.entries({ "api.ts": api, "operations.ts": methods })) {
  const file = new URL(name, folder);
  if (!process.argv.includes("--check")) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) stale.push(name);
}
if (stale.length) {
  console.error(`${stale.join(" and ")} in clients/typescript/src/generated are not what api/openapi.yaml makes: run make client, and commit what it writes`);
  process.exit(1);
}
