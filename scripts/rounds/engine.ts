// The program of scripts/rounds/engine.
import { S3Client } from "bun";
import { parseArgs } from "node:util";

const WRITERS = 12;
const PREFIX = `larder-engine-check/${Date.now()}/`;
const LIST_MAX = 1000;

interface Finding {
  readonly question: string;
  readonly isGood: boolean;
  readonly seen: string;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`Set ${name}.`);
  return value;
}

const client = new S3Client({
  endpoint: setting("S3_ENDPOINT"),
  bucket: setting("S3_BUCKET"),
  accessKeyId: setting("S3_ACCESS"),
  secretAccessKey: setting("S3_SECRET"),
  region: process.env["S3_REGION"] ?? "us-east-1",
});

/** Writes an object only if there is none. @returns the status */
async function createOnce(key: string, text: string): Promise<number> {
  const url = client.presign(key, { method: "PUT", expiresIn: 60 });
  const response = await fetch(url, { method: "PUT", body: text, headers: { "if-none-match": "*" } });
  await response.arrayBuffer();
  return response.status;
}

async function askExisting(): Promise<Finding> {
  const key = `${PREFIX}existing`;
  await client.write(key, "first");
  const status = await createOnce(key, "second");
  const text = await client.file(key).text();
  const isGood = status === 412 && text === "first";
  return { question: "conditional PUT of an existing key", isGood, seen: `${status}, the object is "${text}"` };
}

async function askNew(): Promise<Finding> {
  const status = await createOnce(`${PREFIX}new`, "first");
  return { question: "conditional PUT of a new key", isGood: status === 200, seen: String(status) };
}

async function askRaces(rounds: number): Promise<Finding> {
  const counts = new Map<number, number>();
  let [single, lying] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const key = `${PREFIX}race-${round}`;
    const statuses = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => createOnce(key, `${writer}`)));
    for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    if (statuses.filter((status) => status === 200).length === 1) single += 1;
    const isThere = await client.exists(key);
    if (isThere && statuses[Number(await client.file(key).text())] !== 200) lying += 1;
  }
  const seen = [...counts].map(([status, count]) => `${count} × ${status}`).join(", ");
  return {
    question: `${WRITERS} conditional PUTs of a new key at once: exactly one wins, and the object is its own`,
    isGood: single === rounds && lying === 0,
    seen: `one winner in ${single} of ${rounds} rounds, the object of a loser in ${lying} (${seen})`,
  };
}

async function askHead(rounds: number): Promise<Finding> {
  let wrong = 0;
  for (let round = 0; round < rounds; round++) {
    const key = `${PREFIX}head-${round}`;
    if (await client.exists(key)) wrong += 1;
    await client.write(key, "here");
    if (!(await client.exists(key))) wrong += 1;
    await client.write(key, `again ${round}`);
    if ((await client.file(key).text()) !== `again ${round}`) wrong += 1;
    await client.delete(key);
    if (await client.exists(key)) wrong += 1;
  }
  return {
    question: "HEAD and GET right after PUT, overwrite, and DELETE",
    isGood: wrong === 0,
    seen: `${wrong} of ${rounds * 4} saw an earlier state`,
  };
}

async function askList(rounds: number): Promise<Finding> {
  let wrong = 0;
  const prefix = `${PREFIX}list/`;
  for (let round = 0; round < rounds; round++) {
    await client.write(`${prefix}${String(round).padStart(8, "0")}`, "here");
    const { contents = [] } = await client.list({ prefix, maxKeys: LIST_MAX });
    if (contents.length !== round + 1) wrong += 1;
  }
  return { question: "LIST right after PUT", isGood: wrong === 0, seen: `${wrong} of ${rounds} missed the object` };
}

async function removeAll(): Promise<void> {
  for (;;) {
    const { contents = [] } = await client.list({ prefix: PREFIX, maxKeys: LIST_MAX });
    if (contents.length === 0) return;
    for (const { key } of contents) await client.delete(key);
  }
}

const { values } = parseArgs({ options: { rounds: { type: "string" } } });
const rounds = Number(values.rounds ?? 20);
const findings = [
  await askExisting(),
  await askNew(),
  await askRaces(rounds),
  await askHead(rounds),
  await askList(rounds),
];
for (const { question, isGood, seen } of findings) console.log(`${isGood ? "yes" : "NO "} ${question}: ${seen}`);
await removeAll();
process.exitCode = findings.every(({ isGood }) => isGood) ? 0 : 1;
