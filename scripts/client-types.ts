/**
 * Writes the types of the API's records for the web client, from the OpenAPI document: `bun scripts/client-types.ts`.
 * A test compares the file with the document.
 */
import { openApiDocument } from "../src/server/http/docs.ts";

const FILE = new URL("../src/client/api/generated.ts", import.meta.url).pathname;

type Json = Readonly<Record<string, unknown>>;

const HEAD = `/** Types of the API's records, generated from the OpenAPI document by scripts/client-types.ts. Do not edit. */

`;

/** The text of the file for an OpenAPI 3.0 document. */
export function clientTypes(document: unknown): string {
  const { components, paths } = recordOf(document);
  const { schemas, responses } = recordOf(components);
  const records = Object.entries(recordOf(schemas)).map(([name, schema]) => line(name, typeOf(schema, 1)));
  const responseData = Object.entries(recordOf(paths)).flatMap(([path, item]) =>
    Object.entries(recordOf(item)).flatMap(([method, operation]) => {
      const data = dataOf(recordOf(operation), recordOf(responses));
      return data === undefined ? [] : [line(`${method.toUpperCase()} ${path}`, typeOf(data, 1))];
    }),
  );
  return (
    HEAD +
    `/** The named records. */\nexport interface Schemas {\n${records.join("")}}\n\n` +
    `/** \`data\` of the response to each request. */\nexport interface ResponseData {\n${responseData.join("")}}\n`
  );
}

/** The schema of `data` in the successful response; undefined if it has none. */
function dataOf({ responses: own }: Json, shared: Json): unknown {
  const [, success] = Object.entries(recordOf(own)).find(([status]) => status.startsWith("2")) ?? [];
  const { $ref } = recordOf(success);
  const response = typeof $ref === "string" ? shared[$ref.slice($ref.lastIndexOf("/") + 1)] : success;
  const { schema } = recordOf(recordOf(recordOf(response)["content"])["application/json"]);
  const [, envelope] = listOf(recordOf(schema)["allOf"]);
  return recordOf(recordOf(envelope)["properties"])["data"];
}

function typeOf(schema: unknown, depth: number): string {
  const json = recordOf(schema);
  const type = plainTypeOf(json, depth);
  return json["nullable"] === true && !type.split(" | ").includes("null") ? `${type} | null` : type;
}

function plainTypeOf(json: Json, depth: number): string {
  const { $ref, allOf, anyOf, oneOf, enum: values, type, items } = json;
  if (typeof $ref === "string") return `Schemas[${JSON.stringify($ref.slice($ref.lastIndexOf("/") + 1))}]`;
  if (Array.isArray(allOf)) return allOf.map((one) => grouped(one, depth)).join(" & ");
  const options = anyOf ?? oneOf;
  if (Array.isArray(options)) return options.map((one) => grouped(one, depth)).join(" | ");
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (type === "array") return `readonly ${grouped(items, depth)}[]`;
  if (type === "object" || "properties" in json) return objectTypeOf(json, depth);
  if (type === "integer" || type === "number") return "number";
  return type === "string" || type === "boolean" ? type : "unknown";
}

function objectTypeOf({ properties, required, additionalProperties }: Json, depth: number): string {
  const names = listOf(required);
  const fields = Object.entries(recordOf(properties)).map(([name, schema]) =>
    line(`${name}${names.includes(name) ? "" : "?"}`, typeOf(schema, depth + 1), depth + 1),
  );
  if (fields.length > 0) return `{\n${fields.join("")}${"  ".repeat(depth)}}`;
  const value = typeof additionalProperties === "object" ? typeOf(additionalProperties, depth) : "unknown";
  return `Readonly<Record<string, ${value}>>`;
}

function line(name: string, type: string, depth = 1): string {
  const key = /^[A-Za-z_]\w*\??$/.test(name) ? name : JSON.stringify(name);
  return `${"  ".repeat(depth)}readonly ${key}: ${type};\n`;
}

/** The type of a schema as a part of another type: in parentheses if it has several parts. */
function grouped(schema: unknown, depth: number): string {
  const { nullable, allOf, anyOf, oneOf, enum: values, type } = recordOf(schema);
  const parts = [allOf, anyOf, oneOf, values].flatMap(listOf).length;
  const isCompound = nullable === true || parts > 1 || type === "array";
  const text = typeOf(schema, depth);
  return isCompound && text !== "null" ? `(${text})` : text;
}

function recordOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

if (import.meta.main) await Bun.write(FILE, clientTypes(await openApiDocument()));
