import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { ItemRightsFields } from "../permissions/item-rights.ts";
import { SEARCH_SORTS } from "./service.ts";

const Owner = t.Optional(t.Object({ id: t.String(), name: t.String() }, { description: "Of what others share" }));

/** A file or folder that was found. */
const SearchItem = {
  allOf: [
    { oneOf: [ref("FileItem"), ref("FolderItem")] },
    t.Object({
      ...ItemRightsFields,
      owner: Owner,
      matches: t.Optional(
        Type.Array(
          t.Object({
            kind: t.Literal("content"),
            snippet: Type.Array(t.Object({ text: t.String(), isMatch: t.Boolean() })),
            page: t.Nullable(Type.Integer({ description: "Of a PDF, from 1" })),
          }),
          { description: "Where the content contains the words" },
        ),
      ),
    }),
  ],
};

/** GET /api/files/search */
export const SearchRecord = {
  type: "object",
  required: ["files", "pagination", "totalIsLowerBound", "isIndexing", "contents", "sort", "order", "query"],
  properties: {
    files: { type: "array", items: SearchItem },
    pagination: ref("Pagination"),
    totalIsLowerBound: t.Boolean({
      description: "There are more than pagination.total; only that many can be paged through",
    }),
    isIndexing: t.Boolean({
      description: "Hits may be missing: the most recent changes, or phrases in texts that are being read again",
    }),
    contents: t.Object(
      {
        state: t.String({ enum: ["ready", "preparing", "off"] }),
        percent: Type.Integer({ description: "How many of the files that existed before are prepared" }),
      },
      { description: "Whether the content of files is searched" },
    ),
    sort: t.String({ enum: [...SEARCH_SORTS] }),
    order: t.String({ enum: ["asc", "desc"] }),
    query: Type.Array(
      t.Object({
        key: t.String({ description: "text for words, else the filter" }),
        value: t.String(),
        isPhrase: t.Optional(t.Boolean()),
        isExcluded: t.Boolean(),
      }),
      { description: "How the search was parsed; all conditions apply" },
    ),
  },
};

/** GET /api/files/search/suggestions */
export const SuggestionsRecord = t.Object({
  suggestions: Type.Array(
    t.Object({
      kind: t.String({ enum: ["file", "folder", "tag", "word"] }),
      text: t.String({ description: "The name, the tag, or the word in lower case and without accents" }),
      id: t.Optional(t.String()),
      mimeType: t.Optional(t.String({ description: "Of a file" })),
      folder: t.Optional(t.String({ description: "The path of the folder that contains it" })),
      path: t.Optional(t.String({ description: "Of a folder" })),
      share: ItemRightsFields.share,
      owner: Owner,
    }),
  ),
});

/** The query string of GET /api/files/search/suggestions, for the OpenAPI document. */
export const QUERY_OF_SUGGESTIONS = {
  q: { type: "string", description: "What was typed", example: "bea" },
};

/** The query string of GET /api/files/search, for the OpenAPI document. */
export const QUERY_OF_SEARCH = {
  q: {
    type: "string",
    description: "Words and filters, separated by spaces; at most 4,096 bytes and 32 of them",
    example: "type:image tag:holiday size:>10MB modified:2026-01 beach",
  },
  folder: { type: "string", default: "/", description: "Only below this folder" },
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  sort: {
    type: "string",
    enum: [...SEARCH_SORTS],
    default: "relevance",
    description: "Except by relevance, folders come first, and the 10,000 best hits are sorted",
  },
  order: { type: "string", enum: ["asc", "desc"], default: "asc", description: "No effect on relevance: best first" },
};

/** The search language, for the OpenAPI document. */
export const SEARCH_DESCRIPTION = `Searches your files and folders, and what others share with you, by name, tags, description, metadata values, media type, embedded metadata (EXIF, ID3), and content (text, PDF and office documents). Everything in \`q\` must match; case and accents are ignored.

- \`beach hous\`: words; each may be a prefix (house, houses). \`"beach house"\`: exactly these words in this order. \`-beach\`: without it.
- \`type:image\` (or video, audio, document, pdf, archive, text, folder, or a media type), \`tag:holiday\`, \`name:beach\`, \`ext:jpg\`, \`camera:canon\`, \`is:favorite\`, \`is:public\`; each also excluded by a minus.
- \`in:/photos\`: there and below it.
- \`size:>10MB\`, \`size:<1GB\`, \`size:1MB..5MB\` (1 MB = 1,048,576 bytes).
- \`modified:2026-01\`, \`created:2026\`, \`taken:2026-01-05\`, with \`a..b\`, \`>\`, \`>=\`, \`<\`, \`<=\`; days in UTC, of pictures where they were taken.

Values with spaces go in quotes: \`tag:"summer holiday"\`. By default best first: all words in the name, then with tags, description and metadata taken in; then in the content, by how often and how rare the words are, and how new the file is. Snippets in \`matches\` show the words in the content. At most 10,000 hits are counted and can be paged through. With \`in:\` and \`is:public\`, only your own files are searched. A file appears in content searches some seconds after its upload; while \`contents.state\` is \`preparing\`, older files may be missing.`;
