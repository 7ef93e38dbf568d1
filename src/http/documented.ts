/** How routes describe themselves for the OpenAPI document: one call per route, beside its handler. */
import type { TSchema } from "@sinclair/typebox";
import { t } from "elysia";
import type { Reason } from "../errors.ts";
import { ERROR_ANSWERS } from "./error-response.ts";

/** A JSON schema as the document holds it. */
export type Schema = TSchema | Readonly<Record<string, unknown>>;

/** The chapters of the document, in their order. */
export const TAGS = [
  "Authentication",
  "Files",
  "Folders",
  "Versions",
  "Trash",
  "Shares",
  "Public links",
  "Users",
  "Mobile",
  "Webhooks",
  "Administration",
] as const;

/** What a route says of itself. */
export interface Documentation {
  readonly tag: (typeof TAGS)[number];
  readonly summary: string;
  readonly description?: string;
  /** Who may call it; `public` needs no token. */
  readonly access: "public" | "reader" | "self" | "writer" | "admin" | "device" | "deviceWriter";
  /** Status of success; 200 unless said otherwise. 204 has no body. */
  readonly status?: 200 | 201 | 204;
  /** Content of `data`, */
  readonly data?: Schema;
  /** or the whole body where `success` is in it, */
  readonly body?: Schema;
  /** or an answer that is no JSON: media type → description. */
  readonly content?: Readonly<Record<string, string>>;
  /** Further statuses of success, such as 206 and 304. */
  readonly alsoAnswers?: Readonly<Record<number, string>>;
  /** Reasons beside those that any route may give. */
  readonly errors?: readonly Reason[];
  /** Takes a JSON body: adds what is refused of one. */
  readonly takesJson?: boolean;
  readonly query?: Readonly<Record<string, Schema & { description?: string }>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request body where it is no JSON. */
  readonly requestBody?: Readonly<Record<string, unknown>>;
}

const ERROR_REF = { $ref: "#/components/schemas/Error" };
const RATE_HEADERS = ["Limit", "Remaining", "Reset", "Window", "Resource"].map((name) => `X-RateLimit-${name}`);

/** Schemas and headers that every answer refers to. */
export const sharedComponents = {
  schemas: {
    Error: t.Object({
      success: t.Literal(false),
      error: t.Object({
        code: t.String({ enum: [...new Set(Object.values(ERROR_ANSWERS).map(([, code]) => code))] }),
        message: t.String(),
        details: t.Object(
          { reason: t.String({ enum: Object.keys(ERROR_ANSWERS) }), field: t.Optional(t.String()) },
          { additionalProperties: true },
        ),
      }),
    }),
    Pagination: t.Object({
      page: t.Number(),
      limit: t.Number(),
      total: t.Number(),
      totalPages: t.Number(),
      hasNext: t.Boolean(),
      hasPrev: t.Boolean(),
    }),
  },
  headers: {
    "X-RateLimit-Limit": { description: "Maximum requests in the current window", schema: { type: "integer" } },
    "X-RateLimit-Remaining": { description: "Requests remaining in the window", schema: { type: "integer" } },
    "X-RateLimit-Reset": { description: "Unix timestamp when the window resets", schema: { type: "integer" } },
    "X-RateLimit-Window": { description: "Window length in seconds", schema: { type: "integer" } },
    "X-RateLimit-Resource": { description: "Name of the limited resource category", schema: { type: "string" } },
    "X-Request-Id": { description: "Names this request in the server's log", schema: { type: "string" } },
  },
  securitySchemes: {
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    cookie: { type: "apiKey", in: "cookie", name: "larder_session" },
    apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  },
} as const;

/** A reference to a named record of the document. */
export function ref(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** `{success: true, data}` as a schema. */
function envelope(data: Schema): Schema {
  return {
    type: "object",
    required: ["success", "data"],
    properties: { success: { const: true, type: "boolean" }, data, message: { type: "string" } },
  };
}

/** The `detail` of a route. Errors that any route may give are added by themselves. */
export function documented(doc: Documentation) {
  const headers = Object.fromEntries(
    [...RATE_HEADERS, "X-Request-Id"].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const json = doc.body ?? envelope(doc.data ?? { type: "object" });
  const success = {
    description: "Done",
    headers,
    ...(doc.status !== 204 && {
      content:
        doc.content === undefined
          ? { "application/json": { schema: json } }
          : Object.fromEntries(
              Object.keys(doc.content).map((type) => [type, { schema: { type: "string", format: "binary" } }]),
            ),
    }),
  };
  const parameters = [
    ...Object.entries(doc.query ?? {}).map(([name, { description, ...schema }]) => ({
      name,
      in: "query",
      description,
      schema,
    })),
    ...Object.entries(doc.headers ?? {}).map(([name, description]) => ({
      name,
      in: "header",
      description,
      schema: { type: "string" },
    })),
  ];
  return {
    detail: {
      tags: [doc.tag],
      summary: doc.summary,
      ...(doc.description !== undefined && { description: doc.description }),
      ...(parameters.length > 0 && { parameters }),
      ...(doc.requestBody !== undefined && { requestBody: doc.requestBody }),
      security: doc.access === "public" ? [] : [{ bearer: [] }, { cookie: [] }, { apiKey: [] }],
      responses: {
        [doc.status ?? 200]: success,
        ...Object.fromEntries(
          Object.entries(doc.alsoAnswers ?? {}).map(([status, description]) => [
            status,
            { ...(Number(status) < 300 && success), description, headers },
          ]),
        ),
        ...errorResponses(doc, headers),
      },
      // The generator's own types are narrower than OpenAPI 3; the document as a whole is validated by a test.
    } as object,
  };
}

function errorResponses(doc: Documentation, headers: object): Record<number, unknown> {
  const reasons: Reason[] = [
    "rate_limited",
    "unexpected",
    "database_error",
    "database_busy",
    "overloaded",
    "shutting_down",
  ];
  if (doc.access !== "public")
    reasons.push("missing_token", "invalid_token", "expired_token", "revoked_token", "csrf", "scope");
  if (doc.access === "writer" || doc.access === "deviceWriter" || doc.access === "admin") reasons.push("role");
  if (doc.takesJson) reasons.push("invalid_json", "invalid_field", "body_too_large", "unsupported_media_type");
  reasons.push(...(doc.errors ?? []));
  const byStatus = Map.groupBy(new Set(reasons), (reason) => ERROR_ANSWERS[reason][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.join(", "),
        headers:
          status === 429
            ? { ...headers, "Retry-After": { schema: { type: "integer" }, description: "Seconds" } }
            : headers,
        content: { "application/json": { schema: ERROR_REF } },
      },
    ]),
  );
}
