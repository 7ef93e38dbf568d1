import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { AppError, invalidField } from "../errors.ts";
import { say } from "../translations/say.ts";
import { readDocument } from "./document-body.ts";
import { schemaProblem } from "./schema-problem.ts";

/**
 * Reads the JSON object in a request's body; `{}` without a body if none is required.
 * @throws AppError unsupported_media_type | body_too_large | invalid_json | body_timeout | rate_limited
 */
export async function readJson(request: Request, isRequired: boolean): Promise<object> {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  const declared = Number(request.headers.get("content-length") ?? 0);
  const hasBody = declared > 0 || request.headers.has("transfer-encoding");
  if (!hasBody && !isRequired) return {};
  if (!hasBody)
    throw new AppError("invalid_json", say`The request has no body. Send a JSON object as application/json.`);
  if (type !== "application/json") {
    throw new AppError(
      "unsupported_media_type",
      say`The request body must be JSON. Send it with Content-Type: application/json.`,
    );
  }
  const buffers: Uint8Array[] = [];
  await readDocument(request, "JSON", (buffer) => void buffers.push(buffer));
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(buffers)));
  } catch (error) {
    throw new AppError("invalid_json", say`The request body is not valid JSON in UTF-8. Check its syntax.`, {}, error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid_json", say`The request body must be a JSON object. Send an object.`);
  }
  return value;
}

/**
 * Makes a function that validates a body and removes fields that are not in the schema.
 * @returns a function that throws AppError invalid_field with the first invalid field
 */
export function jsonChecker(schema: TSchema): (body: object) => object {
  const known: string[] = Object.keys(schema["properties"] ?? {});
  let compiled: TypeCheck<TSchema> | undefined;
  return (body) => {
    const entries = Object.entries(body).filter(([name]) => known.includes(name));
    const named = Object.fromEntries(entries);
    // Compiled at the first use: compiling all schemas would slow the start down.
    compiled ??= TypeCompiler.Compile(schema);
    if (compiled.Check(named)) return named;
    const problem = compiled.Errors(named).First();
    const field = problem?.path.slice(1).replaceAll("/", ".") || "body";
    throw invalidField(field, schemaProblem(field, problem?.message));
  };
}
