import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { StartupError } from "../../../../config/startup-error.ts";
import { messageOf } from "../../../../lib/error.ts";

/** Reads the key file of a push service. @throws StartupError with the path and the name of the setting */
export function readKeyFile(path: string, setting: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupError(`Cannot read ${path} (${setting}): ${messageOf(error)}.`, error);
  }
}

/** Parses a private key. @returns undefined if it is not one; the parser's error may contain parts of the key */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
