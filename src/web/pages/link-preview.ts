/** What chat programs and social networks show of a link: Open Graph elements, which they read without script. */
import { type Html, html } from "./html.ts";

/** A preview of a link. */
export interface LinkPreview {
  readonly title: string;
  readonly description: string;
  /** With scheme and host, because previews are made on other servers. Undefined for none. */
  readonly pictureUrl: string | undefined;
}

/** The elements of a preview, for the head of a page. Every client gets the same ones. */
export function renderLinkPreview({ title, description, pictureUrl }: LinkPreview): Html {
  return html`<meta property="og:type" content="website">
<meta property="og:site_name" content="Larder">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
${
  pictureUrl !== undefined &&
  html`<meta property="og:image" content="${pictureUrl}">
<meta property="og:image:type" content="image/webp">
<meta property="og:image:alt" content="${title}">
`
}<meta name="twitter:card" content="${pictureUrl === undefined ? "summary" : "summary_large_image"}">
`;
}
