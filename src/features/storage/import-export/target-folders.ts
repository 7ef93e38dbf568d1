/** The folders that an export makes on disk. */
import * as fs from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../lib/error.ts";
import { UNFINISHED } from "./content-writer.ts";

/** Makes a folder or uses an existing one, but no link. Deletes what an interrupted export left in it. */
export function makeFolder(path: string): void {
  try {
    fs.mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    if (!fs.lstatSync(path).isDirectory()) throw Object.assign(new Error("in the way"), { code: "ENOTDIR" });
    deleteUnfinished(path);
  }
}

/** Deletes what an interrupted export left in a folder. */
export function deleteUnfinished(folder: string): void {
  for (const name of fs.readdirSync(folder)) if (UNFINISHED.test(name)) fs.rmSync(join(folder, name), { force: true });
}
