// Housekeeping that no client sees the end of, done at once.
import type { Client } from "./client.ts";

/** Runs a job of the timetable to its end. @param admin an administrator's client */
export async function runJob(admin: Client, name: string): Promise<void> {
  const ran = await admin.post(`/api/admin/jobs/${name}/run`);
  const isDone = ran.status === 200 && ran.at("data.isRunning") === false && ran.at("data.lastError") === null;
  if (!isDone) throw new Error(`the job ${name} was not done: ${ran.status} ${ran.text}`);
}
