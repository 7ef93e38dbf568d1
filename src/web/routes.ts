import { PAGE_ROUTE } from "../features/accounts/routing/declaration.ts";
import { Router } from "../features/accounts/routing/router.ts";
import { appRoutes } from "./bundle/app-routes.ts";
import type { Asset } from "./bundle/asset.ts";
import { DOCS_ASSETS, DOCS_POLICY, renderDocsPage } from "./pages/docs-page.ts";
import { ICON, pageResponse, STYLE_SHEET } from "./pages/page.ts";

/** Settings of the server that the pages need. */
interface WebRoutesDeps {
  /** `""`, or the base path of all URLs. */
  readonly basePath: string;
}

/**
 * The application, `/docs`, and `/assets/*`, which all pages load. Public, outside /api, without rate limits. Features
 * render their own pages that need no script (public link, setup).
 */
export function webRoutes(deps: WebRoutesDeps) {
  const app = new Router({ name: "web" })
    .use(appRoutes({ basePath: deps.basePath }))
    .get("/docs", PAGE_ROUTE, () =>
      pageResponse(renderDocsPage(deps.basePath), 200, { "content-security-policy": DOCS_POLICY }),
    );
  // One route for each file. Any other path is handled like every unknown path.
  for (const asset of [STYLE_SHEET, ICON, ...DOCS_ASSETS]) {
    app.get(asset.path, PAGE_ROUTE, () => assetResponse(asset));
  }
  return app;
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
