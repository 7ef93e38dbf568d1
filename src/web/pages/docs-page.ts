// /docs: Swagger UI, served from the executable so that it works without internet access.
import { version as swaggerVersion } from "swagger-ui-dist/package.json" with { type: "json" };
import swaggerStylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import swaggerScriptPath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import startScript from "./docs-start.txt" with { type: "text" };
import { type Asset, textAsset } from "../bundle/asset.ts";
import { directionOf } from "../../translations/choose-language.ts";
import { html, htmlMessage } from "./html.ts";
import { ICON, type PageFrame } from "./page.ts";
import { frameTexts } from "./text.ts";

const SCRIPT: Asset = {
  path: `/assets/swagger-ui.${swaggerVersion}.js`,
  contentType: "text/javascript; charset=utf-8",
  body: () => Bun.file(swaggerScriptPath),
};
const STYLE: Asset = {
  path: `/assets/swagger-ui.${swaggerVersion}.css`,
  contentType: "text/css; charset=utf-8",
  body: () => Bun.file(swaggerStylePath),
};
/** Hides the chapter descriptions on phones, where they do not fit next to the chapter names. */
const NARROW = textAsset(
  "docs",
  "css",
  "text/css; charset=utf-8",
  "@media (max-width: 640px) { .swagger-ui .opblock-tag small { display: none } }",
);
const START = textAsset("docs", "js", "text/javascript; charset=utf-8", startScript);

/** The files that {@link renderDocsPage} loads. */
export const DOCS_ASSETS: readonly Asset[] = [SCRIPT, STYLE, NARROW, START];

/** {@link PAGE_POLICY} plus our own scripts, requests to this server, and Swagger UI's inline styles and images. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The page at `/docs`: shows `/openapi.json` and sends test requests. */
export function renderDocsPage({ basePath, language }: PageFrame): string {
  const text = frameTexts(language);
  const link = html`<a href="${basePath}/openapi.json">openapi.json</a>`;
  // Only the note is translated: the documentation is in English.
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Larder: API documentation</title>
<link rel="icon" href="${basePath}${ICON.path}">
<link rel="stylesheet" href="${basePath}${STYLE.path}">
<link rel="stylesheet" href="${basePath}${NARROW.path}">
<script src="${basePath}${START.path}"></script>
<script src="${basePath}${SCRIPT.path}" defer></script>
</head>
<body>
<div id="docs"></div>
<noscript><p lang="${language}" dir="${directionOf(language)}">${htmlMessage(text.docsNeedScript, { link })}</p></noscript>
</body>
</html>
`.text;
}
