// Compares real answers with the document at /openapi.json.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import Ajv, { type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { RecordedAnswer } from "./client.ts";

/** A JSON object of unknown content. */
export type JsonObject = Record<string, unknown>;

/** Narrows to a JSON object; undefined for everything else. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

interface Operation {
  /** Matches a request path without its query. */
  pattern: RegExp;
  /** As in the document, `/api/files/{id}`. */
  template: string;
  method: string;
  responses: JsonObject;
}

/** The document, read once, with its references resolved. */
export class ApiDocument {
  private readonly ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(
    readonly document: JsonObject,
    readonly operations: Operation[],
  ) {}

  /** Fetches the document. Whether it is valid OpenAPI is asked by `validate` alone. */
  static async load(baseUrl: string): Promise<ApiDocument> {
    const folder = await mkdtemp(join(tmpdir(), "larder-test-openapi-"));
    try {
      const path = join(folder, "openapi.json");
      await writeFile(path, await (await fetch(`${baseUrl}/openapi.json`)).text());
      const document = objectOf(await SwaggerParser.dereference(path)) ?? {};
      return new ApiDocument(document, operationsOf(document));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /**
   * Checks the document against the schema of OpenAPI itself.
   *
   * @returns the first places that are wrong; empty when it is valid
   */
  static async faults(baseUrl: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "larder-test-openapi-"));
    try {
      const path = join(folder, "openapi.json");
      await writeFile(path, await (await fetch(`${baseUrl}/openapi.json`)).text());
      await SwaggerParser.validate(path);
      return "";
    } catch (error) {
      // The parser hangs every violation there is on its error: its message alone is more than enough to read.
      return String(error).slice(0, 2000);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** The operation that a request belongs to; undefined where the document has none. */
  find(method: string, path: string): Operation | undefined {
    const pathname = path.split("?")[0] ?? path;
    return this.operations.find((one) => one.method === method && one.pattern.test(pathname));
  }

  /**
   * What is wrong with an answer by the document.
   *
   * @returns undefined when nothing is, or when the document does not know the request (unknown paths, wrong methods)
   */
  complaint(answer: RecordedAnswer): string | undefined {
    const operation = this.find(answer.method, answer.path);
    if (operation === undefined) return undefined;
    const where = `${operation.method} ${operation.template} ${answer.status}`;
    const response = objectOf(operation.responses[String(answer.status)] ?? operation.responses["default"]);
    if (response === undefined) return `${where} is not in the document (${reasonOf(answer)})`;
    if (answer.json === undefined) return undefined;
    const content = objectOf(response["content"]) ?? {};
    const schema = objectOf(objectOf(content["application/json"])?.["schema"]);
    if (schema === undefined) return `${where} has a JSON body, the document has no schema for it`;
    const validate = this.validator(where, schema);
    if (validate(answer.json)) return undefined;
    const errors = (validate.errors ?? []).slice(0, 3).map((error) => `${error.instancePath} ${error.message}`);
    return `${where}: ${errors.join("; ")}: ${JSON.stringify(answer.json).slice(0, 300)}`;
  }

  private validator(where: string, schema: JsonObject): ValidateFunction {
    const known = this.validators.get(where);
    if (known !== undefined) return known;
    const made = this.ajv.compile(schema);
    this.validators.set(where, made);
    return made;
  }
}

function reasonOf(answer: RecordedAnswer): string {
  const details = objectOf(objectOf(objectOf(answer.json)?.["error"])?.["details"]);
  return JSON.stringify(details?.["reason"] ?? "no reason");
}

const methods = new Set(["get", "put", "post", "delete", "patch", "head", "options"]);

/** All operations, the more literal paths first, so that `/api/files/folders` is not taken for `/api/files/{id}`. */
function operationsOf(document: JsonObject): Operation[] {
  const operations: Operation[] = [];
  for (const [template, item] of Object.entries(objectOf(document["paths"]) ?? {})) {
    const source = template
      .split(/\{[^}]+\}/)
      .map((literal) => literal.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join("[^/]+");
    for (const [method, operation] of Object.entries(objectOf(item) ?? {})) {
      if (!methods.has(method)) continue;
      operations.push({
        pattern: new RegExp(`^${source}$`),
        template,
        method: method.toUpperCase(),
        responses: objectOf(objectOf(operation)?.["responses"]) ?? {},
      });
    }
  }
  const holes = (operation: Operation) => operation.template.split("{").length;
  return operations.sort((a, b) => holes(a) - holes(b));
}
