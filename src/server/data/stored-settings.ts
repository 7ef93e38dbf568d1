/** The settings that administrators stored, for commands that show the configuration without opening the services. */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import type { LoadedConfig } from "../../config/load.ts";
import { readStoredSettings } from "../../features/administration/settings/service.ts";
import { dataPaths } from "./data-directory.ts";

/** The configuration with the stored settings. */
export type EffectiveConfig = Pick<LoadedConfig, "config" | "values" | "sources" | "file">;

/** Adds the stored settings of the data directory. Without a database that can be read, there are none. */
export function withStoredSettings(loaded: LoadedConfig): EffectiveConfig {
  const stored = readFrom(dataPaths(loaded.config.data).database);
  const { config, values, sources } = loaded.withStored(stored);
  // Only editable values differ: what was loaded decides about the data directory.
  return { config, values, sources, file: loaded.file };
}

function readFrom(path: string): ReadonlyMap<string, string> {
  if (!existsSync(path)) return new Map();
  try {
    using sqlite = new Database(path, { readonly: true, strict: true });
    return readStoredSettings(sqlite);
  } catch {
    // Damaged, or of an earlier version: the settings of files and variables can be shown nevertheless.
    return new Map();
  }
}
