import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/** What the start page tells of the server. */
export interface LandingPageModel {
  readonly version: string;
  readonly isReady: boolean;
}

/** The page at `/`: what this is, whether it works, where to read on. */
export function renderLandingPage(basePath: string, model: LandingPageModel): string {
  const state = model.isReady
    ? html`<p class="state">Ready, version ${model.version}</p>`
    : html`<p class="state waiting">Starting, version ${model.version}</p>`;
  return renderPage(
    basePath,
    "Larder",
    html`<div class="card">
<h1>This is a Larder</h1>
<p>It keeps the files of a home or a small office on its own machine. Phones, browsers and scripts reach them through one HTTP API.</p>
${state}
<p class="actions"><a class="button" href="${basePath}/docs">API documentation</a><a class="button second" href="${basePath}/openapi.json">openapi.json</a></p>
</div>`,
  );
}
