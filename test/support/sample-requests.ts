// Builds requests from the OpenAPI document, so that the general tests cover every new endpoint at once.
import type { RequestOptions } from "./client.ts";
import type { ApiDocument, JsonObject } from "./openapi.ts";
import { asObject, resolveReference } from "./openapi.ts";

/** An operation of the document with the parameters and the body of its request. */
export interface SampledOperation {
  /** `GET /api/files/{id}`. */
  readonly name: string;
  readonly method: string;
  /** `/api/files/{id}` */
  readonly template: string;
  /** Names of its path parameters, in order. */
  readonly parameters: readonly string[];
  /** Names of its query parameters. */
  readonly query: readonly string[];
  /** Schema of its JSON body; undefined if it takes none. */
  readonly body: JsonObject | undefined;
  /** Whether the document requires no token. */
  readonly isPublic: boolean;
}

/** All operations of a document, in order. */
export function sampleOperations(document: ApiDocument): SampledOperation[] {
  return document.operations.map(({ method, template }) => {
    const operation =
      asObject(asObject(asObject(document.document["paths"])?.[template])?.[method.toLowerCase()]) ?? {};
    const declared = Array.isArray(operation["parameters"]) ? operation["parameters"] : [];
    const parameters = declared.map((one) => asObject(resolveReference(document.document, one)));
    const content = asObject(asObject(operation["requestBody"])?.["content"]);
    const security = operation["security"];
    return {
      name: `${method} ${template}`,
      method,
      template,
      parameters: [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name),
      query: parameters.filter((one) => one?.["in"] === "query").map((one) => String(one?.["name"])),
      body: asObject(asObject(content?.["application/json"])?.["schema"]),
      isPublic: Array.isArray(security) && security.length === 0,
    };
  });
}

/** Returns the value for a field name; undefined leaves it to the schema. */
export type FieldValue = (name: string) => string | undefined;

/**
 * Builds a value that the schema allows, with required fields and every optional field that `valueOf` has a value for.
 *
 * @param name the field that the schema describes
 */
export function sampleOf(schema: JsonObject | undefined, valueOf: FieldValue, name = ""): unknown {
  if (schema === undefined) return undefined;
  const given = valueOf(name);
  const isList = schema["type"] === "array";
  if (given !== undefined && !isList) return given;
  const choices = schema["enum"] ?? schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if (Array.isArray(choices)) return sampleOf(asObject(choices[0]), valueOf, name);
  if (Array.isArray(schema["allOf"])) {
    return Object.assign({}, ...schema["allOf"].map((part) => sampleOf(asObject(part), valueOf, name)));
  }
  if (isList) {
    if (given !== undefined) return [given];
    return Number(schema["minItems"] ?? 1) > 0 ? [sampleOf(asObject(schema["items"]), valueOf, name)] : [];
  }
  if (schema["type"] === "object" || schema["properties"] !== undefined) return sampleObject(schema, valueOf);
  if (schema["type"] === "boolean") return true;
  if (schema["type"] === "number" || schema["type"] === "integer") return Number(schema["minimum"] ?? 1);
  if (schema["format"] === "date-time") return "2026-01-02T03:04:05.678Z";
  return "x".repeat(Math.max(1, Number(schema["minLength"] ?? 1)));
}

/** Builds the path of an operation: fills in its path parameters and adds every query parameter with a value. */
export function samplePath(operation: SampledOperation, valueOf: FieldValue): string {
  const path = operation.template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => valueOf(name) ?? "x");
  const query = operation.query.flatMap((name) => {
    const value = valueOf(name);
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`];
  });
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

/** Builds the body of an operation's request. */
export function sampleOptions(operation: SampledOperation, valueOf: FieldValue): RequestOptions {
  return operation.body === undefined ? {} : { json: sampleOf(operation.body, valueOf) };
}

function sampleObject(schema: JsonObject, valueOf: FieldValue): JsonObject {
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const object: JsonObject = {};
  for (const [name, field] of Object.entries(asObject(schema["properties"]) ?? {})) {
    if (required.has(name) || valueOf(name) !== undefined || hasFieldWithValue(asObject(field), valueOf)) {
      object[name] = sampleOf(asObject(field), valueOf, name);
    }
  }
  return object;
}

/** Whether the objects of a list have a field with a value, so that the list must be sent. */
function hasFieldWithValue(schema: JsonObject | undefined, valueOf: FieldValue): boolean {
  const fields = asObject(asObject(schema?.["items"])?.["properties"]) ?? {};
  return Object.keys(fields).some((name) => valueOf(name) !== undefined);
}
