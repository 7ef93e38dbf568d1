// The S3 service of the tests. It failed a request now and then if two servers used it at once.
import { expect, test } from "bun:test";
import { TestS3 } from "../../../support/s3-server.ts";

const CLIENTS = 4;
const ROUNDS = 30;

test("several clients can write, list, and delete the same keys at once", async () => {
  const s3 = await TestS3.start();
  const bucket = `${s3.settings["LARDER_S3_ENDPOINT"]}/${s3.settings["LARDER_S3_BUCKET"]}`;
  const problems: string[] = [];
  const send = async (method: string, key: string) => {
    const body = method === "PUT" ? { body: "x" } : {};
    const response = await fetch(`${bucket}/${key}`, { method, ...body });
    const text = await response.text();
    if (response.status >= 500) problems.push(`${method} ${key}: ${response.status} ${text}`);
  };
  const use = async (client: number) => {
    for (let round = 0; round < ROUNDS; round++) {
      const shared = `shared/${round % 3}`;
      const own = `own/${client}-${round}`;
      for (const key of [shared, own]) await send("PUT", key);
      await send("GET", shared);
      await send("GET", "?list-type=2&prefix=shared/");
      for (const key of [own, shared]) await send("DELETE", key);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => use(client)));
  await s3.stop();
  expect(problems).toEqual([]);
});
