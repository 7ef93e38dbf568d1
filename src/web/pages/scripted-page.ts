/** The pages of new people, with a script that shows how strong a password is. They work without it. */
import { type Html, html } from "./html.ts";
import { PAGE_POLICY, type PageFrame, renderPage } from "./page.ts";

/**
 * Headers of these pages. Addresses of other pages never contain the token of a link: browsers send them only the origin.
 * Without any referrer they would not name the origin of the form either, and over plain HTTP the page could then not sign
 * anybody in.
 */
export const SCRIPTED_PAGE_HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "strict-origin",
  "content-security-policy": `${PAGE_POLICY}; script-src 'self'`,
};

/** Where the page is served, and its script with the files that it imports; empty if it is not available. */
export interface ScriptedPageFrame extends PageFrame {
  readonly scripts: readonly string[];
}

/** A page with its script. */
export function renderScriptedPage(frame: ScriptedPageFrame, title: string, main: Html): string {
  const { basePath } = frame;
  const [module, ...imports] = frame.scripts;
  if (module === undefined) return renderPage(frame, title, main);
  return renderPage(
    frame,
    title,
    main,
    html`${imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">\n`)}<script type="module" src="${basePath}${module}"></script>
`,
  );
}
