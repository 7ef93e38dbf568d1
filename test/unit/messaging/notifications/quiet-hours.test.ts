import { describe, expect, test } from "bun:test";
import { quietUntil } from "../../../../src/features/messaging/notifications/quiet-hours.ts";

function hours(start: string, end: string, timezone: string, enabled = true) {
  return { enabled, start, end, timezone };
}

/** The end of the quiet hours as a timestamp, or that there are none. */
function until(now: string, ...quiet: Parameters<typeof hours>): string | undefined {
  const endMs = quietUntil(Date.parse(now), hours(...quiet));
  return endMs === undefined ? undefined : new Date(endMs).toISOString();
}

describe("on an ordinary day", () => {
  test("it is quiet from the start (inclusive) to the end (exclusive)", () => {
    const quiet = ["13:00", "15:30", "UTC"] as const;
    expect(until("2026-01-10T12:59:59.999Z", ...quiet)).toBeUndefined();
    expect(until("2026-01-10T13:00:00.000Z", ...quiet)).toBe("2026-01-10T15:30:00.000Z");
    expect(until("2026-01-10T15:29:59.999Z", ...quiet)).toBe("2026-01-10T15:30:00.000Z");
    expect(until("2026-01-10T15:30:00.000Z", ...quiet)).toBeUndefined();
  });

  test("quiet hours over midnight end on the next day", () => {
    const quiet = ["22:00", "07:00", "Europe/Berlin"] as const;
    expect(until("2026-01-10T20:59:59.999Z", ...quiet)).toBeUndefined();
    expect(until("2026-01-10T21:00:00.000Z", ...quiet)).toBe("2026-01-11T06:00:00.000Z");
    expect(until("2026-01-10T23:30:00.000Z", ...quiet)).toBe("2026-01-11T06:00:00.000Z");
    expect(until("2026-01-11T05:59:59.999Z", ...quiet)).toBe("2026-01-11T06:00:00.000Z");
    expect(until("2026-01-11T06:00:00.000Z", ...quiet)).toBeUndefined();
  });

  test("it is never quiet if start equals end, or if quiet hours are turned off", () => {
    expect(until("2026-01-10T08:00:00Z", "08:00", "08:00", "UTC")).toBeUndefined();
    expect(until("2026-01-10T20:00:00Z", "00:00", "00:00", "UTC")).toBeUndefined();
    expect(until("2026-01-10T23:00:00Z", "22:00", "07:00", "UTC", false)).toBeUndefined();
  });

  test("midnight may be the start or the end", () => {
    expect(until("2026-01-10T00:00:00Z", "00:00", "06:00", "UTC")).toBe("2026-01-10T06:00:00.000Z");
    expect(until("2026-01-10T23:59:59Z", "20:00", "00:00", "UTC")).toBe("2026-01-11T00:00:00.000Z");
  });

  test("local time counts, also with offsets in quarter hours and across the date line", () => {
    // +05:45, +14:00, -11:00
    expect(until("2026-01-10T16:15:00Z", "22:00", "07:00", "Asia/Kathmandu")).toBe("2026-01-11T01:15:00.000Z");
    expect(until("2026-01-10T16:14:59Z", "22:00", "07:00", "Asia/Kathmandu")).toBeUndefined();
    expect(until("2026-01-10T08:00:00Z", "22:00", "07:00", "Pacific/Kiritimati")).toBe("2026-01-10T17:00:00.000Z");
    expect(until("2026-01-10T09:00:00Z", "22:00", "07:00", "Pacific/Pago_Pago")).toBe("2026-01-10T18:00:00.000Z");
  });
});

describe("when the clock goes forward (Berlin, 2026-03-29, 02:00 becomes 03:00)", () => {
  test("the night is an hour shorter", () => {
    expect(until("2026-03-28T22:00:00Z", "22:00", "07:00", "Europe/Berlin")).toBe("2026-03-29T05:00:00.000Z");
  });

  test("an end that doesn't exist is reached at the skip", () => {
    expect(until("2026-03-28T23:00:00Z", "22:00", "02:30", "Europe/Berlin")).toBe("2026-03-29T01:00:00.000Z");
    expect(until("2026-03-29T00:59:59.999Z", "22:00", "02:30", "Europe/Berlin")).toBe("2026-03-29T01:00:00.000Z");
    expect(until("2026-03-29T01:00:00Z", "22:00", "02:30", "Europe/Berlin")).toBeUndefined();
  });

  test("a start that doesn't exist is reached at the skip", () => {
    expect(until("2026-03-29T00:59:59.999Z", "02:30", "07:00", "Europe/Berlin")).toBeUndefined();
    expect(until("2026-03-29T01:00:00Z", "02:30", "07:00", "Europe/Berlin")).toBe("2026-03-29T05:00:00.000Z");
  });

  test("quiet hours within the skipped hour are left out that day", () => {
    expect(until("2026-03-29T00:59:59.999Z", "02:10", "02:50", "Europe/Berlin")).toBeUndefined();
    expect(until("2026-03-29T01:00:00Z", "02:10", "02:50", "Europe/Berlin")).toBeUndefined();
  });
});

describe("when the clock goes back (Berlin, 2026-10-25, 03:00 becomes 02:00)", () => {
  test("the night is an hour longer", () => {
    expect(until("2026-10-24T21:00:00Z", "22:00", "07:00", "Europe/Berlin")).toBe("2026-10-25T06:00:00.000Z");
  });

  test("an end that occurs twice ends the quiet hours both times", () => {
    const quiet = ["22:00", "02:30", "Europe/Berlin"] as const;
    expect(until("2026-10-24T22:00:00Z", ...quiet)).toBe("2026-10-25T00:30:00.000Z");
    expect(until("2026-10-25T00:45:00Z", ...quiet)).toBeUndefined();
    expect(until("2026-10-25T01:00:00Z", ...quiet)).toBe("2026-10-25T01:30:00.000Z");
    expect(until("2026-10-25T01:30:00Z", ...quiet)).toBeUndefined();
  });

  test("a start that occurs twice starts the quiet hours both times", () => {
    const quiet = ["02:30", "07:00", "Europe/Berlin"] as const;
    expect(until("2026-10-25T00:30:00Z", ...quiet)).toBe("2026-10-25T01:00:00.000Z");
    expect(until("2026-10-25T01:00:00Z", ...quiet)).toBeUndefined();
    expect(until("2026-10-25T01:30:00Z", ...quiet)).toBe("2026-10-25T06:00:00.000Z");
  });

  test("an end after the repeated hour waits for it", () => {
    expect(until("2026-10-25T00:30:00Z", "22:00", "03:00", "Europe/Berlin")).toBe("2026-10-25T02:00:00.000Z");
  });
});

describe("in time zones with unusual changes", () => {
  test("Lord Howe moves by half an hour", () => {
    // 2026-10-04 02:00 (+10:30) becomes 02:30 (+11:00); 2026-04-05 02:00 (+11:00) becomes 01:30 (+10:30).
    const zone = "Australia/Lord_Howe";
    expect(until("2026-10-03T13:00:00Z", "22:00", "07:00", zone)).toBe("2026-10-03T20:00:00.000Z");
    expect(until("2026-10-03T15:00:00Z", "22:00", "02:15", zone)).toBe("2026-10-03T15:30:00.000Z");
    expect(until("2026-04-04T13:00:00Z", "22:00", "07:00", zone)).toBe("2026-04-04T20:30:00.000Z");
    expect(until("2026-04-04T14:50:00Z", "01:45", "01:50", zone)).toBeUndefined();
    expect(until("2026-04-04T15:16:00Z", "01:45", "01:50", zone)).toBe("2026-04-04T15:20:00.000Z");
  });

  test("Beirut skips the hour after midnight", () => {
    // 2026-03-29 00:00 (+02:00) becomes 01:00 (+03:00).
    expect(until("2026-03-28T20:00:00Z", "21:00", "00:30", "Asia/Beirut")).toBe("2026-03-28T22:00:00.000Z");
    expect(until("2026-03-28T20:00:00Z", "21:00", "06:00", "Asia/Beirut")).toBe("2026-03-29T03:00:00.000Z");
  });

  test("Samoa skipped a whole day", () => {
    // 2011-12-29 24:00 (-10:00) became 2011-12-31 00:00 (+14:00).
    expect(until("2011-12-30T08:00:00Z", "21:00", "06:00", "Pacific/Apia")).toBe("2011-12-30T16:00:00.000Z");
  });
});

test("it is quiet exactly when local time is within the quiet hours, in any zone", () => {
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"];
  const pairs = [
    ["22:00", "07:00"],
    ["02:15", "02:45"],
    ["01:40", "02:10"],
    ["00:00", "23:59"],
  ] as const;
  // The changes of these clocks are multiples of 15 minutes.
  const stepMs = 15 * 60_000;
  const days = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01", "2026-07-01"];
  for (const zone of zones) {
    const wall = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
    for (const [start, end] of pairs) {
      const isQuiet = (ms: number) => {
        const now = wall.format(ms);
        return start <= end ? start <= now && now < end : now >= start || now < end;
      };
      for (const day of days) {
        const midnight = Date.parse(`${day}T00:00:00Z`);
        for (let ms = midnight - 12 * stepMs * 4; ms < midnight + 24 * 4 * stepMs; ms += stepMs) {
          const endMs = quietUntil(ms, hours(start, end, zone));
          expect([zone, start, new Date(ms).toISOString(), endMs !== undefined]).toEqual([
            zone,
            start,
            new Date(ms).toISOString(),
            isQuiet(ms),
          ]);
          if (endMs === undefined) continue;
          expect(isQuiet(endMs)).toBe(false);
          for (let before = ms; before < endMs; before += stepMs) expect(isQuiet(before)).toBe(true);
          expect(isQuiet(endMs - 1)).toBe(true);
        }
      }
    }
  }
});

test("an unknown zone is an error, not a guess", () => {
  expect(() => quietUntil(0, hours("22:00", "07:00", "Mars/Olympus"))).toThrow(RangeError);
});
