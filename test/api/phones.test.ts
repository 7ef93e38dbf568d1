// Phones use one account: offline, crashing, with a wrong clock, over a bad line, while the server restarts and a
// browser changes the same files. In the end all have the same files, and nothing is lost or duplicated.
import { afterAll, describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { BadLine } from "../phone/bad-line.ts";
import { CameraRoll, type Picture } from "../phone/camera-roll.ts";
import { MemoryDisk } from "../phone/disk.ts";
import { runHousehold } from "../phone/household.ts";
import type { SeenResponse } from "../phone/http.ts";
import { Ledger } from "../phone/ledger.ts";
import { joinPath } from "../phone/local-folder.ts";
import { Phone } from "../phone/phone.ts";
import { Random, seedsToRun } from "../phone/random.ts";
import { isTemporary } from "../phone/session.ts";
import { defaultHabits } from "../phone/uploader.ts";
import { WebClient } from "../phone/web-client.ts";
import { testAllResponses } from "../support/response-rules.ts";
import { sharedServer, temporaryDirectory } from "../support/server.ts";

const server = sharedServer({ hasAccounts: true });
/** scripts/rounds/phones runs each twice as long. */
const isLong = process.env["LARDER_TEST_LONG"] !== undefined;
const testMsMax = isLong ? 600_000 : 120_000;
const directories: string[] = [];

afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

/** Paths with checksums, sorted. */
function sorted(contents: Map<string, string>): string[] {
  return [...contents].map((entry) => entry.join(" ")).sort();
}

const goodLine = { cuts: 0, cutWithinBytes: 0 };
const badLine = { cuts: 0.1, cutWithinBytes: 6000 };

describe("a single phone", () => {
  test.each(seedsToRun([101]))(
    "has no conflict about content without other clients, and equals the server (seed %d)",
    async (seed) => {
      const { conflictCount } = await runHousehold("one phone", server(), await server().signUp(), {
        seed,
        phones: 1,
        turns: isLong ? 40 : 20,
        line: goodLine,
        crashes: 0,
        hasBrowser: false,
      });
      expect(conflictCount).toBe(0);
    },
    testMsMax,
  );

  test.each(seedsToRun([102]))(
    "loses and duplicates nothing when it crashes on a bad line (seed %d)",
    async (seed) => {
      const directory = join(await temporaryDirectory(), "phone");
      directories.push(directory);
      await runHousehold("one unlucky phone", server(), await server().signUp(), {
        seed,
        phones: 1,
        turns: isLong ? 40 : 20,
        line: badLine,
        crashes: 0.03,
        directory,
        hasBrowser: false,
      });
    },
    testMsMax,
  );
});

describe("several phones and a browser", () => {
  test.each(seedsToRun([1, 2]))(
    "equal the server after they were offline and crashed, and the server restarted (seed %d)",
    async (seed) => {
      await runHousehold(
        "three phones and a browser",
        server(),
        await server().signUp(),
        { seed, phones: 3, turns: isLong ? 30 : 15, line: badLine, crashes: 0.02 },
        async (household) => {
          for (let times = 0; times < 2; times++) {
            await household.responded(isLong ? 80 : 40);
            await household.restart(() => server().restart());
          }
        },
      );
    },
    testMsMax,
  );
});

describe("a broken phone", () => {
  test.each(seedsToRun([5]))(
    "that deletes everything is stopped, and gets everything back once that is declined (seed %d)",
    async (seed) => {
      console.info(`a broken phone: LARDER_TEST_SEED=${seed}`);
      const account = await server().signUp();
      const random = new Random(seed);
      const ledger = new Ledger();
      const onResponse = (response: SeenResponse) => server().responses.push(response);
      const phone = new Phone(new MemoryDisk("broken-phone"), {
        credentials: { email: account.email, password: account.password },
        random,
        url: server().url,
        onResponse,
        ledger,
        clockSkewMs: 0,
        crashes: 0,
        acceptsHolds: false,
        sendsAtOnce: true,
        habits: { ...defaultHabits, crash: 0 },
      });
      await phone.session.register();
      for (let photos = 0; photos < 130; photos++) phone.takePhoto(random.between(1, 200), `/Camera/${photos}.jpg`);
      await phone.sync();
      const before = phone.contents();
      const web = new WebClient({ url: server().url, token: account.token, random, ledger, onResponse });
      const onServer = async () =>
        new Map((await web.files()).map(({ folder, name, checksum }) => [joinPath(folder, name), checksum]));
      expect(sorted(await onServer())).toEqual(sorted(before));

      // Everything in one sync, for example because the memory card is not mounted.
      for (const file of phone.folder.files) phone.folder.remove(file);
      phone.takePhoto(1000, "/Camera/new.jpg");
      const photo = phone.contents();
      await phone.syncUp();
      expect(phone.decidedHolds.size).toBe(1);

      for (let rounds = 0; rounds < 3; rounds++) await phone.sync();
      const after = await onServer();
      const lost = [...before, ...photo].filter(([path, checksum]) => after.get(path) !== checksum);
      expect(lost.map(([path]) => path)).toEqual([]);
      expect(sorted(phone.contents())).toEqual(sorted(after));
    },
    testMsMax,
  );
});

describe("the backup of a camera roll", () => {
  const pictureCount = isLong ? 60 : 30;
  const killsMin = isLong ? 6 : 4;

  test.each(seedsToRun([7]))(
    "stores each picture once although the app is killed often, and leaves deleted pictures deleted (seed %d)",
    async (seed) => {
      console.info(`camera roll: LARDER_TEST_SEED=${seed}`);
      const random = new Random(seed);
      const account = await server().signUp();
      let isServerUp = true;
      const portOf = () => (isServerUp ? server().port : 0);
      const line = await BadLine.open(portOf, random.branch("line"), { cuts: 0, cutWithinBytes: 0 });
      const onResponse = (response: SeenResponse) => server().responses.push(response);
      const ledger = new Ledger();
      try {
        const disk = new MemoryDisk("camera");
        const pictures = takePictures(disk, random.branch("pictures"));
        const web = new WebClient({
          url: line.url,
          token: account.token,
          random: random.branch("web"),
          ledger,
          onResponse,
        });
        const startApp = (crashes: number) =>
          new CameraRoll(disk, pictures, {
            credentials: { email: account.email, password: account.password },
            random: random.branch(`app ${kills}`),
            url: line.url,
            onResponse,
            ledger,
            crashes,
          });
        let kills = 0;
        await startApp(0).session.register();
        // The quota allows all pictures, but not the incomplete uploads of killed apps in addition.
        const rollBytes = pictures.reduce((sum, { size }) => sum + size, 0);
        await server().change(account.id, { quota: Math.round(rollBytes * 1.1) });

        const deleted = new Set<string>();
        const moved = new Map<string, string>();
        for (let isDone = false; !isDone || kills < killsMin; ) {
          line.quality = { cuts: 0.05, cutWithinBytes: 400_000 };
          // Crashes become rarer, so that the backup ends.
          const app = startApp(kills < killsMin ? 0.04 : 0.04 / (kills - killsMin + 2));
          try {
            if (random.chance(0.4)) await app.session.refresh();
            await app.backUp();
            isDone = true;
          } catch (error) {
            if (!isTemporary(error)) throw error;
            kills += 1;
          }
          expect(app.session.signOutCount).toBe(0);
          line.quality = { cuts: 0, cutWithinBytes: 0 };
          // The user deletes and moves pictures in the browser.
          for (const file of random.shuffled(await web.files()).slice(0, 2)) {
            if (random.chance(0.5)) {
              await web.deleteFile(file.id);
              deleted.add(file.checksum);
            } else {
              const album = `/Albums/${kills}`;
              (await web.call("PUT", `/api/files/${file.id}`, { json: { folder: album } })).expect(200);
              if (!deleted.has(file.checksum)) moved.set(file.checksum, file.id);
            }
          }
          if (kills % 3 === 1) {
            isServerUp = false;
            await server().restart();
            isServerUp = true;
          }
        }

        // Another backup on a good line: nothing has to be sent, and the result of each picture is correct.
        const ends = await startApp(0).backUp();
        const files = await web.files();
        console.info(
          `camera roll: ${kills} kills, ${line.cutCount} cuts, ${deleted.size} deleted, ${moved.size} moved`,
        );
        const faults: string[] = [];
        for (const { path, checksum } of pictures) {
          const stored = files.filter((file) => file.checksum === checksum);
          const end = ends.get(path);
          const count = deleted.has(checksum) ? 0 : 1;
          if (stored.length !== count)
            faults.push(`${path} is stored ${stored.length} times instead of ${count}: ${JSON.stringify(stored)}`);
          if (count === 0 && end?.kind !== "deleted_by_you") faults.push(`${path} was deleted, result ${end?.kind}`);
          if (count === 1 && (end === undefined || end.kind === "deleted_by_you" || end.fileId !== stored[0]?.id))
            faults.push(`${path} is ${stored[0]?.id}, result ${JSON.stringify(end)}`);
        }
        if (files.length !== pictures.length - deleted.size) faults.push(`${files.length} files in all`);
        expect(faults.slice(0, 10)).toEqual([]);

        // A person can upload a deleted picture again, a backup can't.
        const [deletedChecksum] = deleted;
        if (deletedChecksum === undefined) throw new Error("nothing was deleted: use another seed");
        const form = new FormData();
        form.append("file", new File([disk.content(deletedChecksum)], "again.jpg"));
        (await web.call("POST", "/api/files/upload", { body: form })).expect(201);
        const again = await startApp(0).backUp();
        const path = pictures.find(({ checksum }) => checksum === deletedChecksum)?.path ?? "";
        expect(again.get(path)?.kind).toBe("already_stored");
      } finally {
        await line.close();
      }
    },
    testMsMax,
  );

  function takePictures(disk: MemoryDisk, random: Random): Picture[] {
    return Array.from({ length: pictureCount }, (_, number) => {
      // Many small and a few large pictures, from 100 KB to 3 MB.
      const size = Math.round(100_000 * 30 ** (random.fraction() ** 3));
      return {
        path: `/Camera/IMG_${String(number).padStart(4, "0")}.jpg`,
        checksum: disk.store(random.bytes(size)),
        size,
      };
    });
  }
});

testAllResponses(server);
