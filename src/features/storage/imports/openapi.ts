/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { AdminImportPage, AdminImportRecord, ImportPage, ImportRecord, ProblemPage } from "./model.ts";

/** The most entries of a page. */
export const LIMIT_MAX = 200;
/** The entries of a page by default. */
export const LIMIT_DEFAULT = 50;

const PAGE = {
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
} as const;

export const startImport = (): RouteDocs => ({
  tag: "Imports",
  summary: "Begin an import from another system into your files",
  description:
    "`takeout` needs `fileIds`, the archives of Google Takeout in your files. `nextcloud` needs `url`, `username`, and " +
    "`secret`; `immich` needs `url` and `secret`. The import continues when the client disconnects. What an earlier import " +
    "stored is not stored again. If the last import of the same source has not ended, it continues. Only one import of an " +
    "account runs at a time (`import_state`).",
  status: 202,
  data: ImportRecord,
  errors: ["invalid_field", "invalid_path", "forbidden_target", "not_found", "import_state", "overloaded"],
});

export const listImports = (): RouteDocs => ({
  tag: "Imports",
  summary: "List your imports, newest first",
  query: PAGE,
  data: ImportPage,
  errors: ["invalid_field"],
});

export const getImport = (): RouteDocs => ({
  tag: "Imports",
  summary: "The progress and the result of an import",
  data: ImportRecord,
  errors: ["not_found"],
});

export const listProblems = (): RouteDocs => ({
  tag: "Imports",
  summary: "What an import did not import",
  description: "The first 1,000. The record of the import has the number of all by reason.",
  query: PAGE,
  data: ProblemPage,
  errors: ["not_found", "invalid_field"],
});

export const pauseImport = (): RouteDocs => ({
  tag: "Imports",
  summary: "Pause an import",
  data: ImportRecord,
  errors: ["not_found", "import_state"],
});

export const resumeImport = (): RouteDocs => ({
  tag: "Imports",
  summary: "Continue a paused, interrupted, or failed import",
  description: "`secret` is required if `needsSecret` is true: after a restart of the server, which does not store it.",
  data: ImportRecord,
  errors: ["not_found", "invalid_field", "import_state", "overloaded"],
});

export const cancelImport = (): RouteDocs => ({
  tag: "Imports",
  summary: "End an import",
  description: "What is imported stays.",
  data: ImportRecord,
  errors: ["not_found", "import_state"],
});

export const listAllImports = (): RouteDocs => ({
  tag: "Administration",
  summary: "List the imports of all accounts, newest first",
  query: PAGE,
  data: AdminImportPage,
  errors: ["invalid_field"],
});

export const startForAccount = (): RouteDocs => ({
  tag: "Administration",
  summary: "Begin an import into an account from a folder of the machine",
  description:
    "Only if the setting `importsFolder` names a folder. Links in it are not followed. Otherwise as POST /api/imports.",
  status: 202,
  data: AdminImportRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "import_state", "overloaded"],
});

export const cancelAnyImport = (): RouteDocs => ({
  tag: "Administration",
  summary: "End an import of any account",
  description: "What is imported stays.",
  data: AdminImportRecord,
  errors: ["not_found", "import_state"],
});
