import { PAGE_ROUTE } from "../../features/accounts/routing/declaration.ts";
import { Router } from "../../features/accounts/routing/router.ts";
import { AppError } from "../../errors.ts";
import { requestContextOf } from "../../http/request-context.ts";
import { matchesIfNoneMatch } from "../../http/conditional.ts";
import { say } from "../../translations/say.ts";
import { type PageFrame, PAGE_VARY, pageFrame } from "../pages/page.ts";
import { renderManifest, renderServiceWorker } from "./app-install.ts";
import { APP_POLICY, DOCUMENT_ROUTE, PAGE_ROUTES, renderAppShell, SIGN_UP_ROUTE } from "./app-shell.ts";
import { type ClientFiles, clientFiles, ENCODINGS, type Encoding } from "./client-files.ts";
import type { PackedFile } from "./client-manifest.ts";

const HTML = "text/html; charset=utf-8";

/** Dependencies of the application's routes. */
interface AppRoutesOptions {
  /** `""`, or the base path of all URLs. */
  readonly basePath: string;
  /** Whether the session cookie of a request is valid. */
  readonly isSignedIn: (request: Request) => Promise<boolean>;
  /** The sign-in page, which visitors get instead. @param next the requested address, below the base path */
  readonly sendSignIn: (request: Request, next: string) => Promise<Response>;
}

/**
 * The application: its document at the address of every page, its files, its manifest and its service worker. Public,
 * outside /api, without rate limits: the application gets its data from the API.
 */
export function appRoutes({ basePath, isSignedIn, sendSignIn }: AppRoutesOptions) {
  const document = (render: Render) => rendered(basePath, render);
  const manifest = document(async (frame, files) => renderManifest(frame, files));
  const worker = document(renderServiceWorker);
  const app = new Router()
    .get("/assets/:version/:name", PAGE_ROUTE, async ({ request, params }) => {
      const files = await clientFiles();
      const file = params["version"] === files.version ? files.find(params["name"] ?? "") : undefined;
      if (file === undefined) {
        throw new AppError("not_found", say`This file belongs to a different version of Larder. Reload the page.`);
      }
      return assetResponse(request, files, file);
    })
    .get("/manifest.webmanifest", PAGE_ROUTE, ({ request }) => manifest(request, "application/manifest+json"))
    .get("/service-worker.js", PAGE_ROUTE, ({ request }) => worker(request, "text/javascript; charset=utf-8"))
    // The service worker handles these requests. Without one they arrive here, and the files are lost with the request.
    .post("/share-target", { ...PAGE_ROUTE, parse: "none", acknowledges: false }, () =>
      Response.redirect(`${basePath}/files?shared=missed`, 303),
    );
  // A query can change what the page asks for, such as the photos of one town.
  const withQuery = document(async (frame, files) => renderAppShell(frame, files, ""));
  for (const route of PAGE_ROUTES) {
    const shell = document(async (frame, files) => renderAppShell(frame, files, route));
    app.get(route, PAGE_ROUTE, async ({ request }) =>
      !(await isSignedIn(request))
        ? sendSignIn(request, addressOf(request))
        : requestContextOf(request).query === ""
          ? shell(request, HTML)
          : withQuery(request, HTML),
    );
  }
  const shell = document(async (frame, files) => renderAppShell(frame, files));
  for (const route of [SIGN_UP_ROUTE, DOCUMENT_ROUTE])
    app.get(route, PAGE_ROUTE, ({ request }) => shell(request, HTML));
  return app;
}

/** The path and query of a request, below the base path. */
function addressOf(request: Request): string {
  const { path, query } = requestContextOf(request);
  return query === "" ? path : `${path}?${query}`;
}

type Render = (frame: PageFrame, files: ClientFiles) => Promise<string>;

/**
 * A response that is the same for everybody with the same language until the program changes: created once for each
 * language, and revalidated by clients each time.
 */
function rendered(basePath: string, render: Render) {
  const byLanguage = new Map<string, { readonly text: string; readonly etag: string }>();
  return async (request: Request, contentType: string): Promise<Response> => {
    const frame = pageFrame(request, basePath);
    let made = byLanguage.get(frame.language);
    if (made === undefined) {
      const text = await render(frame, await clientFiles());
      made = { text, etag: `"${new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 32)}"` };
      byLanguage.set(frame.language, made);
    }
    const headers = {
      "cache-control": "no-cache",
      vary: PAGE_VARY,
      "content-security-policy": APP_POLICY,
      "cross-origin-opener-policy": "same-origin",
      // Not "no-referrer": browsers would then send the forms of our own pages with the origin "null".
      "referrer-policy": "same-origin",
      etag: made.etag,
      "x-content-type-options": "nosniff",
    };
    const known = request.headers.get("if-none-match");
    if (known !== null && matchesIfNoneMatch(known, made.etag)) return new Response(null, { status: 304, headers });
    return new Response(made.text, { headers: { ...headers, "content-type": contentType } });
  };
}

/** The address changes with the content, so browsers can cache it forever. */
function assetResponse(request: Request, files: ClientFiles, file: PackedFile): Response {
  const encoding = chooseEncoding(request.headers.get("accept-encoding") ?? "", file);
  return new Response(files.open(file, encoding), {
    headers: {
      "content-type": file.type,
      ...(encoding !== undefined && { "content-encoding": encoding }),
      vary: "Accept-Encoding",
      "cache-control": "public, max-age=31536000, immutable",
      // For the worker scripts, which have their own policy: they only calculate.
      "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'",
      "x-content-type-options": "nosniff",
    },
  });
}

/**
 * The smallest of the encodings that the client accepts (RFC 9110 §12.5.3): those that it names with a weight above
 * zero.
 */
function chooseEncoding(accepted: string, file: PackedFile): Encoding | undefined {
  const weights = new Map<string, number>();
  for (const item of accepted.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    weights.set(name, Number.isNaN(weight) ? 0 : weight);
  }
  return ENCODINGS.find((name) => file[name] !== undefined && (weights.get(name) ?? weights.get("*") ?? 0) > 0);
}
