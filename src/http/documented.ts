/** Converts the texts of routes (`openapi.ts` next to them) to operations of the OpenAPI document. */
import type { TSchema } from "@sinclair/typebox";
import { t } from "elysia";
import type { Reason } from "../errors.ts";
import { ERROR_RESPONSES } from "./error-response.ts";

/** A JSON schema in the document. */
export type Schema = TSchema | Readonly<Record<string, unknown>>;

/** The tags of the document, in their order, with descriptions. */
export const TAGS = {
  Authentication: "Sign up, sign in, refresh and sign out; passkeys, single sign-on, password reset.",
  Files: "Upload, download, list, search, move, copy and delete files.",
  Folders: "Create, rename, move, describe, delete and download folders.",
  Versions: "Earlier versions of a file.",
  Trash: "Deleted files and folders that can be restored.",
  Albums: "Files in an order of their own.",
  Imports: "Files and photos from Google Takeout, Nextcloud, and Immich.",
  Shares: "Links, drop boxes, and shares between accounts.",
  "Public links": "What anyone with a link can do, without an account.",
  Users: "Your own account: profile, settings, usage, sessions, keys, devices.",
  Mobile: "Devices: registration, sync, resumable uploads, offline changes, notifications.",
  Webhooks: "HTTP requests to your own address when something happens.",
  Administration: "Accounts, invitations, statistics, jobs and the audit log. For administrators.",
} as const;

/** The text of a route in the document. */
export interface RouteDocs {
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** Status of success; 200 by default. 204 has no body. */
  readonly status?: 200 | 201 | 202 | 204;
  /** The schema of `data`, */
  readonly data?: Schema;
  /** or of the whole body, including `success`, */
  readonly body?: Schema;
  /** or a response that is not JSON: media type → description. */
  readonly content?: Readonly<Record<string, string>>;
  /** Further statuses of success, such as 206 and 304. */
  readonly otherResponses?: Readonly<Record<number, string>>;
  /** Reasons, in addition to those of any route. */
  readonly errors?: readonly Reason[];
  readonly query?: Readonly<Record<string, Schema & { description?: string }>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request body if it is not JSON. */
  readonly requestBody?: Readonly<Record<string, unknown>>;
}

/** Properties of a route that the document needs besides its text. */
interface RouteProperties {
  readonly access: "public" | "reader" | "self" | "writer" | "admin" | "device" | "deviceWriter" | "client";
  /** Whether the route has a JSON body: adds the errors of one. */
  readonly takesJson: boolean;
}

type Documentation = RouteDocs & RouteProperties;

/** The `detail` of a route that is not in the document. */
export const HIDDEN = { detail: { hide: true } } as const;

/** A key that the generator of the document ignores, and that Elysia does not merge when it mounts the route. */
const DESCRIBE = "describe";

const SIGNED_IN: readonly Reason[] = [
  "missing_token",
  "invalid_token",
  "expired_token",
  "revoked_token",
  "csrf",
  "scope",
];
const JSON_BODY: readonly Reason[] = ["invalid_json", "invalid_field", "body_too_large", "unsupported_media_type"];
/** Statuses with reasons that clients of a route may have to distinguish. */
const DISTINGUISHED: ReadonlySet<number> = new Set([403, 409, 410, 413]);
const GENERAL: ReadonlySet<string> = new Set([...SIGNED_IN, ...JSON_BODY, "role", "locked"]);

/** Components for all routes: schemas, headers, and a response for each status of an error. */
export const sharedComponents = {
  schemas: {
    Error: t.Object({
      success: t.Literal(false),
      error: t.Object({
        code: t.String({ enum: [...new Set(Object.values(ERROR_RESPONSES).map(([, code]) => code))] }),
        message: t.String(),
        details: t.Object(
          { reason: t.String({ enum: Object.keys(ERROR_RESPONSES) }), field: t.Optional(t.String()) },
          { additionalProperties: true },
        ),
      }),
    }),
    Success: t.Object({ success: t.Literal(true), message: t.Optional(t.String()) }),
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
    "X-Request-Id": { description: "Identifies this request in the server's log", schema: { type: "string" } },
    "Retry-After": { description: "Seconds to wait until the request is accepted", schema: { type: "integer" } },
  },
  responses: errorResponses(),
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
  return { allOf: [ref("Success"), { required: ["data"], properties: { data } }] };
}

/** The `detail` of a route. {@link describeRoutes} makes its description when the document is requested. */
export function documented(docs: () => RouteDocs, properties: RouteProperties) {
  return { detail: { [DESCRIBE]: () => operationOf({ ...docs(), ...properties }) } as object };
}

/** Describes the routes that have a text by {@link documented}. Replaces their `detail`. */
export function describeRoutes(routes: readonly { readonly hooks: { detail?: object } }[]): void {
  for (const { hooks } of routes) {
    const describe: unknown = Object.entries(hooks.detail ?? {}).find(([key]) => key === DESCRIBE)?.[1];
    if (typeof describe === "function") hooks.detail = describe();
  }
}

/** An operation of the document. Errors that any route can return are added automatically. */
function operationOf(doc: Documentation): object {
  const json = doc.body ?? envelope(doc.data ?? { type: "object" });
  const success = {
    description: "OK",
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
  const description = describe(doc);
  return {
    tags: [doc.tag],
    summary: doc.summary,
    ...(description !== "" && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(doc.requestBody !== undefined && { requestBody: doc.requestBody }),
    // Other routes use the default of the document: any way to sign in.
    ...(doc.access === "public" && { security: [] }),
    responses: {
      [doc.status ?? 200]: success,
      ...Object.fromEntries(
        Object.entries(doc.otherResponses ?? {}).map(([status, description]) => [
          status,
          { ...(Number(status) < 300 && success), description },
        ]),
      ),
      ...failures(doc),
    },
  };
}

function isDistinguished(reason: Reason): boolean {
  return DISTINGUISHED.has(ERROR_RESPONSES[reason][0]) && !GENERAL.has(reason);
}

/** The description of a route, with the reasons for its specific errors. */
function describe(doc: Documentation): string {
  const reasons = [...new Set(doc.errors)].filter(isDistinguished);
  const failures = reasons.length === 0 ? [] : [`Fails with ${reasons.join(", ")}.`];
  return [...(doc.description === undefined ? [] : [doc.description]), ...failures].join("\n\n");
}

/** References to the responses for the error statuses of a route. The default is for errors of any request. */
function failures(doc: Documentation): Record<string, unknown> {
  const reasons: Reason[] = ["rate_limited", ...(doc.errors ?? [])];
  if (doc.access !== "public") reasons.push(...SIGNED_IN);
  if (doc.access === "writer" || doc.access === "deviceWriter" || doc.access === "admin") reasons.push("role");
  if (doc.takesJson) reasons.push(...JSON_BODY);
  const statuses = new Set(reasons.map((reason) => ERROR_RESPONSES[reason][0]));
  const responses = [...statuses, "default"].map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  return Object.fromEntries(responses);
}

/** A response for each status of an error with its possible reasons, and one for errors of any request. */
function errorResponses(): Record<string, unknown> {
  const rateHeaders = ["Limit", "Remaining", "Reset", "Window", "Resource"].map((name) => `X-RateLimit-${name}`);
  const byStatus = Map.groupBy(Object.entries(ERROR_RESPONSES), ([, [status]]) => status);
  const responses = [...byStatus].map(([status, entries]): [string, unknown] => {
    // The description of the document says that all responses have the rate-limit headers.
    const headers = ["X-Request-Id", ...(status === 429 ? [...rateHeaders, "Retry-After"] : [])];
    return [String(status), errorResponse(`Reasons: ${entries.map(([reason]) => reason).join(", ")}`, headers)];
  });
  const any = errorResponse(
    "408: the body did not arrive in time; 500: a fault of the server; 503: it is busy, starting or stopping",
    ["X-Request-Id"],
  );
  return { ...Object.fromEntries(responses), default: any };
}

function errorResponse(description: string, headers: readonly string[]) {
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { "application/json": { schema: ref("Error") } },
  };
}
