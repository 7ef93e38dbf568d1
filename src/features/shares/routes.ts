/** What a link opens for anybody: JSON, bytes and a plain page (contract §5). */
import { Elysia, t } from "elysia";
import { notFound } from "../../errors.ts";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { readQuery } from "../../http/fields.ts";
import { rateLimitKey } from "../../http/client-address.ts";
import { toChecksum } from "../../blobs/digest.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { canInline } from "../../http/send-blob.ts";
import { pageResponse } from "../../web/page.ts";
import { renderShareNotFoundPage, renderSharePage } from "../../web/share-page.ts";
import type { authGuard } from "../auth/guard.ts";
import type { ContentRequest, ContentSender } from "../files/content-sender.ts";
import type { RateGate } from "../rate-limits/guard.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FileNode } from "../tree/types.ts";
import type { UserService } from "../users/service.ts";
import type { LinkDownloads } from "./link-downloads.ts";
import type { PublicLinks } from "./public-links.ts";

/** What the routes of links work with. */
export interface PublicRoutesOptions {
  readonly links: PublicLinks;
  readonly linkDownloads: LinkDownloads;
  readonly tree: TreeReader;
  readonly users: UserService;
  readonly sender: ContentSender;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

const CACHE_CONTROL = "private, no-cache";
const LINK_HEADERS = { "referrer-policy": "no-referrer", "x-robots-tag": "noindex" };
const TokenParams = t.Object({ token: t.String() });

const PublicFile = t.Object({
  name: t.String(),
  type: t.Literal("file"),
  mimeType: t.String(),
  size: t.Number(),
  modifiedAt: t.String({ format: "date-time" }),
  checksum: t.String(),
  downloadUrl: t.String({ format: "uri" }),
  thumbnailUrl: t.String({ format: "uri" }),
  hasThumbnail: t.Boolean(),
});

/** /s/{token}… and /api/public/{token}… */
export function publicRoutes(options: PublicRoutesOptions) {
  const { links, linkDownloads, tree, users, sender, rateGate, guard, hasThumbnail, basePath } = options;

  /** The file that a link opens; unknown, revoked and disabled look alike. */
  const find = (token: string): FileNode | undefined => {
    const nodeId = links.findNodeId(token);
    const file = nodeId === undefined ? undefined : tree.findFileById(nodeId);
    const owner = file && users.findById(file.accountId);
    return owner?.disabledAtMs === null ? file : undefined;
  };
  const open = (token: string): FileNode => {
    const file = find(token);
    if (file === undefined) throw notFound("This link");
    return file;
  };
  const download = (token: string, request: Request, set: ContentRequest["set"]) => {
    const exchange = exchangeOf(request);
    const file = open(token);
    return sender.send(file, {
      request,
      set,
      query: readQuery(exchange.query),
      callerKey: `a:${rateLimitKey(exchange.clientAddress)}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
      cacheControl: CACHE_CONTROL,
      extraHeaders: LINK_HEADERS,
      onContentSent: () => linkDownloads.note(token, file),
    });
  };
  const documentedDownload = documented({
    tag: "Public links",
    summary: "The content behind a public link",
    access: "public",
    query: { inline: { type: "boolean" }, thumbnail: { type: "string" } },
    headers: { Range: "RFC 9110 §14" },
    content: { "application/octet-stream": "The content" },
    alsoAnswers: { 206: "The ranges asked for", 304: "The client has it already" },
    errors: ["not_found", "invalid_field", "precondition_failed", "range_not_satisfiable", "thumbnail_pending"],
  });

  return (
    new Elysia({ name: "public-routes" })
      .use(guard)
      .get(
        "/api/public/:token",
        ({ params, request, set }) => {
          const file = open(params.token);
          Object.assign(set.headers, LINK_HEADERS, { "cache-control": CACHE_CONTROL });
          const downloadUrl = `${exchangeOf(request).baseUrl}/api/public/${params.token}/download`;
          return ok({
            name: file.name,
            type: "file" as const,
            mimeType: file.mediaType,
            size: file.sizeBytes,
            modifiedAt: toTimestamp(file.modifiedAtMs),
            checksum: toChecksum(file.digest),
            downloadUrl,
            thumbnailUrl: `${downloadUrl}?thumbnail=true`,
            hasThumbnail: hasThumbnail(file),
          });
        },
        {
          access: "public",
          params: TokenParams,
          ...documented({
            tag: "Public links",
            summary: "What a public link opens",
            access: "public",
            data: PublicFile,
            errors: ["not_found", "invalid_field"],
          }),
        },
      )
      .get("/api/public/:token/download", ({ params, request, set }) => download(params.token, request, set), {
        access: "public",
        params: TokenParams,
        ...documentedDownload,
      })
      .get("/s/:token/download", ({ params, request, set }) => download(params.token, request, set), {
        access: "public",
        params: TokenParams,
        ...documentedDownload,
      })
      // Of their own, as in features/files.
      .head("/api/public/:token/download", ({ params, request, set }) => download(params.token, request, set), {
        access: "public",
        params: TokenParams,
        detail: { hide: true },
      })
      .head("/s/:token/download", ({ params, request, set }) => download(params.token, request, set), {
        access: "public",
        params: TokenParams,
        detail: { hide: true },
      })
      .get(
        "/s/:token",
        ({ params }) => {
          const file = find(params.token);
          if (file === undefined) return pageResponse(renderShareNotFoundPage(basePath), 404, LINK_HEADERS);
          const downloadUrl = `${basePath}/s/${params.token}/download`;
          const page = renderSharePage(basePath, {
            fileName: file.name,
            sizeBytes: file.sizeBytes,
            mediaType: file.mediaType,
            downloadUrl,
            inlineUrl: canInline(file.mediaType) ? `${downloadUrl}?inline=true` : undefined,
            previewUrl: hasThumbnail(file) ? `${downloadUrl}?thumbnail=large` : undefined,
          });
          return pageResponse(page, 200, { ...LINK_HEADERS, "cache-control": CACHE_CONTROL });
        },
        { access: "public", params: TokenParams, detail: { hide: true } },
      )
  );
}
