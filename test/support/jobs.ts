// Runs background jobs on demand.
import type { Client } from "./client.ts";
import { eventually } from "./expect.ts";

/** Runs a scheduled job to its end. @param admin an administrator's client */
export async function runJob(admin: Client, name: string): Promise<void> {
  // The server responds after five seconds even if the job still runs, or has been started again.
  await eventually(`the job ${name} is done`, async () => {
    const ran = await admin.post(`/api/admin/jobs/${name}/run`);
    const isSuccessful = ran.status === 200 && ran.at("data.lastError") === null;
    if (!isSuccessful) throw new Error(`the job ${name} failed: ${ran.status} ${ran.text}`);
    return ran.at("data.isRunning") === false;
  });
}
