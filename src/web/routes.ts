import { PAGE_ROUTE } from "../features/accounts/routing/declaration.ts";
import { Router } from "../features/accounts/routing/router.ts";
import { appRoutes } from "./bundle/app-routes.ts";
import type { Asset } from "./bundle/asset.ts";
import { DOCS_ASSETS, DOCS_POLICY, renderDocsPage } from "./pages/docs-page.ts";
import { ICON, pageResponse, STYLE_SHEET } from "./pages/page.ts";

/** What the pages need to know of the server. */
export interface WebRoutesDeps {
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

/**
 * The application, `/docs`, and `/assets/*` that all pages load. Public, outside /api, not counted. The pages of features
 * that need no script (public link, setup) are rendered by their own routes.
 */
export function webRoutes(deps: WebRoutesDeps) {
  const app = new Router({ name: "web" })
    .use(appRoutes({ basePath: deps.basePath }))
    .get("/docs", PAGE_ROUTE, () =>
      pageResponse(renderDocsPage(deps.basePath), 200, { "content-security-policy": DOCS_POLICY }),
    );
  // One route a file: what isn't one of these has no route, and goes the way of every unknown path.
  for (const asset of [STYLE_SHEET, ICON, ...DOCS_ASSETS]) {
    app.get(asset.path, PAGE_ROUTE, () => assetResponse(asset));
  }
  return app;
}

/** The name changes with the content, so a browser may keep it for ever. */
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
