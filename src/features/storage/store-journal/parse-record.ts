/** Validates the lines of objects: an old or damaged file may contain anything. Pure. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { AlbumRecord } from "./album-records.ts";
import type { AccountRecord, FileRecord, FolderRecord, GoneRecord } from "./records.ts";

const Milliseconds = Type.Integer({ minimum: 0 });
/** A WebP of at most 64 KiB in hexadecimal. */
const WebPText = Type.String({ pattern: "^52494646[0-9a-f]{8}57454250([0-9a-f]{2})+$", maxLength: 131_072 });
const Content = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  size: Type.Integer({ minimum: 0 }),
  crc32: Type.Integer(),
  type: Type.String(),
  at: Milliseconds,
  by: Type.Optional(Type.String()),
  until: Type.Optional(Milliseconds),
});
const Share = Type.Object({
  id: Type.String({ minLength: 1 }),
  kind: Type.Union([Type.Literal("public"), Type.Literal("link"), Type.Literal("upload"), Type.Literal("account")]),
  nonce: Type.String({ pattern: "^([0-9a-f]{2})+$" }),
  tokenHash: Type.String({ pattern: "^([0-9a-f]{2})+$" }),
  created: Milliseconds,
  epoch: Type.Integer(),
  label: Type.Optional(Type.String()),
  expires: Type.Optional(Milliseconds),
  pinned: Type.Optional(Type.Integer()),
  hidesLocation: Type.Optional(Type.Integer()),
  canWrite: Type.Optional(Type.Integer()),
  showsVersions: Type.Optional(Type.Integer()),
  maxUploadsPerAddress: Type.Optional(Type.Integer()),
  recipient: Type.Optional(Type.String()),
  recipientEmail: Type.Optional(Type.String()),
  group: Type.Optional(Type.String({ minLength: 1 })),
  groupName: Type.Optional(Type.String()),
  hiddenBy: Type.Optional(Type.Array(Type.String())),
  passwordHash: Type.Optional(Type.String({ minLength: 1 })),
  maxDownloads: Type.Optional(Type.Integer({ minimum: 1 })),
  downloads: Type.Optional(Type.Integer({ minimum: 0 })),
  maxUploadBytes: Type.Optional(Type.Integer({ minimum: 0 })),
  uploadedBytes: Type.Optional(Type.Integer({ minimum: 0 })),
});
const FormerLocation = Type.Object({
  seq: Type.Integer({ minimum: 0 }),
  at: Milliseconds,
  name: Type.String({ minLength: 1 }),
  in: Type.Optional(Type.String()),
});
const Node = {
  in: Type.Optional(Type.String()),
  name: Type.String({ minLength: 1 }),
  created: Milliseconds,
  modified: Milliseconds,
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  trash: Type.Optional(Type.Object({ at: Milliseconds, in: Type.Optional(Type.String()), path: Type.String() })),
  shares: Type.Optional(Type.Array(Share)),
  born: Type.Optional(Type.Integer({ minimum: 0 })),
  bornAt: Type.Optional(Milliseconds),
  places: Type.Optional(Type.Array(FormerLocation)),
  favoriteOf: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
};
const isFolder = checker(Type.Object({ folder: Type.String({ minLength: 1 }), ...Node }));
const isFile = checker(
  Type.Object({
    file: Type.String({ minLength: 1 }),
    ...Node,
    content: Content,
    versions: Type.Optional(Type.Array(Content)),
    originalName: Type.Optional(Type.String()),
    fileModifiedAt: Type.Optional(Type.String()),
    capturedAt: Type.Optional(Type.String()),
    isPublic: Type.Optional(Type.Literal(true)),
    tags: Type.Optional(Type.Array(Type.String())),
  }),
);
const isAlbum = checker(
  Type.Object({
    gone: Type.String({ minLength: 1 }),
    album: Type.Object({
      name: Type.String({ minLength: 1 }),
      description: Type.Optional(Type.String()),
      cover: Type.Optional(Type.String()),
      created: Milliseconds,
      modified: Milliseconds,
      items: Type.Array(Type.String()),
      shares: Type.Optional(Type.Array(Share)),
    }),
  }),
);
const isGone = checker(Type.Object({ gone: Type.String({ minLength: 1 }) }));
const isAccount = checker(
  Type.Object({
    account: Type.String({ minLength: 1 }),
    email: Type.String({ minLength: 1 }),
    name: Type.String(),
    role: Type.Union([Type.Literal("admin"), Type.Literal("user"), Type.Literal("viewer")]),
    plan: Type.Union([Type.Literal("free"), Type.Literal("pro"), Type.Literal("enterprise")]),
    quota: Type.Optional(Type.Integer()),
    created: Milliseconds,
    disabled: Type.Optional(Milliseconds),
    settings: Type.Record(Type.String(), Type.Unknown()),
    unconfirmedSince: Type.Optional(Milliseconds),
    historySince: Type.Optional(Milliseconds),
    avatar: Type.Optional(
      Type.Object({
        digest: Type.String({ pattern: "^[0-9a-f]{64}$" }),
        large: WebPText,
        small: WebPText,
        changed: Milliseconds,
      }),
    ),
    groups: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ minLength: 1 }),
          name: Type.String({ minLength: 1 }),
          created: Milliseconds,
          added: Milliseconds,
        }),
      ),
    ),
  }),
);

/** The record of a node; undefined for anything else. */
export function parseNodeRecord(line: unknown): FileRecord | FolderRecord | GoneRecord | undefined {
  if (isFile(line)) return line;
  if (isFolder(line)) return line;
  return isGone(line) ? line : undefined;
}

/** The record of an album; undefined for anything else. */
export function parseAlbumRecord(line: unknown): AlbumRecord | undefined {
  return isAlbum(line) ? line : undefined;
}

/** The record of an account; undefined for anything else. */
export function parseAccountRecord(line: unknown): AccountRecord | undefined {
  return isAccount(line) ? line : undefined;
}

/** The public id of the node. */
export function idOf(record: FileRecord | FolderRecord | GoneRecord): string {
  if ("file" in record) return record.file;
  return "folder" in record ? record.folder : record.gone;
}

/** Returns a check that is compiled at its first use: most starts read no record. */
function checker<T extends TSchema>(schema: T): (line: unknown) => line is Static<T> {
  let compiled: TypeCheck<T> | undefined;
  return (line): line is Static<T> => (compiled ??= TypeCompiler.Compile(schema)).Check(line);
}
