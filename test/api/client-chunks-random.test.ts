import { beforeAll, expect, test } from "bun:test";
import { digestOf } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { type SeededRandom, seededRandom, seedsToRun } from "../support/random.ts";
import { RawConnection, rawRequest } from "../support/raw-http.ts";
import { sharedServer } from "../support/server.ts";
import { connectSyncClient, type SyncClient } from "../support/sync-client.ts";

const server = sharedServer({ hasAccounts: true });
const SIZES = [0, 1, 100, 5_000, 70_000, 300_000];
const UPLOADS = 12;
const STEPS_MAX = 12;

let client: SyncClient;
beforeAll(async () => {
  client = await connectSyncClient(server());
});

/** An upload, and the chunks that it must have. */
class Upload {
  readonly #name: string;
  readonly #random: SeededRandom;
  readonly #chunks = new Map<number, Uint8Array<ArrayBuffer>>();

  constructor(name: string, random: SeededRandom) {
    this.#name = name;
    this.#random = random;
  }

  /** Does something at random, and expects its effect. */
  async step(): Promise<void> {
    const { below, pick, chance } = this.#random;
    switch (below(6)) {
      case 0:
        return this.#put(below(10), this.#bytes());
      case 1: {
        const numbers = this.#random.shuffled([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).slice(0, 2 + below(4));
        await Promise.all(numbers.map((number) => this.#put(number, this.#bytes())));
        return;
      }
      case 2:
        return this.#breakOff(below(10));
      case 3: {
        if (this.#chunks.size === 0) return;
        const number = pick([...this.#chunks.keys()]);
        expectStatus(await client.request("DELETE", `uploads/{user}/${this.#name}/${number}`), 204);
        this.#chunks.delete(number);
        return;
      }
      case 4:
        return this.#finishWrongly();
      default:
        // A chunk that arrives while the file is being made counts or is rejected, but never both.
        await Promise.all([
          this.#finishWrongly(),
          this.#put(below(10), this.#bytes(), [201, 204, 409]),
          chance(0.5) ? this.#breakOff(below(10)) : undefined,
        ]);
    }
  }

  /** Expects the listed chunks, and the content of the file that they make. @returns its size */
  async finish(): Promise<number> {
    const sorted = [...this.#chunks].toSorted(([a], [b]) => a - b);
    expect(await client.list(this.#name)).toEqual(sorted.map(([number, bytes]) => [String(number), bytes.length]));
    const whole = Buffer.concat(sorted.map(([, bytes]) => bytes));
    const target = `${this.#name}.bin`;
    const moved = await client.finish(this.#name, target, { "oc-total-length": String(whole.length) });
    expectStatus(moved, 201);
    expect(moved.header("etag")).toBe(`"${digestOf(whole)}"`);
    expect(digestOf(await client.content(target))).toBe(digestOf(whole));
    return whole.length;
  }

  async #put(number: number, bytes: Uint8Array<ArrayBuffer>, accepted = [201, 204]): Promise<void> {
    const { status } = await client.put(this.#name, String(number), bytes);
    expect(accepted).toContain(status);
    if (status !== 409) this.#chunks.set(number, bytes);
  }

  async #finishWrongly(): Promise<void> {
    const checksum = this.#random.pick([`SHA256:${"1".repeat(64)}`, `MD5:${"1".repeat(32)}`]);
    expectStatus(await client.finish(this.#name, "wrong.bin", { "oc-checksum": checksum }), 400);
  }

  /** Sends a part of a chunk, and disconnects. */
  async #breakOff(number: number): Promise<void> {
    const bytes = this.#bytes();
    const connection = await RawConnection.open(server().port);
    const head = [
      `PUT ${client.pathOf(`uploads/{user}/${this.#name}/${number}`)} HTTP/1.1`,
      "Host: larder.test",
      `Authorization: ${client.authorization}`,
      `Content-Length: ${bytes.length + 1_000}`,
    ];
    await connection.write(rawRequest(head, bytes));
    connection.cut();
    await connection.closed;
  }

  #bytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#random.pick(SIZES));
    for (let at = 0; at < bytes.length; at += 997) bytes[at] = this.#random.below(256);
    return bytes;
  }
}

test.each(seedsToRun([1]))(
  "chunks in any order, repeated, cut off, deleted and beside failed ends make the right file (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const usedBytes = async () => (await client.account.client.get("/api/users/usage")).number("data.storage.used");
    let expectedBytes = await usedBytes();
    for (let number = 0; number < UPLOADS; number++) {
      const name = `u${seed}-${number}`;
      const upload = new Upload(name, random);
      expectStatus(await client.begin(name), 201);
      for (let left = 1 + random.below(STEPS_MAX); left > 0; left--) await upload.step();
      expectedBytes += await upload.finish();
    }
    expect(await usedBytes()).toBe(expectedBytes);
  },
  600_000,
);
