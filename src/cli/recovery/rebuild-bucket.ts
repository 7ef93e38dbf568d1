import { Reader } from "../../db/reader.ts";
import { isInBucket } from "../../features/storage/backup/contents.ts";
import { readStatus, RECONCILE_JOB } from "../../features/storage/remote-store/service.ts";
import type { RebuildReport } from "../../features/storage/store-journal/rebuild.ts";
import { dataPaths } from "../../server/data/data-directory.ts";
import type { CommandServices } from "../../server/for-commands.ts";
import type { RunningCommand } from "../shared/command.ts";
import { withServices } from "../shared/services.ts";
import { messageOf } from "../../lib/error.ts";

/**
 * Records in a rebuilt database which blobs are in the configured bucket: the journal does not contain that. The caller
 * holds the server's lock.
 * @returns the report without the blobs that the bucket has; unchanged if the bucket cannot be read, with a message
 */
export async function findInBucket(command: RunningCommand, report: RebuildReport): Promise<RebuildReport> {
  const { config, terminal } = command;
  if (config.s3.bucket === null) return report;
  const find = async (services: CommandServices) => {
    const reader = new Reader(dataPaths(config.data).database, command.log());
    try {
      await services.runJob(RECONCILE_JOB, undefined);
      const { away } = await readStatus(reader);
      return {
        ...report,
        missing: Math.max(0, report.missing - away.contents),
        missingSome: report.missingSome.filter(({ digest }) => !isInBucket(services.db.sqlite, digest)),
      };
    } catch (error) {
      const why = messageOf(error);
      terminal.error(
        `${why}\nBlobs that are only in the bucket are counted as missing here. The server will find them later.\n`,
      );
      return report;
    } finally {
      reader.close();
    }
  };
  return withServices(command, find, { holdsLock: true });
}
