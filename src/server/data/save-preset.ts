import * as fs from "node:fs";
import { join } from "node:path";
import { CONFIG_FILE } from "../../config/load.ts";
import type { Config } from "../../config/settings.ts";
import { syncPath } from "../../lib/sync-path.ts";

/** Writes the household preset, chosen on the set-up page, into larder.toml: durably, above its other lines. */
export function savePreset(config: Config): void {
  const path = join(config.data, CONFIG_FILE);
  const before = fs.existsSync(path) ? fs.readFileSync(path, "utf8") : "";
  if (/^\s*preset\s*=/m.test(before)) return;
  const partial = `${path}.partial`;
  fs.writeFileSync(partial, `# Chosen on the set-up page.\npreset = "household"\n${before}`, {
    mode: 0o600,
    flush: true,
  });
  fs.renameSync(partial, path);
  syncPath(config.data);
}
