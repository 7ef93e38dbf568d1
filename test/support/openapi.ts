// Compares real answers with the document at /openapi.json.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv, { type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { RecordedResponse } from "./client.ts";
import { buildOnce } from "./build-once.ts";
import { runLarder, testCommand } from "./server.ts";

/** A JSON object of unknown content. */
export type JsonObject = Record<string, unknown>;

/** Narrows to a JSON object; undefined for everything else. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

interface Operation {
  /** Matches a request path without its query. */
  pattern: RegExp;
  /** As in the document, `/api/files/{id}`. */
  template: string;
  method: string;
  /** Whether the document describes a request body. */
  takesBody: boolean;
  responses: JsonObject;
  /** Names the reasons that the operation itself has for its refusals. */
  description: string;
}

/** Under which the validator knows the document, so that references into it are found. */
const DOCUMENT_ID = "larder";

/** The document, read once. References of responses are resolved; those of schemas are followed where one is needed. */
export class ApiDocument {
  private readonly ajv = addFormats(new Ajv({ strict: false, allErrors: true, code: { optimize: false } }));
  /** By the schema they check: most responses are errors, and share theirs. */
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(
    readonly document: JsonObject,
    readonly operations: Operation[],
  ) {
    // The schemas alone: nothing else is referred to by them, and the whole document takes the validator ten times as long.
    const { schemas } = asObject(document["components"]) ?? {};
    this.ajv.addSchema({ components: { schemas } }, DOCUMENT_ID);
  }

  /** The document of the program under test. Whether it is valid OpenAPI is asked by `faults` alone. */
  static async load(): Promise<ApiDocument> {
    const command = testCommand();
    const path = await buildOnce("openapi.json", command, async (partial) => {
      const { code, stdout, stderr } = await runLarder(["openapi"]);
      if (code !== 0) throw new Error(`larder openapi failed:\n${stderr}`);
      await writeFile(partial, stdout);
    });
    const document = asObject(await Bun.file(path).json()) ?? {};
    return new ApiDocument(document, operationsOf(document));
  }

  /**
   * Checks the document against the schema of OpenAPI itself.
   *
   * @returns the first places that are wrong; empty when it is valid
   */
  static async validate(baseUrl: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "larder-test-openapi-"));
    try {
      const path = join(folder, "openapi.json");
      await writeFile(path, await (await fetch(`${baseUrl}/openapi.json`)).text());
      // Only here: loading the parser costs more than most files' checks.
      const { default: SwaggerParser } = await import("@apidevtools/swagger-parser");
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
  findMismatch(apiResponse: RecordedResponse): string | undefined {
    const operation = this.find(apiResponse.method, apiResponse.path);
    if (operation === undefined) return undefined;
    const where = `${operation.method} ${operation.template} ${apiResponse.status}`;
    // The default response is for faults of the server and of the line: what a route refuses has a response of its own.
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
    const known = this.validators.get(text);
    if (known !== undefined) return known;
    const made = this.ajv.compile(JSON.parse(text));
    this.validators.set(text, made);
    return made;
  }
}

/** A response, or what its reference stands for. */
function resolved(document: JsonObject, response: unknown): unknown {
  const reference = asObject(response)?.["$ref"];
  if (typeof reference !== "string") return response;
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, key) => asObject(at)?.[key], document);
}

/** Statuses whose reasons a client may have to tell apart: each operation names its own. */
const NAMED = new Set([403, 409, 410, 413]);
/** Reasons with these statuses that any operation may have. */
const GENERAL = new Set(["role", "scope", "csrf", "body_too_large"]);

function reasonOf(apiResponse: RecordedResponse): string {
  const details = asObject(asObject(asObject(apiResponse.json)?.["error"])?.["details"]);
  return textOf(details?.["reason"]) ?? "no reason";
}

const methods = new Set(["get", "put", "post", "delete", "patch", "head", "options"]);

/** All operations, the more literal paths first, so that `/api/files/folders` is not taken for `/api/files/{id}`. */
function operationsOf(document: JsonObject): Operation[] {
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
        description: textOf(asObject(operation)?.["description"]) ?? "",
        responses: Object.fromEntries(
          Object.entries(asObject(asObject(operation)?.["responses"]) ?? {}).map(([status, response]) => [
            status,
            resolved(document, response),
          ]),
        ),
      });
    }
  }
  const holes = (operation: Operation) => operation.template.split("{").length;
  return operations.sort((a, b) => holes(a) - holes(b));
}
