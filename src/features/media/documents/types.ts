/**
 * The version of how text is read. Raise it when more files, or more of a file, can be read, or a text comes out another
 * way: all files are then read again.
 */
export const EXTRACTOR_VERSION = 1;

/** Most bytes of text of one file, as UTF-8. The rest is left out. */
export const TEXT_BYTES_MAX = 10 * 1024 * 1024;

/** To the process that reads documents. */
export interface DocumentRequest {
  readonly path: string;
  readonly mediaType: string;
}

/** From the process: the text, which was sent in parts, or why the file has none. */
export type DocumentReply =
  | {
      readonly kind: "text";
      readonly isTruncated: boolean;
      /** Whether reading the file again gives the same text: not if the time ended before the text did. */
      readonly isRepeatable: boolean;
    }
  | { readonly kind: "none"; readonly reason: string };

/** The text of a file; or why it has none, which stays so until {@link EXTRACTOR_VERSION} changes. */
export type ExtractedText =
  | {
      readonly kind: "text";
      /** In the order of reading. Pages of a PDF are separated by a form feed (U+000C). */
      readonly text: AsyncIterable<string>;
      readonly isTruncated: boolean;
      readonly isRepeatable: boolean;
      /** How long it took. */
      readonly readMs: number;
    }
  | { readonly kind: "none"; readonly reason: string };

/** How the text of a file is read. */
export type DocumentFormat = "pdf" | "office" | "html" | "mail" | "text";

const OFFICE_TYPES =
  /^application\/(vnd\.openxmlformats-officedocument\.(wordprocessingml|spreadsheetml|presentationml)\.[a-z]+|vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)(-template)?|vnd\.ms-(word|excel|powerpoint)\.[a-z]+\.macroenabled\.12|epub\+zip)$/;

const TEXT_TYPES =
  /^(text\/.+|application\/(json|.+\+json|xml|javascript|x-javascript|typescript|x-sh|x-shellscript|sql|toml|yaml|x-yaml|x-httpd-php|x-tex|x-subrip))$/;

const OTHER_TYPES: Readonly<Record<string, DocumentFormat>> = {
  "application/pdf": "pdf",
  "text/html": "html",
  "application/xhtml+xml": "html",
  "message/rfc822": "mail",
};

/** The format of a media type, or undefined if no text is read from such files. */
export function documentFormat(mediaType: string): DocumentFormat | undefined {
  const bare = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  if (OFFICE_TYPES.test(bare)) return "office";
  return OTHER_TYPES[bare] ?? (TEXT_TYPES.test(bare) ? "text" : undefined);
}
