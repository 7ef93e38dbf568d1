/** The keys of the server, which travel sealed in the replica. */
import { join } from "node:path";
import type { DataPaths } from "../data/data-directory.ts";
import type { StandbyContext } from "./context.ts";

/** Where the unsealed keys are until they replace those of the directory. */
export function unsealedFolder({ standby }: Pick<DataPaths, "standby">): string {
  return join(standby, "secrets");
}

export async function unsealInto({ paths }: StandbyContext): Promise<void> {
  void unsealedFolder(paths);
}
