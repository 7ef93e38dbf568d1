import { createLog } from "../../lib/log.ts";
import type { Config } from "../../config/settings.ts";
import { isInBucket } from "../../features/storage/backup/contents.ts";
import { readStatus, RECONCILE_JOB } from "../../features/storage/remote-store/service.ts";
import type { RebuildReport } from "../../features/storage/store-journal/rebuild.ts";
import { Reader } from "../../db/reader.ts";
import { dataPaths } from "../../server/data/data-directory.ts";
import { openForCommand } from "../../server/for-commands.ts";
import type { Terminal } from "../shared/output.ts";

/**
 * Records in a rebuilt database what the bucket of the settings has, if one is set: the store journal does not say which
 * contents are in a bucket. The caller holds the server's lock.
 * @returns the report without the contents that are there; unchanged if the bucket can't be read, which is printed
 */
export async function findInBucket(report: RebuildReport, config: Config, terminal: Terminal): Promise<RebuildReport> {
  if (config.s3.bucket === null) return report;
  const log = createLog("pretty", "warn", (line) => terminal.error(line));
  const services = await openForCommand(config, log, true);
  const reader = new Reader(dataPaths(config.data).database, log);
  try {
    await services.runJob(RECONCILE_JOB, undefined);
    const { away } = await readStatus(reader);
    return {
      ...report,
      missing: Math.max(0, report.missing - away.contents),
      missingSome: report.missingSome.filter(({ digest }) => !isInBucket(services.db.sqlite, digest)),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    terminal.error(
      `${why}\nBlobs that are only in the bucket are counted as missing here. The server will find them later.\n`,
    );
    return report;
  } finally {
    reader.close();
    await services.close();
  }
}
