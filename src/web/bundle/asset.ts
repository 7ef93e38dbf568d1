/** A file that pages load. Its name changes with its content, so browsers can cache it forever. */
export interface Asset {
  /** Below the base path. */
  readonly path: string;
  readonly contentType: string;
  /** The content, opened again for each response. */
  body(): Bun.BunFile | string;
}

/** An asset of our own. Its name contains the beginning of its digest. */
export function textAsset(name: string, extension: string, contentType: string, text: string): Asset {
  const digest = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  return { path: `/assets/${name}.${digest.slice(0, 16)}.${extension}`, contentType, body: () => text };
}
