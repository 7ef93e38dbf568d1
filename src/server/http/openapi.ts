/** Generates the OpenAPI document from the routes, and simplifies it. */
import { type AnyElysia, Elysia } from "elysia";
import { describeRoutes, sharedComponents, TAGS } from "../../http/documented.ts";
import { invariant } from "../../lib/invariant.ts";
import { VERSION } from "../../version.ts";
import { NAMED_SCHEMAS, REFERENCED_SCHEMAS } from "./openapi-schemas.ts";
import { nameSchemas, shareComponents } from "./openapi-sharing.ts";
import { toOpenApi } from "./openapi-dialect.ts";

const DESCRIPTION = `Files of a home or small office on its own machine.

Every JSON response is an envelope: \`{success: true, data}\`, or \`{success: false, error: {code, message, details}}\`
with the precise reason in \`details.reason\`. Sign in at /api/auth/signin and send the token as
\`Authorization: Bearer …\`. Sizes are bytes, times ISO 8601 UTC with milliseconds, digests \`sha256:<hex>\`.

Every response under /api, errors and streams included, carries the \`X-RateLimit-*\` headers and \`X-Request-Id\`.`;

/** The ways to sign in. A route that needs no account overrides this. */
const SIGN_IN = [{ bearer: [] }, { cookie: [] }, { apiKey: [] }];

/**
 * The document of an application, as an OpenAPI 3.0.3 object.
 * @param server the base address of the paths: absolute, or the path under which a proxy serves Larder
 */
export async function generateDocument(app: AnyElysia, server = "/"): Promise<unknown> {
  // Loaded with the first request: it needs a schema library, and would slow the start down.
  const { swagger } = await import("@elysiajs/swagger");
  describeRoutes(app.routes);
  const generator = new Elysia()
    .use(
      swagger({
        path: "/page",
        specPath: "/document",
        documentation: {
          info: {
            title: "Larder",
            version: VERSION,
            description: DESCRIPTION,
            contact: { name: "The administrator of this server" },
            license: { name: "MIT", url: "https://opensource.org/license/mit" },
          },
          tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
        },
      }),
    )
    .use(app);
  const response = await generator.handle(new Request("http://localhost/document"));
  const generated: unknown = await response.json();
  invariant(typeof generated === "object" && generated !== null, "the generator makes an object");
  const { schemas, ...components } = sharedComponents;
  const named = nameSchemas(
    {
      ...generated,
      servers: [{ url: server }],
      security: SIGN_IN,
      components: { ...components, schemas: { ...schemas, ...REFERENCED_SCHEMAS } },
    },
    NAMED_SCHEMAS,
  );
  return shareComponents(toOpenApi(named));
}
