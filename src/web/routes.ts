import { PAGE_ROUTE } from "../features/accounts/routing/declaration.ts";
import { Router } from "../features/accounts/routing/router.ts";
import type { SignInMethods } from "../features/accounts/oidc/sign-in-methods.ts";
import { requestContextOf } from "../http/request-context.ts";
import { appRoutes } from "./bundle/app-routes.ts";
import type { Asset } from "./bundle/asset.ts";
import { clientFiles } from "./bundle/client-files.ts";
import { safeNext } from "./next-address.ts";
import { DOCS_ASSETS, DOCS_POLICY, renderDocsPage } from "./pages/docs-page.ts";
import { ICON, pageFrame, pageResponse, STYLE_SHEET } from "./pages/page.ts";
import { renderNotSetUpPage, renderSignInPage, SIGN_IN_PAGE_POLICY } from "./pages/sign-in-form-page.ts";

/** Settings of the server that the pages need. */
interface WebRoutesDeps {
  /** `""`, or the base path of all URLs. */
  readonly basePath: string;
  readonly methodsAt: (baseUrl: string) => SignInMethods;
  /** Whether the session cookie of a request is valid. */
  readonly isSignedIn: (request: Request) => Promise<boolean>;
}

/**
 * The application, `/docs`, and `/assets/*`, which all pages load. Public, outside /api, without rate limits. Features
 * render their own pages that need no script (public link, setup).
 */
export function webRoutes(deps: WebRoutesDeps) {
  const app = new Router()
    .use(appRoutes({ ...deps, sendSignIn: (request, next) => sendSignIn(deps, request, next) }))
    .get("/sign-in", PAGE_ROUTE, ({ request }) => signInPage(deps, request))
    .get("/docs", PAGE_ROUTE, ({ request }) =>
      pageResponse(renderDocsPage(pageFrame(request, deps.basePath)), 200, { "content-security-policy": DOCS_POLICY }),
    );
  // One route for each file. Any other path is handled like every unknown path.
  for (const asset of [STYLE_SHEET, ICON, ...DOCS_ASSETS]) {
    app.get(asset.path, PAGE_ROUTE, () => assetResponse(asset));
  }
  return app;
}

/** The sign-in page at its own address. People who are signed in already continue at once. */
async function signInPage(deps: WebRoutesDeps, request: Request): Promise<Response> {
  const next = new URLSearchParams(requestContextOf(request).query).get("next") ?? undefined;
  if (!(await deps.isSignedIn(request))) return sendSignIn(deps, request, next);
  const location = `${deps.basePath}${safeNext(next)}`;
  return new Response(null, { status: 302, headers: { location, "cache-control": "no-store", vary: "Cookie" } });
}

/** The sign-in page, at any address. @param next where to go afterwards, not checked yet */
async function sendSignIn(
  { basePath, methodsAt }: WebRoutesDeps,
  request: Request,
  next: string | undefined,
): Promise<Response> {
  const { baseUrl } = requestContextOf(request);
  const methods = methodsAt(baseUrl);
  const frame = pageFrame(request, basePath);
  if (!methods.isSetUp) return pageResponse(renderNotSetUpPage(frame));
  const files = await clientFiles();
  const scripts = { theme: files.loadsOf("public/theme.ts")[0], module: files.loadsOf("features/sign-in/page.ts") };
  const texts = files.textsOf(frame.language);
  const page = renderSignInPage({ ...frame, texts }, scripts, {
    next: safeNext(next),
    provider: methods.oidc?.name,
    hasPasskeys: methods.passkeys,
    hasMail: methods.mail,
    signup: methods.signup,
  });
  return pageResponse(page, 200, {
    "content-security-policy": SIGN_IN_PAGE_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "same-origin",
  });
}

/** The file name changes with the content, so browsers can cache it forever. */
function assetResponse(asset: Asset): Response {
  return new Response(asset.body(), {
    headers: {
      "content-type": asset.contentType,
      "content-disposition": "inline",
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": "default-src 'none'",
      "x-content-type-options": "nosniff",
    },
  });
}
