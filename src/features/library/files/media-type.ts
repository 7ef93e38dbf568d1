// Detects the media type of a file from its first bytes rather than from what the client claims: a page that claims to
// be a picture must never be shown as one.
import mime from "mime";
import { lazy } from "../../../lib/lazy.ts";

/** The media type of unknown content. */
export const UNKNOWN_MEDIA_TYPE = "application/octet-stream";

/** Bytes that {@link detectMediaType} reads. */
export const MEDIA_TYPE_HEAD_BYTES = 4100;

/**
 * Detects the media type from the first bytes, else takes the declared type, else the one of the extension. Lower-case,
 * without parameters. Common pictures, videos and documents are detected synchronously; for others a promise is
 * returned. Never throws.
 * @param head the first bytes, up to {@link MEDIA_TYPE_HEAD_BYTES}; fewer are fine
 * @param declared the Content-Type sent by the client, with parameters, possibly invalid
 */
export function detectMediaType(
  head: Uint8Array,
  declared: string | undefined,
  fileName: string,
): string | Promise<string> {
  const markup = sniffMarkup(head);
  if (markup !== undefined) return refineMarkup(markup, declared, fileName);
  const common = sniffCommon(head);
  if (common !== undefined) return common;
  if (head.length < SMALLEST_SIGNATURE_BYTES || isPlainAscii(head)) return claimedType(declared, fileName);
  return sniffOthers(head, declared, fileName);
}

/**
 * A more exact media type from a new name, where the content allows it: for unknown content, containers and markup.
 * Programs upload to a temporary name, and then rename the file. Any other type stays.
 */
export function typeUnderName(mediaType: string, fileName: string): string {
  const byName = extensionType(fileName);
  if (mediaType === UNKNOWN_MEDIA_TYPE) return byName ?? mediaType;
  if (byName !== undefined && CONTAINERS[mediaType]?.test(byName) === true) return byName;
  const isMarkup = mediaType === "application/xml" || mediaType === "text/html";
  return isMarkup ? refineMarkup(mediaType, undefined, fileName) : mediaType;
}

/** Loaded at the first use: the start does not need it. */
const loadParser = lazy(() => import("./type-parser.ts"));

async function sniffOthers(head: Uint8Array, declared: string | undefined, fileName: string): Promise<string> {
  const { TypeParser } = await loadParser();
  // The head may end within a structure; an error of the parser then means "unknown".
  const found = await new TypeParser().fromBuffer(head).catch(() => undefined);
  if (found === undefined) return claimedType(declared, fileName);
  const sniffed = COMMON_NAME[found.mime] ?? found.mime.toLowerCase().split(";")[0]?.trim() ?? UNKNOWN_MEDIA_TYPE;
  const inside = CONTAINERS[sniffed];
  if (inside === undefined) return sniffed;
  const claims = [extensionType(fileName), declaredType(declared)];
  return claims.find((claim) => claim !== undefined && inside.test(claim)) ?? sniffed;
}

/** Names that browsers know better than the names of file-type. */
const COMMON_NAME: Readonly<Record<string, string>> = {
  "audio/x-m4a": "audio/mp4",
  "audio/vnd.wave": "audio/wav",
  "video/x-m4v": "video/mp4",
};

/** Container formats, and the declared types that are accepted for them. */
const CONTAINERS: Readonly<Record<string, RegExp>> = {
  "application/zip":
    /^(application\/(vnd\.(openxmlformats-|oasis\.opendocument\.|ms-|android\.package-archive|google-earth\.kmz|comicbook\+zip|apple\.)|epub\+zip|java-archive|x-xpinstall|x-chrome-extension)|model\/3mf)/,
  "application/x-cfb": /^application\/(msword|vnd\.ms-|vnd\.visio|x-msi|x-msdownload)/,
  "application/gzip": /^image\/svg\+xml$/,
};

// ---- declared type and extension ----

function claimedType(declared: string | undefined, fileName: string): string {
  const type = declaredType(declared);
  return (type && exactType(type, fileName)) ?? extensionType(fileName) ?? UNKNOWN_MEDIA_TYPE;
}

/** Lists of media types know `.ts` only as a video, which content without the signature of one is not. */
function exactType(type: string, fileName: string): string {
  return type === "video/mp2t" && /\.m?ts$/i.test(fileName) ? "application/typescript" : type;
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** Types that clients send if they don't know the type. The last one is curl's default for raw bodies. */
const SAYS_NOTHING = new Set([UNKNOWN_MEDIA_TYPE, "binary/octet-stream", "application/x-www-form-urlencoded"]);

function declaredType(declared: string | undefined): string | undefined {
  const type = declared?.split(";")[0]?.trim().toLowerCase();
  return type !== undefined && MEDIA_TYPE.test(type) && !SAYS_NOTHING.has(type) ? type : undefined;
}

/** The media type of the extension of a name; undefined for an unknown one. */
export function extensionType(fileName: string): string | undefined {
  // Only the part after the last dot: the library's own function costs more than all other checks of an upload.
  const dot = fileName.lastIndexOf(".");
  const type = dot <= 0 ? null : mime.getType(fileName.slice(dot + 1));
  return type === null ? undefined : exactType(type, fileName);
}

// ---- markup ----

type Markup = "text/html" | "application/xhtml+xml" | "image/svg+xml" | "application/xml";

/** Tags by which browsers recognize a page (WHATWG MIME Sniffing §7.1), and others at the beginning of a page. */
const HTML_TAGS = new Set(
  "html head script iframe h1 div font table a style title b body br p meta link img form object embed base noscript center".split(
    " ",
  ),
);

const ASCII_SPACE = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x20]);
const LESS_THAN = 0x3c;

/** Detects HTML, SVG or XML by the first element, after white space, comments and declarations. */
function sniffMarkup(head: Uint8Array): Markup | undefined {
  let start = 0;
  let encoding: "latin1" | "utf-16le" | "utf-16be" = "latin1";
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) start = 3;
  else if (head[0] === 0xff && head[1] === 0xfe) encoding = "utf-16le";
  else if (head[0] === 0xfe && head[1] === 0xff) encoding = "utf-16be";
  else {
    while (start < head.length && ASCII_SPACE.has(head[start] ?? 0)) start += 1;
    // UTF-16 without a byte order mark: a "<" next to a zero byte.
    if (head[start] === LESS_THAN && head[start + 1] === 0) encoding = "utf-16le";
    else if (head[start] === 0 && head[start + 1] === LESS_THAN) encoding = "utf-16be";
    else if (head[start] !== LESS_THAN) return undefined;
  }
  return readProlog(new TextDecoder(encoding).decode(head.subarray(start)));
}

const PROLOG_PART =
  /^(?:[\s\ufeff]+|<\?[\s\S]*?(?:\?>|$)|<!--[\s\S]*?(?:-->|$)|<!doctype[^>[]*(?:\[[\s\S]*?(?:\]|$))?[^>]*(?:>|$))/i;
const ROOT_ELEMENT = /^<(?:[\w.-]+:)?([a-z][\w.-]*)(?=[\s/>]|$)/i;

function readProlog(text: string): Markup | undefined {
  let rest = text;
  let isXml = false;
  let hasComment = false;
  for (let part = PROLOG_PART.exec(rest)?.[0]; part !== undefined && part !== ""; part = PROLOG_PART.exec(rest)?.[0]) {
    const lower = part.slice(0, 100).toLowerCase();
    if (lower.startsWith("<?xml")) isXml = true;
    else if (lower.startsWith("<!--")) hasComment = true;
    else if (/^<!doctype\s+svg/.test(lower)) return "image/svg+xml";
    else if (/^<!doctype\s+html/.test(lower)) return isXml ? "application/xhtml+xml" : "text/html";
    rest = rest.slice(part.length);
  }
  const root = ROOT_ELEMENT.exec(rest)?.[1]?.toLowerCase();
  if (root === "svg") return "image/svg+xml";
  if (root === "html") return isXml ? "application/xhtml+xml" : "text/html";
  if (isXml) return "application/xml";
  return (root !== undefined && HTML_TAGS.has(root)) || (hasComment && rest === "") ? "text/html" : undefined;
}

/** Takes a more exact type from the name or the client, if that type is markup or source text too. */
function refineMarkup(markup: Markup, declared: string | undefined, fileName: string): string {
  const claims = [extensionType(fileName), declaredType(declared)];
  if (markup === "application/xml") {
    return (
      claims.find((claim) => claim !== undefined && /^(text\/xml|(application|model)\/[\w.-]+\+xml)$/.test(claim)) ??
      markup
    );
  }
  // A README may begin with a heading in HTML.
  if (markup === "text/html" && claims[0] !== undefined && /^text\/(?!plain$|html$)/.test(claims[0])) return claims[0];
  return markup;
}

// ---- signatures ----

/** Shorter heads have no signature that file-type knows. */
const SMALLEST_SIGNATURE_BYTES = 4;

/** Detects the most common formats by their signatures, in a tenth of the time of file-type. */
function sniffCommon(head: Uint8Array): string | undefined {
  switch (head[0]) {
    case 0xff:
      return head[1] === 0xd8 && head[2] === 0xff ? "image/jpeg" : undefined;
    case 0x89:
      return startsWith(head, "PNG\r\n\x1a\n", 1) ? sniffPng(head) : undefined;
    case 0x47:
      return startsWith(head, "GIF87a") || startsWith(head, "GIF89a") ? "image/gif" : undefined;
    case 0x25:
      return startsWith(head, "%PDF-") ? "application/pdf" : undefined;
    case 0x52:
      return startsWith(head, "RIFF") && startsWith(head, "WEBP", 8) ? "image/webp" : undefined;
    default:
      return undefined;
  }
}

/** An animated PNG has an `acTL` chunk before its picture data (PNG, third edition, §11.3.6.1). */
function sniffPng(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const animation = text.indexOf("acTL");
  const data = text.indexOf("IDAT");
  return animation >= 0 && (data < 0 || animation < data) ? "image/apng" : "image/png";
}

function startsWith(head: Uint8Array, ascii: string, offset = 0): boolean {
  for (let i = 0; i < ascii.length; i++) {
    if (head[offset + i] !== ascii.charCodeAt(i)) return false;
  }
  return true;
}

/**
 * Whether the first 512 bytes are ASCII text. Then the name is more reliable than signatures, which mistake text that
 * begins with "BM" for a bitmap.
 */
function isPlainAscii(head: Uint8Array): boolean {
  const length = Math.min(head.length, 512);
  for (let i = 0; i < length; i++) {
    const byte = head[i] ?? 0;
    if (byte >= 0x7f || (byte < 0x20 && !ASCII_SPACE.has(byte))) return false;
  }
  return true;
}
