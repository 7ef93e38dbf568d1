// Phones and a browser on one account while the server is killed again and again, at any moment: what it acknowledged
// is there in the end, and the phones come to equal it.
import { describe, test } from "bun:test";
import { liveThrough } from "../phone/household.ts";
import { Random, seedsToRun } from "../phone/random.ts";
import { withServer } from "../support/server.ts";

describe("phones", () => {
  test.each(seedsToRun([11, 12]))(
    "lose and double nothing while the server is killed in random moments (seed %d)",
    async (seed) => {
      await withServer({ hasAccounts: true }, async (server) => {
        const random = new Random(seed).branch("killer");
        await liveThrough(
          "three phones and a killer",
          server,
          await server.signUp(),
          { seed, phones: 3, turns: 25, line: { cuts: 0.03, cutWithinBytes: 8000 }, crashes: 0.01 },
          async (household) => {
            for (let kills = 0; kills < 6 && !household.isOver; kills++) {
              await household.responded(random.between(5, 40));
              await household.restart(async () => {
                await server.kill9();
                await server.start();
              });
            }
          },
        );
      });
    },
    180_000,
  );
});
