import type { FileRecord } from "../../api/types.ts";
import { isArchiveType } from "../archives/archive-type.ts";

/** How a file is shown. `none`: only its name and a download button. */
type PreviewKind = "image" | "video" | "audio" | "pdf" | "markdown" | "code" | "text" | "archive" | "none";

/** highlight.js languages by file extension (its common ones). */
const LANGUAGES: Readonly<Record<string, string>> = {
  bash: "bash",
  c: "c",
  cc: "cpp",
  cfg: "ini",
  cjs: "javascript",
  conf: "ini",
  cpp: "cpp",
  cs: "csharp",
  css: "css",
  diff: "diff",
  go: "go",
  gql: "graphql",
  graphql: "graphql",
  h: "c",
  hpp: "cpp",
  htm: "xml",
  html: "xml",
  ini: "ini",
  java: "java",
  js: "javascript",
  json: "json",
  jsonc: "json",
  jsx: "javascript",
  kt: "kotlin",
  less: "less",
  lua: "lua",
  m: "objectivec",
  mjs: "javascript",
  mts: "typescript",
  patch: "diff",
  php: "php",
  pl: "perl",
  ps1: "shell",
  py: "python",
  r: "r",
  rb: "ruby",
  rs: "rust",
  scss: "scss",
  sh: "bash",
  sql: "sql",
  svelte: "xml",
  swift: "swift",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vb: "vbnet",
  vue: "xml",
  wat: "wasm",
  xhtml: "xml",
  xml: "xml",
  xsl: "xml",
  yaml: "yaml",
  yml: "yaml",
  zsh: "bash",
};

/** Names without an extension that are source code. */
const CODE_NAMES: Readonly<Record<string, string>> = { dockerfile: "bash", makefile: "makefile" };

const PLAIN_EXTENSIONS = new Set([
  "txt",
  "log",
  "csv",
  "tsv",
  "srt",
  "vtt",
  "nfo",
  "env",
  "gitignore",
  "tex",
  "ics",
  "vcf",
]);
const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|javascript|x-sh|x-yaml|yaml|toml|sql)\b|.*\+(?:json|xml)$)/;

/** Image types that browsers support; for others, the server's thumbnail is shown. */
const SHOWN_BY_BROWSERS = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/svg+xml",
  "image/x-icon",
  "image/vnd.microsoft.icon",
]);

/** Kinds that are shown as text. */
const TEXT_KINDS: ReadonlySet<PreviewKind> = new Set(["markdown", "code", "text"]);

/** Whether a file is text, by its type and its name. Its content may be something else. */
export function isText(file: Pick<FileRecord, "mimeType" | "name">): boolean {
  return TEXT_KINDS.has(previewKind(file));
}

/** How to show a file, by its type and then by its name. */
export function previewKind({ mimeType, name }: Pick<FileRecord, "mimeType" | "name">): PreviewKind {
  if (mimeType.startsWith("image/")) return "image";
  if (mimeType.startsWith("video/")) return mimeType === "video/mp2t" && extensionOf(name) === "ts" ? "code" : "video";
  if (mimeType.startsWith("audio/")) return "audio";
  if (mimeType === "application/pdf") return "pdf";
  if (isArchiveType(mimeType)) return "archive";
  if (mimeType === "text/markdown" || /\.(?:md|markdown)$/i.test(name)) return "markdown";
  if (languageOf(name) !== undefined) return "code";
  return TEXT_TYPES.test(mimeType) || PLAIN_EXTENSIONS.has(extensionOf(name)) ? "text" : "none";
}

/** The highlight.js language of a file name. */
export function languageOf(name: string): string | undefined {
  return CODE_NAMES[name.toLowerCase()] ?? LANGUAGES[extensionOf(name)];
}

/** Whether browsers can show the image itself, not only the server's thumbnail. */
export function isShownByBrowsers(mimeType: string): boolean {
  return SHOWN_BY_BROWSERS.has(mimeType);
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? "" : name.slice(dot + 1).toLowerCase();
}
