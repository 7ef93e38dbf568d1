// Housekeeping that no client sees the end of, done at once.
import type { Client } from "./client.ts";
import { eventually } from "./expect.ts";

/** Runs a job of the timetable to its end. @param admin an administrator's client */
export async function runJob(admin: Client, name: string): Promise<void> {
  // The server answers after five seconds also where the job still runs, or where something else has started it again.
  await eventually(`the job ${name} is done`, async () => {
    const ran = await admin.post(`/api/admin/jobs/${name}/run`);
    const isWell = ran.status === 200 && ran.at("data.lastError") === null;
    if (!isWell) throw new Error(`the job ${name} failed: ${ran.status} ${ran.text}`);
    return ran.at("data.isRunning") === false;
  });
}
