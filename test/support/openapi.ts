// Compares real responses with the document at /openapi.json.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv, { type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { RecordedResponse } from "./client.ts";
import { buildOnce } from "./build-once.ts";
import { runLarder, testCommand } from "./server.ts";

/** A JSON object with unknown fields. */
export type JsonObject = Record<string, unknown>;

/** The value if it is a JSON object, else undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

interface Operation {
  /** Matches the path of a request without its query. */
  pattern: RegExp;
  /** As in the document, `/api/files/{id}`. */
  template: string;
  method: string;
  /** Whether the document describes a request body. */
  takesBody: boolean;
  responses: JsonObject;
  /** Lists the operation's own error reasons. */
  description: string;
}

/** The validator resolves references into the document by this id. */
const DOCUMENT_ID = "larder";

/** The document. References to responses are resolved when it is read, references to schemas when they are used. */
export class ApiDocument {
  private readonly ajv = addFormats(new Ajv({ strict: false, allErrors: true, code: { optimize: false } }));
  /** By schema. Most responses are errors and share one. */
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(
    readonly document: JsonObject,
    readonly operations: Operation[],
  ) {
    // Schemas reference only schemas. The whole document takes the validator ten times as long.
    const { schemas } = asObject(document["components"]) ?? {};
    this.ajv.addSchema({ components: { schemas } }, DOCUMENT_ID);
  }

  /** Loads the document of the program under test. Only `validate` checks that it is valid OpenAPI. */
  static async load(): Promise<ApiDocument> {
    const command = testCommand();
    const path = await buildOnce("openapi.json", command, async (partial) => {
      const { code, stdout, stderr } = await runLarder(["openapi"]);
      if (code !== 0) throw new Error(`larder openapi failed:\n${stderr}`);
      await writeFile(partial, stdout);
    });
    const document = asObject(await Bun.file(path).json()) ?? {};
    return new ApiDocument(document, listOperations(document));
  }

  /**
   * Checks the document against the schema of OpenAPI.
   *
   * @returns the first violations; empty if the document is valid
   */
  static async validate(baseUrl: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "larder-test-openapi-"));
    try {
      const path = join(folder, "openapi.json");
      await writeFile(path, await (await fetch(`${baseUrl}/openapi.json`)).text());
      // Imported only here, because loading the parser takes longer than the checks of most test files.
      const { default: SwaggerParser } = await import("@apidevtools/swagger-parser");
      await SwaggerParser.validate(path);
      return "";
    } catch (error) {
      // The error carries every violation; the beginning of its message is enough.
      return String(error).slice(0, 2000);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** The operation of a request; undefined if the document has none. */
  find(method: string, path: string): Operation | undefined {
    const pathname = path.split("?")[0] ?? path;
    return this.operations.find((one) => one.method === method && one.pattern.test(pathname));
  }

  /**
   * Describes how a response contradicts the document.
   *
   * @returns undefined if it does not, or if the document lacks the request (unknown path, wrong method)
   */
  findMismatch(apiResponse: RecordedResponse): string | undefined {
    const operation = this.find(apiResponse.method, apiResponse.path);
    if (operation === undefined) return undefined;
    const where = `${operation.method} ${operation.template} ${apiResponse.status}`;
    // The default response covers server and connection errors. Every other rejection has a response of its own.
    const fallback =
      apiResponse.status >= 500 || apiResponse.status === 408 ? operation.responses["default"] : undefined;
    const response = asObject(operation.responses[String(apiResponse.status)] ?? fallback);
    if (response === undefined) return `${where} is not in the document (${reasonOf(apiResponse)})`;
    if (apiResponse.json === undefined) return undefined;
    const reason = reasonOf(apiResponse);
    if (NAMED.has(apiResponse.status) && !GENERAL.has(reason) && !operation.description.includes(reason)) {
      return `${where} is not described with its reason: ${reason}`;
    }
    const content = asObject(response["content"]) ?? {};
    const schema = asObject(asObject(content["application/json"])?.["schema"]);
    if (schema === undefined) return `${where} has a JSON body, the document has no schema for it`;
    const validate = this.validator(schema);
    if (validate(apiResponse.json)) return undefined;
    const errors = (validate.errors ?? []).slice(0, 3).map((error) => `${error.instancePath} ${error.message}`);
    return `${where}: ${errors.join("; ")}: ${JSON.stringify(apiResponse.json).slice(0, 300)}`;
  }

  private validator(schema: JsonObject): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/', `"${DOCUMENT_ID}#/`);
    const cached = this.validators.get(text);
    if (cached !== undefined) return cached;
    const compiled = this.ajv.compile(JSON.parse(text));
    this.validators.set(text, compiled);
    return compiled;
  }
}

/** Resolves a part of the document that may be a reference. */
export function resolveReference(document: JsonObject, part: unknown): unknown {
  const reference = asObject(part)?.["$ref"];
  if (typeof reference !== "string") return part;
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, key) => asObject(at)?.[key], document);
}

/** Statuses with several reasons that clients distinguish. Each operation lists its own. */
const NAMED = new Set([403, 409, 410, 413]);
/** Reasons with these statuses that every operation may return; `locked`, every one that changes files. */
const GENERAL = new Set(["role", "scope", "csrf", "body_too_large", "locked"]);

function reasonOf(apiResponse: RecordedResponse): string {
  const details = asObject(asObject(asObject(apiResponse.json)?.["error"])?.["details"]);
  return asText(details?.["reason"]) ?? "no reason";
}

const methods = new Set(["get", "put", "post", "delete", "patch", "head", "options"]);

/** All operations, literal paths first, so that `/api/files/folders` does not match `/api/files/{id}`. */
function listOperations(document: JsonObject): Operation[] {
  const operations: Operation[] = [];
  for (const [template, item] of Object.entries(asObject(document["paths"]) ?? {})) {
    const source = template
      .split(/\{[^}]+\}/)
      .map((literal) => literal.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join("[^/]+");
    for (const [method, operation] of Object.entries(asObject(item) ?? {})) {
      if (!methods.has(method)) continue;
      operations.push({
        pattern: new RegExp(`^${source}$`),
        template,
        method: method.toUpperCase(),
        takesBody: asObject(operation)?.["requestBody"] !== undefined,
        description: asText(asObject(operation)?.["description"]) ?? "",
        responses: Object.fromEntries(
          Object.entries(asObject(asObject(operation)?.["responses"]) ?? {}).map(([status, response]) => [
            status,
            resolveReference(document, response),
          ]),
        ),
      });
    }
  }
  const countParameters = (operation: Operation) => operation.template.split("{").length;
  return operations.sort((a, b) => countParameters(a) - countParameters(b));
}
