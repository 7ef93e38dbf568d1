/** The OpenAPI document: made by the generator from the routes themselves, then tidied. */
import { type AnyElysia, Elysia } from "elysia";
import { CONFLICT_SCHEMAS } from "../features/conflicts/model.ts";
import { FILE_SCHEMAS } from "../features/files/model.ts";
import { SHARE_SCHEMAS } from "../features/shares/model.ts";
import { sharedComponents, TAGS } from "../http/documented.ts";
import { invariant } from "../lib/invariant.ts";
import { VERSION } from "../version.ts";

const DESCRIPTION = `Files of a home or small office on its own machine.

Every answer is JSON in an envelope: \`{success: true, data}\`, or \`{success: false, error: {code, message, details}}\`
with the fine cause in \`details.reason\`. Sign in at /api/auth/signin and send the token as \`Authorization: Bearer …\`.
Sizes are bytes, times ISO 8601 UTC, digests \`sha256:<hex>\`.`;

/**
 * The document of an application, as an OpenAPI 3.0 object.
 * @param basePath where not empty, the path below which clients find the paths of the document (D35)
 */
export async function documentOf(app: AnyElysia, basePath = ""): Promise<unknown> {
  // Loaded when the document is first asked for: it brings a schema library along, and a start should be quick.
  const { swagger } = await import("@elysiajs/swagger");
  const generator = new Elysia()
    .use(
      swagger({
        path: "/page",
        specPath: "/document",
        documentation: {
          info: { title: "Larder", version: VERSION, description: DESCRIPTION, license: { name: "MIT" } },
          tags: TAGS.map((name) => ({ name })),
        },
      }),
    )
    .use(app);
  const response = await generator.handle(new Request("http://localhost/document"));
  const generated: unknown = await response.json();
  invariant(typeof generated === "object" && generated !== null, "the generator makes an object");
  const { schemas, headers, securitySchemes } = sharedComponents;
  return tidy({
    ...generated,
    ...(basePath !== "" && { servers: [{ url: basePath }] }),
    components: {
      schemas: { ...schemas, ...FILE_SCHEMAS, ...SHARE_SCHEMAS, ...CONFLICT_SCHEMAS },
      headers,
      securitySchemes,
    },
  });
}

/**
 * What the generator adds and an OpenAPI reader trips over: bodies offered as forms and text too, which are JSON alone;
 * `const`, unknown to OpenAPI 3.0; `additionalProperties: false`, where unknown fields are ignored.
 */
function tidy(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((entry) => tidy(entry));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, entry]): [string, unknown][] => {
    if (name === "$id") return [];
    if (name === "additionalProperties" && entry === false) return [];
    if (name === "examples" && Array.isArray(entry)) return [["example", entry[0]]];
    // Routes at the top of their prefix end in a slash, which a request need not have.
    if (key === "paths" && name.endsWith("/") && name !== "/") return [[name.slice(0, -1), tidy(entry, name)]];
    if (name === "const") return [["enum", [entry]]];
    if (name === "patternProperties") {
      const [values]: unknown[] = typeof entry === "object" && entry !== null ? Object.values(entry) : [];
      return [["additionalProperties", tidy(values)]];
    }
    if (key === "content" && (name === "multipart/form-data" || name === "text/plain")) {
      return "application/json" in value ? [] : [[name, tidy(entry, name)]];
    }
    if (name === "anyOf" && Array.isArray(entry)) return nullable(entry);
    return [[name, tidy(entry, name)]];
  });
  return Object.fromEntries(entries);
}

function isNull(option: unknown): boolean {
  return typeof option === "object" && option !== null && "type" in option && option.type === "null";
}

/** `anyOf [X, null]` is `nullable` in OpenAPI 3.0. */
function nullable(options: readonly unknown[]): [string, unknown][] {
  const rest = options.filter((option) => !isNull(option)).map((option) => tidy(option));
  if (rest.length === options.length) return [["anyOf", rest]];
  const [only] = rest;
  const isOnly = rest.length === 1 && typeof only === "object" && only !== null;
  return isOnly
    ? [...Object.entries(only), ["nullable", true]]
    : [
        ["anyOf", rest],
        ["nullable", true],
      ];
}
