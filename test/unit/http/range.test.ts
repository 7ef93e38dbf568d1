import { describe, expect, test } from "bun:test";
import { contentRange, parseRange, planByteRanges } from "../../../src/http/range.ts";
import { measureLeastMs } from "../../support/expect.ts";

/** The ranges as `offset+length`, or the kind where there are none. */
function read(header: string | null, sizeBytes: number): string {
  const result = parseRange(header, sizeBytes);
  return result.kind === "ranges" ? result.ranges.map((r) => `${r.offset}+${r.length}`).join(" ") : result.kind;
}

/** A header of so many ranges of one byte. */
function list(count: number): string {
  return `bytes=${Array.from({ length: count }, (_, i) => `${i * 2}-${i * 2}`).join(",")}`;
}

describe("a Range header (RFC 9110 §14)", () => {
  test.each<[string | null, string]>([
    [null, "whole"],
    ["bytes=0-0", "0+1"],
    ["bytes=0-", "0+100"],
    ["bytes=10-19", "10+10"],
    ["bytes=90-1000", "90+10"],
    ["bytes=99-99999999999999999999999999", "99+1"],
    ["bytes=-1", "99+1"],
    ["bytes=-1000", "0+100"],
    ["BYTES = 1-2".replace(" = ", "="), "1+2"],
    ["bytes= 1-2 ,\t4-5 ", "1+2 4+2"],
    ["bytes=,,1-2,,", "1+2"],
    ["bytes=50-59,0-9", "50+10 0+10"],
    ["bytes=0-9,10-19", "0+10 10+10"],
    ["bytes=0-9,200-", "0+10"],
    ["bytes=0-9,-0", "0+10"],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=100-200,300-", "unsatisfiable"],
    ["bytes=99999999999999999999-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=0-9,5-14", "whole"],
    ["bytes=5-14,0-9", "whole"],
    ["bytes=0-,-1", "whole"],
    ["bytes=9-0", "whole"],
    ["bytes=", "whole"],
    ["bytes=,", "whole"],
    ["bytes=-", "whole"],
    ["bytes=a-b", "whole"],
    ["bytes=1-2-3", "whole"],
    ["bytes=+1-2", "whole"],
    ["bytes=1.5-2", "whole"],
    ["bytes=0x1-2", "whole"],
    ["bytes 0-9", "whole"],
    ["items=0-9", "whole"],
    ["0-9", "whole"],
  ])("%p of 100 bytes is %s", (header, expected) => {
    expect(read(header, 100)).toBe(expected);
  });

  test("16 ranges are served, with 17 the header is ignored", () => {
    expect(read(list(16), 100).split(" ")).toHaveLength(16);
    expect(read(list(17), 100)).toBe("whole");
  });

  test("an empty content has no range but its end", () => {
    expect(read("bytes=0-", 0)).toBe("unsatisfiable");
    expect(read("bytes=-5", 0)).toBe("whole");
    expect(read("bytes=-0", 0)).toBe("unsatisfiable");
  });

  test("ranges beyond 4 GiB keep their digits", () => {
    expect(read("bytes=5000000000-5000000009", 6_000_000_000)).toBe("5000000000+10");
    expect(contentRange({ offset: 5_000_000_000, length: 10 }, 6_000_000_000)).toBe(
      "bytes 5000000000-5000000009/6000000000",
    );
  });

  test("a hostile header is read in time", () => {
    const ms = measureLeastMs(() => {
      expect(read(`bytes=${"0-0,".repeat(4000)}`, 100)).toBe("whole");
      expect(read(`bytes=${" ".repeat(16_000)}x`, 100)).toBe("whole");
    });
    expect(ms).toBeLessThan(50);
  });
});

test("the length planned for several ranges is the length of their body", () => {
  const ranges = [
    { offset: 0, length: 3 },
    { offset: 95, length: 5 },
  ];
  const plan = planByteRanges(ranges, 100, "image/png", "b0undary");
  const body = plan.parts.map(({ head, range }) => head + "x".repeat(range.length)).join("") + plan.tail;
  expect(Buffer.byteLength(body)).toBe(plan.lengthBytes);
  expect(body).toBe(
    "--b0undary\r\nContent-Type: image/png\r\nContent-Range: bytes 0-2/100\r\n\r\nxxx" +
      "\r\n--b0undary\r\nContent-Type: image/png\r\nContent-Range: bytes 95-99/100\r\n\r\nxxxxx\r\n--b0undary--\r\n",
  );
  expect(plan.contentType).toBe("multipart/byteranges; boundary=b0undary");
});
