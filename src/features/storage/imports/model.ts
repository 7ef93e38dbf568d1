/** Request and response bodies of the routes of imports. */
import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { FolderPath, Timestamp } from "../../../http/fields.ts";
import { SOURCE_KINDS } from "./source.ts";
import { RUN_ORIGINS, RUN_STATES } from "./types.ts";

const Kind = t.Union(SOURCE_KINDS.map((kind) => t.Literal(kind)));
const Secret = t.String({
  minLength: 1,
  maxLength: 1_000,
  description: "App password or API key of the other system. The server never stores it",
});
const Target = {
  folder: t.Optional(FolderPath),
  restoreDeleted: t.Optional(
    t.Boolean({ description: "Import files again that were deleted since an earlier import" }),
  ),
};

/** POST /api/imports */
export const StartBody = t.Object({
  kind: Kind,
  ...Target,
  fileIds: t.Optional(
    t.Array(t.String(), { minItems: 1, maxItems: 200, description: "takeout: the archives in your own files" }),
  ),
  url: t.Optional(t.String({ maxLength: 2_000, description: "nextcloud, immich: the address of the server" })),
  username: t.Optional(t.String({ maxLength: 255, description: "nextcloud: the name for the sign-in" })),
  secret: t.Optional(Secret),
});

/** POST /api/imports/{id}/resume */
export const ResumeBody = t.Object({ secret: t.Optional(Secret) });

/** POST /api/admin/imports */
export const AdminStartBody = t.Object({
  userId: t.String({ description: "Id of the account" }),
  kind: t.Union([t.Literal("takeout"), t.Literal("nextcloud")]),
  ...Target,
  path: t.String({
    maxLength: 4_096,
    description: "Archive, or folder with archives or with the files of a Nextcloud, in the folder for imports",
  }),
});

const Count = Type.Integer({ minimum: 0 });
const CountOrNull = Type.Union([Count, Type.Null()], { description: "null until the other system has said it" });

/** An import. */
export const ImportRecord = t.Object({
  id: t.String(),
  kind: Kind,
  source: t.String({ description: "What is imported: names of archives, or the address of a server" }),
  folder: FolderPath,
  origin: t.Union(
    RUN_ORIGINS.map((origin) => t.Literal(origin)),
    { description: "Who began it" },
  ),
  state: t.Union(RUN_STATES.map((state) => t.Literal(state))),
  message: t.Union([t.String(), t.Null()], { description: "Why it stopped" }),
  needsSecret: t.Boolean({ description: "Whether it can be resumed only with the password or the API key" }),
  total: CountOrNull,
  totalBytes: CountOrNull,
  found: Type.Integer({ minimum: 0, description: "Files so far, however they ended" }),
  foundBytes: Count,
  imported: Count,
  importedBytes: Count,
  updated: Type.Integer({ minimum: 0, description: "New versions of files that an earlier import stored" }),
  merged: Type.Integer({ minimum: 0, description: "Copies of imported files, which got the albums of the copy" }),
  unchanged: Type.Integer({ minimum: 0, description: "Imported before" }),
  deleted: Type.Integer({ minimum: 0, description: "Imported before, and deleted since" }),
  problems: t.Array(t.Object({ reason: t.String(), count: Count }), {
    description: "What was not imported, by reason",
  }),
  createdAt: Timestamp,
  changedAt: Timestamp,
  endedAt: t.Union([Timestamp, t.Null()]),
});

/** An import, as administrators see it. */
export const AdminImportRecord = t.Intersect([
  ImportRecord,
  t.Object({ user: t.Object({ id: t.String(), name: t.String(), email: t.String() }) }),
]);

/** A page of imports. */
export const ImportPage = {
  type: "object",
  required: ["imports", "pagination"],
  properties: { imports: t.Array(ImportRecord), pagination: ref("Pagination") },
} as const;

/** A page of the imports of all accounts. */
export const AdminImportPage = {
  type: "object",
  required: ["imports", "hasFolder", "pagination"],
  properties: {
    imports: t.Array(AdminImportRecord),
    hasFolder: t.Boolean({ description: "Whether imports from a folder of the machine are set up (importsFolder)" }),
    pagination: ref("Pagination"),
  },
} as const;

/** A page of what was not imported. */
export const ProblemPage = {
  type: "object",
  required: ["problems", "pagination"],
  properties: {
    problems: t.Array(t.Object({ name: t.String(), reason: t.String(), message: t.String() })),
    pagination: ref("Pagination"),
  },
} as const;
