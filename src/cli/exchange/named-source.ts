/** The source that the options of `larder import` name. */
import { basename } from "node:path";
import {
  type ImportSource,
  SOURCE_KINDS,
  SourceError,
  type SourceKind,
} from "../../features/storage/imports/source.ts";
import { ImmichSource } from "../../features/storage/imports/sources/immich/immich-source.ts";
import { NextcloudFolderSource } from "../../features/storage/imports/sources/nextcloud/folder-source.ts";
import { NextcloudSource } from "../../features/storage/imports/sources/nextcloud/webdav-source.ts";
import { operatorNetwork } from "../../features/storage/imports/sources/server/network.ts";
import { openArchives } from "../../features/storage/imports/sources/takeout/open-archives.ts";
import { type RunningCommand, UsageError } from "../shared/command.ts";
import { readSecret } from "../shared/secret.ts";

/** A source, and how it is called. */
export interface NamedSource {
  readonly source: ImportSource;
  /** What the source reads, as people call it. */
  readonly label: string;
  /** Absolute paths on this machine. */
  readonly paths: readonly string[];
  /** The target folder, unless the person names another one. */
  readonly folder: string;
}

const PHOTOS = "/Photos";

/** Opens the source. @throws UsageError */
export async function openNamedSource(
  command: RunningCommand,
  from: string,
  paths: readonly string[],
): Promise<NamedSource> {
  const kind = SOURCE_KINDS.find((known) => known === from);
  if (kind === undefined) throw new UsageError(`--from must be one of: ${SOURCE_KINDS.join(", ")}, not "${from}".`);
  try {
    return await openKind(kind, command, paths);
  } catch (error) {
    throw error instanceof SourceError ? new UsageError(error.message) : error;
  }
}

async function openKind(kind: SourceKind, command: RunningCommand, paths: readonly string[]): Promise<NamedSource> {
  const absolute = paths.map((path) => command.path(path));
  const url = command.text("url");
  if (kind === "takeout") {
    if (paths.length === 0 || url !== undefined)
      throw new UsageError("Specify the archives of Google Takeout, or the folder that has them.");
    return { source: await openArchives(absolute), label: describePaths(paths), paths: absolute, folder: PHOTOS };
  }
  if (url !== undefined && paths.length > 0) throw new UsageError("Specify either --url or a folder, not both.");
  if (kind === "immich") return openImmich(command);
  if (url !== undefined) return openNextcloud(command, url);
  const [folder, ...more] = absolute;
  if (folder === undefined || more.length > 0) {
    throw new UsageError("Specify --url, or the folder of one account in the data directory of the Nextcloud.");
  }
  return { source: new NextcloudFolderSource({ folder }), label: describePaths(paths), paths: absolute, folder: "/" };
}

async function openNextcloud(command: RunningCommand, address: string): Promise<NamedSource> {
  const username = command.requiredText("username", "--username NAME, the user name in Nextcloud");
  const password = await readSecret(command, "the app password");
  const source = new NextcloudSource({ network: operatorNetwork(), address, username, password });
  return { source, label: `${username} at ${hostOf(address)}`, paths: [], folder: "/" };
}

async function openImmich(command: RunningCommand): Promise<NamedSource> {
  const address = command.requiredText("url", "--url ADDRESS, the address of the Immich");
  const apiKey = await readSecret(command, "the API key");
  const source = new ImmichSource({ network: operatorNetwork(), address, apiKey });
  return { source, label: hostOf(address), paths: [], folder: PHOTOS };
}

function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address;
}

function describePaths([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? basename(first) : `${basename(first)} and ${more.length} more`;
}
