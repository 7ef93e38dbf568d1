import { expect, test } from "bun:test";
import { DownloadLedger } from "../../../../src/features/accounts/rate-limits/download-ledger.ts";

const HOUR = 3_600_000;

test("a whole file counts each time", () => {
  const ledger = new DownloadLedger();
  for (let i = 0; i < 3; i++) expect(ledger.begin("u:1", "digest", false, i)).toBe("counts");
});

test("ranges count once per caller, content and hour", () => {
  const ledger = new DownloadLedger();
  expect(ledger.begin("u:1", "digest", true, 0)).toBe("counts");
  expect(ledger.begin("u:1", "digest", true, 1)).toBe("continues");
  expect(ledger.begin("u:2", "digest", true, 1)).toBe("counts");
  expect(ledger.begin("u:1", "other", true, 1)).toBe("counts");
  expect(ledger.begin("u:1", "digest", true, HOUR - 1)).toBe("continues");
  expect(ledger.begin("u:1", "digest", true, HOUR)).toBe("counts");
});

test("ranges continue a whole download, and each whole download restarts the hour", () => {
  const ledger = new DownloadLedger();
  ledger.begin("u:1", "digest", false, 0);
  expect(ledger.begin("u:1", "digest", true, 10)).toBe("continues");
  ledger.begin("u:1", "digest", false, HOUR - 1);
  expect(ledger.begin("u:1", "digest", true, HOUR + 1)).toBe("continues");
});

test("reading the next step changes nothing", () => {
  const ledger = new DownloadLedger();
  expect(ledger.peek("u:1", "digest", true, 0)).toBe("counts");
  expect(ledger.begin("u:1", "digest", true, 0)).toBe("counts");
  expect(ledger.peek("u:1", "digest", true, 0)).toBe("continues");
  expect(ledger.peek("u:1", "digest", false, 0)).toBe("counts");
});

test("the oldest entries are removed if there are too many", () => {
  const ledger = new DownloadLedger(2);
  for (const name of ["a", "b", "c"]) ledger.begin("u:1", name, true, 0);
  expect(ledger.peek("u:1", "a", true, 1)).toBe("counts");
  expect(ledger.peek("u:1", "b", true, 1)).toBe("continues");
  expect(ledger.peek("u:1", "c", true, 1)).toBe("continues");
});

test("a full ledger keeps almost all entries, and the latest ones", () => {
  const ledger = new DownloadLedger(1_000);
  for (let i = 0; i <= 1_000; i++) ledger.begin("u:1", `file ${i}`, false, i);
  const isCounted = Array.from(
    { length: 1_001 },
    (_, i) => ledger.peek("u:1", `file ${i}`, true, 1_001) === "continues",
  );
  expect(isCounted.indexOf(true)).toBe(10);
  expect(isCounted.lastIndexOf(false)).toBe(9);
});

test("entries that expired make room before later ones", () => {
  const ledger = new DownloadLedger(100);
  for (let i = 0; i < 99; i++) ledger.begin("u:1", `old ${i}`, false, i);
  for (let i = 0; i < 100; i++) ledger.begin("u:1", `new ${i}`, false, HOUR + 99);
  for (let i = 0; i < 100; i++) expect(ledger.peek("u:1", `new ${i}`, true, HOUR + 100)).toBe("continues");
});

test("a download from before the clock was set back counts again", () => {
  const ledger = new DownloadLedger();
  ledger.begin("u:1", "digest", true, 10 * HOUR);
  expect(ledger.begin("u:1", "digest", true, 0)).toBe("counts");
  expect(ledger.begin("u:1", "digest", true, 1)).toBe("continues");
});
