// Phones and a browser use one account while the server is killed at random moments. In the end, everything that it
// acknowledged exists, and the phones equal the server.
import { describe, test } from "bun:test";
import { runHousehold } from "../phone/household.ts";
import { Random, seedsToRun } from "../phone/random.ts";
import { withServer } from "../support/server.ts";

describe("phones", () => {
  test.each(seedsToRun([11, 12]))(
    "lose and duplicate nothing while the server is killed at random moments (seed %d)",
    async (seed) => {
      await withServer({ hasAccounts: true }, async (server) => {
        const random = new Random(seed).branch("killer");
        await runHousehold(
          "three phones and a killer",
          server,
          await server.signUp(),
          { seed, phones: 3, turns: 25, line: { cuts: 0.03, cutWithinBytes: 8000 }, crashes: 0.01 },
          async (household) => {
            for (let kills = 0; kills < 6 && !household.isFinished; kills++) {
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
