import { describe, expect, test } from "bun:test";
import { AppError } from "../../../src/errors.ts";
import { BodyPaces } from "../../../src/http/body-pace.ts";
import type { FormLimits } from "../../../src/http/form-scanner.ts";
import { DEFAULT_FORM_LIMITS, readMultipart } from "../../../src/http/read-multipart.ts";
import { ClientGoneError } from "../../../src/http/request-body.ts";

const BOUNDARY = "----larder-7f3a";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

interface Read {
  fields: Record<string, string[]>;
  fieldsAtFile: string[];
  fileName: string | undefined;
  declaredType: string | undefined;
  content: Buffer;
}

function streamOf(buffers: Uint8Array[], failure?: Error): ReadableStream<Uint8Array> {
  const rest = [...buffers];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = rest.shift();
      if (next !== undefined) controller.enqueue(next);
      else if (failure === undefined) controller.close();
      else controller.error(failure);
    },
  });
}

/** The pace of a form from a sender who signed in. */
const OWN_FILE = {
  get pace() {
    return new BodyPaces({ perAddressMax: 1 }).follow(
      () => "192.0.2.1",
      "small",
      () => {},
    );
  },
  fileKind: "file",
} as const;

async function read(
  buffers: Uint8Array[],
  options: { type?: string | null; limits?: Partial<FormLimits>; failure?: Error; slowSink?: boolean } = {},
): Promise<Read> {
  const content: Buffer[] = [];
  let fieldsAtFile: string[] = [];
  const form = await readMultipart(
    options.type === undefined ? TYPE : options.type,
    streamOf(buffers, options.failure),
    { ...DEFAULT_FORM_LIMITS, ...options.limits },
    {
      ...OWN_FILE,
      beginFile(_file, fieldsSoFar) {
        fieldsAtFile = [...fieldsSoFar.keys()];
        return {
          write(buffer) {
            const copy = Buffer.from(buffer);
            if (options.slowSink !== true) {
              content.push(copy);
              return undefined;
            }
            return Promise.resolve().then(() => {
              content.push(copy);
              return undefined;
            });
          },
        };
      },
    },
  );
  return {
    fields: Object.fromEntries([...form.fields].map(([name, values]) => [name, [...values]])),
    fieldsAtFile,
    fileName: form.file.fileName,
    declaredType: form.file.declaredType,
    content: Buffer.concat(content),
  };
}

function part(headers: string[], content: string | Uint8Array, boundary = BOUNDARY): Buffer {
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\n${headers.join("\r\n")}\r\n\r\n`, "utf8"),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
}

const text = (name: string, value: string | Uint8Array): Buffer =>
  part([`Content-Disposition: form-data; name="${name}"`], value);
const file = (content: string | Uint8Array, fileName = "a.bin"): Buffer =>
  part([`Content-Disposition: form-data; name="file"; filename="${fileName}"`, "Content-Type: image/png"], content);
const END = Buffer.from(`--${BOUNDARY}--\r\n`);
const form = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, END]);

async function rejection(promise: Promise<unknown>): Promise<AppError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`expected an AppError, got ${String(error)}`);
  return error;
}

describe("reading a form", () => {
  test("fields before and after the file are taken, repeated ones in order", async () => {
    const body = form(
      text("folder", "/Fotos"),
      text("tags", "a"),
      file("hello"),
      text("tags", "b"),
      text("isPublic", ""),
    );
    const result = await read([body]);
    expect(result.fields).toEqual({ folder: ["/Fotos"], tags: ["a", "b"], isPublic: [""] });
    expect(result.fieldsAtFile).toEqual(["folder", "tags"]);
    expect(result.content.toString()).toBe("hello");
    expect(result.fileName).toBe("a.bin");
    expect(result.declaredType).toBe("image/png");
  });

  test("a body cut anywhere in two gives the same form", async () => {
    const body = form(text("folder", "/x"), file("a\r\nb\r\n--c", "日本.bin"), text("tags", "late"));
    for (let at = 0; at <= body.length; at++) {
      const result = await read([body.subarray(0, at), body.subarray(at)]);
      expect(result.fields).toEqual({ folder: ["/x"], tags: ["late"] });
      expect(result.content.toString()).toBe("a\r\nb\r\n--c");
      expect(result.fileName).toBe("日本.bin");
    }
  });

  test("a body sent byte by byte gives the same form, to a slow sink too", async () => {
    const body = form(text("folder", "/x"), file(`\r\n--${BOUNDARY.slice(0, -1)}!\r\n`));
    const bytes = Array.from(body, (byte) => Uint8Array.of(byte));
    for (const slowSink of [false, true]) {
      const result = await read(bytes, { slowSink });
      expect(result.content.toString()).toBe(`\r\n--${BOUNDARY.slice(0, -1)}!\r\n`);
    }
  });

  test("random contents full of near-boundaries, cut at random places, arrive as they were", async () => {
    const random = generator(20_260_701);
    for (let round = 0; round < 1500; round++) {
      const boundary = round % 3 === 0 ? "-".repeat(1 + random(20)) : round % 3 === 1 ? "b" : BOUNDARY;
      const delimiter = `\r\n--${boundary}`;
      const near = [
        "\r",
        "\n",
        "\r\n",
        "\r\n-",
        "\r\n--",
        delimiter.slice(0, -1),
        "--",
        "x",
        "\r\r\n--",
        boundary.slice(1),
      ];
      let content = "";
      for (let i = random(40); i > 0; i--) content += near[random(near.length)] ?? "";
      while (content.includes(delimiter) || `\r\n${content}`.startsWith(delimiter)) {
        content = content.replaceAll(delimiter, "").replace(/^-+/, "");
        if (`\r\n${content}`.startsWith(delimiter)) content = `.${content}`;
      }
      // The content's own end must not make an earlier delimiter together with the real one.
      if (`${content}\r\n--${boundary}`.indexOf(delimiter) !== content.length) continue;
      const body = Buffer.concat([
        part(['Content-Disposition: form-data; name="file"; filename="n"'], content, boundary),
        part(['Content-Disposition: form-data; name="after"'], String(round), boundary),
        Buffer.from(`--${boundary}--`),
      ]);
      const buffers: Uint8Array[] = [];
      for (let at = 0; at < body.length; ) {
        const length = 1 + random(random(2) === 0 ? 3 : 30);
        buffers.push(body.subarray(at, at + length));
        at += length;
      }
      const result = await read(buffers, {
        type: `multipart/form-data; boundary=${boundary}`,
        slowSink: random(2) === 0,
      });
      expect(result.content.toString()).toBe(content);
      expect(result.fields).toEqual({ after: [String(round)] });
    }
  });

  test("an empty file and an empty field are read as empty", async () => {
    const result = await read([form(file(""), text("description", ""))]);
    expect(result.content.length).toBe(0);
    expect(result.fields).toEqual({ description: [""] });
  });

  test("a preamble, blanks behind a boundary and an epilogue are skipped (RFC 2046 §5.1.1)", async () => {
    const body = Buffer.from(
      `This is a form.\r\n--${BOUNDARY} \t\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\ndata\r\n--${BOUNDARY}--\r\nbye`,
    );
    expect((await read([body])).content.toString()).toBe("data");
  });

  test("a quoted boundary and parameters around it are understood", async () => {
    const type = `Multipart/Form-Data; charset=utf-8; boundary="${BOUNDARY}"; x=y`;
    expect((await read([form(file("q"))], { type })).content.toString()).toBe("q");
  });
});

/** The name that is read from a part with this header. */
async function nameOf(disposition: string | Buffer): Promise<string | undefined> {
  const head = Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\n`),
    Buffer.from(disposition),
    Buffer.from("\r\n\r\nx\r\n"),
  ]);
  return (await read([Buffer.concat([head, END])])).fileName;
}

describe("file names in forms", () => {
  test.each([
    ['Content-Disposition: form-data; name="file"; filename="Ünïcødé 日本 🎉.txt"', "Ünïcødé 日本 🎉.txt"],
    ['Content-Disposition: form-data; name="file"; filename="a%22b.txt"', 'a"b.txt'],
    ['Content-Disposition: form-data; name="file"; filename="a\\"b.txt"', 'a"b.txt'],
    ['Content-Disposition: form-data; name="file"; filename="C:\\Fotos\\b.txt"', "C:\\Fotos\\b.txt"],
    ['Content-Disposition: form-data; name="file"; filename="a;b=c.txt"', "a;b=c.txt"],
    ["content-disposition:form-data;name=file;filename=bare.txt", "bare.txt"],
    ["Content-Disposition: form-data; name=\"file\"; filename*=UTF-8''%E2%82%AC.txt", "€.txt"],
    ['Content-Disposition: form-data; name="file"; filename="e.txt"; filename*=UTF-8\'\'%E2%82%AC.txt', "€.txt"],
    ['Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'%E2%82.txt; filename="e.txt"', "e.txt"],
    ['Content-Disposition: form-data; name="file"', undefined],
  ])("%s", async (disposition, expected) => {
    expect(await nameOf(disposition)).toBe(expected);
  });

  test("a name in an old 8-bit code keeps its letters", async () => {
    const header = Buffer.from('Content-Disposition: form-data; name="file"; filename="\xfcber.txt"', "latin1");
    expect(await nameOf(header)).toBe("über.txt");
  });
});

describe("forms that are rejected", () => {
  test.each([
    ["no content type", null],
    ["another content type", "application/json"],
    ["another multipart", `multipart/mixed; boundary=${BOUNDARY}`],
  ])("%s is 415", async (_name, type) => {
    expect((await rejection(read([form(file("x"))], { type }))).reason).toBe("unsupported_media_type");
  });

  test.each([
    ["no boundary parameter", "multipart/form-data"],
    ["an empty boundary", 'multipart/form-data; boundary=""'],
    ["a boundary of 71 characters", `multipart/form-data; boundary=${"b".repeat(71)}`],
    ["a boundary beyond ASCII", 'multipart/form-data; boundary="bé"'],
  ])("%s is malformed", async (_name, type) => {
    expect((await rejection(read([form(file("x"))], { type }))).reason).toBe("invalid_multipart");
  });

  const BAD: [string, Buffer][] = [
    ["an empty body", Buffer.alloc(0)],
    ["a body without the boundary", Buffer.from("just some text")],
    ["a truncated file", form(file("hello")).subarray(0, -END.length - 4)],
    ["a missing closing boundary", file("hello")],
    ["half a closing boundary", form(file("hello")).subarray(0, -3)],
    ["something else behind the boundary", Buffer.from(`--${BOUNDARY}x\r\n\r\n\r\n--${BOUNDARY}--`)],
    ["a part without headers", Buffer.from(`--${BOUNDARY}\r\n\r\nx\r\n--${BOUNDARY}--`)],
    ["a part without a name", form(part(["Content-Disposition: form-data"], "x"))],
    ["a part that is no form data", form(part(['Content-Disposition: attachment; name="file"'], "x"))],
    ["a header line without a colon", form(part(["Content-Disposition form-data"], "x"))],
    [
      "base64 inside",
      form(
        part(
          ['Content-Disposition: form-data; name="file"; filename="a"', "Content-Transfer-Encoding: base64"],
          "eA==",
        ),
      ),
    ],
    ["too much before the first boundary", Buffer.concat([Buffer.alloc(70_000, "p"), form(file("x"))])],
    ["too much behind the last boundary", Buffer.concat([form(file("x")), Buffer.alloc(70_000, "p")])],
    [
      "endless part headers",
      form(part([`X-Long: ${"h".repeat(20_000)}`, 'Content-Disposition: form-data; name="file"'], "x")),
    ],
    ["more than 100 parts", form(...Array.from({ length: 101 }, () => text("t", "x")), file("x"))],
  ];
  test.each(BAD)("%s is malformed", async (_name, body) => {
    expect((await rejection(read([body]))).reason).toBe("invalid_multipart");
    expect((await rejection(read(Array.from(body, (byte) => Uint8Array.of(byte))))).reason).toBe("invalid_multipart");
  });

  test("a form without, with two, or with a misnamed file names the field", async () => {
    const none = await rejection(read([form(text("folder", "/"))]));
    const two = await rejection(read([form(file("a"), file("b"))]));
    const misnamed = await rejection(
      read([form(part(['Content-Disposition: form-data; name="upload"; filename="a"'], "x"))]),
    );
    const unchosen = await rejection(
      read([form(part(['Content-Disposition: form-data; name="file"; filename=""'], ""))]),
    );
    for (const error of [none, two, misnamed, unchosen]) expect(error.reason).toBe("invalid_field");
    expect([none, two, unchosen].map((error) => error.details["field"])).toEqual(["file", "file", "file"]);
    expect(misnamed.details["field"]).toBe("upload");
  });

  test("text fields are bounded one by one and together, and must be UTF-8", async () => {
    const long = await rejection(
      read([form(text("description", "x".repeat(101)), file("a"))], { limits: { fieldBytes: 100 } }),
    );
    expect([long.reason, long.details["field"], long.details["limit"]]).toEqual(["invalid_field", "description", 100]);
    const many = form(...Array.from({ length: 9 }, () => text("t", "x".repeat(32 * 1024))), file("a"));
    expect((await rejection(read([many]))).details["limit"]).toBe(DEFAULT_FORM_LIMITS.fieldsTotalBytes);
    const broken = await rejection(read([form(text("description", Uint8Array.of(0xc3, 0x28)), file("a"))]));
    expect([broken.reason, broken.details["field"]]).toEqual(["invalid_field", "description"]);
  });
});

describe("when reading ends early", () => {
  test("a client that goes away is distinguished", async () => {
    const gone = new DOMException("The connection was closed.", "AbortError");
    const started = read([form(file("hello")).subarray(0, 120)], { failure: gone });
    expect(started).rejects.toBeInstanceOf(ClientGoneError);
  });

  test("an error of the sink stops the reading at once and comes out unchanged", async () => {
    let pulled = 0;
    let cancelled = false;
    const head = file("").subarray(0, -2);
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          controller.enqueue(pulled++ === 0 ? head : new Uint8Array(1000));
        },
        cancel() {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const full = new Error("disk full");
    const reading = readMultipart(TYPE, endless, DEFAULT_FORM_LIMITS, {
      ...OWN_FILE,
      beginFile: () => ({
        write: () => {
          if (pulled > 3) throw full;
        },
      }),
    });
    expect(await reading.catch((error: unknown) => error)).toBe(full);
    expect(pulled).toBe(4);
    expect(cancelled).toBe(true);
  });
});

/** A small repeatable generator: the next integer below `bound`. */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % bound;
  };
}
