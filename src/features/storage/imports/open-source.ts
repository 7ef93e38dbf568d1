/** Opens what a run of the server reads. */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { errorCode } from "../../../lib/error.ts";
import { AppError } from "../../../errors.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import { type ImportSource, SourceError } from "./source.ts";
import { ImmichSource } from "./sources/immich/immich-source.ts";
import { NextcloudFolderSource } from "./sources/nextcloud/folder-source.ts";
import { NextcloudSource } from "./sources/nextcloud/webdav-source.ts";
import type { SourceNetwork } from "./sources/server/network.ts";
import { openArchives, openStoredArchives } from "./sources/takeout/open-archives.ts";
import type { ImportRun } from "./types.ts";
import { say } from "../../../translations/say.ts";

/** Dependencies of {@link openSource}. */
export interface SourceOpenerOptions {
  readonly blobs: BlobStore;
  readonly permissions: Pick<Permissions, "file">;
  readonly network: SourceNetwork;
  /** The folder of the machine that administrators may import from; null for none. */
  readonly importsFolder: string | null;
}

/**
 * Opens the source of a run.
 * @param secret the password or key of the server that is read
 * @throws SourceError
 */
export async function openSource(
  options: SourceOpenerOptions,
  user: User,
  { kind, request }: Pick<ImportRun, "kind" | "request">,
  secret: string | undefined,
): Promise<ImportSource> {
  const { fileIds = [], paths = [], url, username = "" } = request;
  if (url !== undefined) {
    if (secret === undefined) throw new SourceError(say`Enter the password or the API key again to continue.`, true);
    const { network } = options;
    return kind === "immich"
      ? new ImmichSource({ network, address: url, apiKey: secret })
      : new NextcloudSource({ network, address: url, username, password: secret });
  }
  if (paths.length > 0) {
    const inFolder = await Promise.all(paths.map((path) => confinedPath(options.importsFolder, path)));
    const [folder = ""] = inFolder;
    return kind === "nextcloud"
      ? new NextcloudFolderSource({ folder, followsLinks: false })
      : openArchives(inFolder, false);
  }
  return openStoredArchives(
    options.blobs,
    fileIds.map((id) => findArchive(options, user, id)),
  );
}

function findArchive({ permissions }: SourceOpenerOptions, user: User, id: string) {
  try {
    return permissions.file(user, id, "read").node;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new SourceError(say`An archive of this import was deleted. Upload it again, and start a new import.`, false);
  }
}

/**
 * A path in the folder for imports. Links are not followed.
 * @param path with slashes, below the folder
 * @throws SourceError if there is no such path, or a link is in it
 */
export async function confinedPath(importsFolder: string | null, path: string): Promise<string> {
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  const isOutside = steps.includes("..") || path.includes("\0");
  if (importsFolder === null || isOutside) throw missingPath(path);
  try {
    const top = await realpath(importsFolder);
    const target = join(top, ...steps);
    if ((await realpath(target)) === target) return target;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
  throw missingPath(path);
}

function missingPath(path: string): SourceError {
  return new SourceError(
    say`"${path}" is not in the folder for imports (importsFolder). Links are not followed.`,
    false,
  );
}
