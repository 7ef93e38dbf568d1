/** The program of scripts/rounds/confirmed. */
import { rm } from "node:fs/promises";
import { randomContent } from "../../test/support/client.ts";
import { replicatedSettings } from "../../test/support/replicated.ts";
import { TestS3 } from "../../test/support/s3-server.ts";
import { dispose, startServer, temporaryDirectory } from "../../test/support/server.ts";

const UPLOADS = 200;
const CLIENTS = 16;
const BYTES = 20_000;
const ROUNDS = 7;
const SHARE_MIN = 0.5;

/** Sends all bodies, by several clients. @returns uploads per second */
async function measure(send: (body: Uint8Array<ArrayBuffer>, index: number) => Promise<unknown>): Promise<number> {
  const bodies = Array.from({ length: UPLOADS }, () => randomContent(BYTES)).entries();
  const startedMs = performance.now();
  const work = async () => {
    for (const [index, body] of bodies) await send(body, index);
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  return (UPLOADS * 1000) / (performance.now() - startedMs);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** The settings of a given service; undefined without one. */
function givenService(run: string): Record<string, string> | undefined {
  const { S3_ENDPOINT, S3_BUCKET = "larder", S3_ACCESS = "", S3_SECRET = "" } = process.env;
  if (S3_ENDPOINT === undefined) return undefined;
  return {
    LARDER_BLOBS_STORE: "s3",
    LARDER_S3_ENDPOINT: S3_ENDPOINT,
    LARDER_S3_BUCKET: S3_BUCKET,
    LARDER_S3_PREFIX: `confirmed/${run}`,
    LARDER_S3_ACCESS_KEY_ID: S3_ACCESS,
    LARDER_S3_SECRET_ACCESS_KEY: S3_SECRET,
  };
}

const run = crypto.randomUUID();
const folder = await temporaryDirectory();
const given = givenService(run);
const s3 = given === undefined ? await TestS3.start() : undefined;
if (s3 !== undefined) console.log("S3_ENDPOINT is not set: measuring with the S3 service of the tests.");
const service = given ?? s3?.settings ?? {};
const settings = await replicatedSettings({ settings: service }, folder);
const replica = { LARDER_REPLICA: `s3://${service["LARDER_S3_BUCKET"]}/replica-${run}` };
const server = await startServer({ env: { ...settings, ...replica, LARDER_BLOBS_ACKNOWLEDGE: "bucket" } });
try {
  const { client } = await server.signUp();
  const bucket = new Bun.S3Client({
    endpoint: service["LARDER_S3_ENDPOINT"] ?? "",
    bucket: service["LARDER_S3_BUCKET"] ?? "",
    accessKeyId: service["LARDER_S3_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: service["LARDER_S3_SECRET_ACCESS_KEY"] ?? "",
    region: "us-east-1",
  });
  const [puts, uploads]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    puts.push(await measure((body, index) => bucket.write(`plain/${run}/${round}/${index}`, body)));
    uploads.push(await measure((body, index) => client.stored(body, { name: `${round}-${index}.bin` })));
    console.log(`round ${round}: ${puts.at(-1)?.toFixed(0)} PUTs/s, ${uploads.at(-1)?.toFixed(0)} uploads/s`);
  }
  const share = median(uploads) / median(puts);
  console.log(
    `median: ${median(puts).toFixed(0)} PUTs/s, ${median(uploads).toFixed(0)} uploads/s, ${(100 * share).toFixed(0)} %`,
  );
  process.exitCode = share < SHARE_MIN ? 1 : 0;
} finally {
  await dispose(server);
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
}
