// Malformed XML bodies and headers of WebDAV: each request gets a response below 500 within a few seconds, and changes nothing
// outside of its target.
import { describe, expect, test } from "bun:test";
import { toBytes } from "../support/client.ts";
import { type SeededRandom, seededRandom, seedsToRun } from "../support/random.ts";
import { RawConnection, rawRequest } from "../support/raw-http.ts";
import { type ClientAccount, clientServer, dav, newClientAccount, readServerTree } from "./support/account.ts";
import { isLong } from "./support/programs.ts";

const server = clientServer();
/** Requests for each seed and each kind of input. */
const count = isLong ? 3000 : 250;
/** Longest duration of one request in milliseconds. */
const responseMsMax = 10_000;

const BODIES: Record<string, string[]> = {
  PROPFIND: [
    '<?xml version="1.0"?><d:propfind xmlns:d="DAV:"><d:allprop/><d:include><d:supportedlock/></d:include></d:propfind>',
    '<d:propfind xmlns:d="DAV:"><d:propname/></d:propfind>',
    '<propfind xmlns="DAV:"><prop xmlns:oc="http://owncloud.org/ns"><getetag/><oc:size/><x:y xmlns:x="urn:x">&amp;&#65;</x:y></prop></propfind>',
  ],
  PROPPATCH: [
    '<d:propertyupdate xmlns:d="DAV:" xmlns:z="urn:z"><d:set><d:prop><z:a>1 &lt; 2</z:a><z:b xml:lang="de"><z:c/></z:b></d:prop></d:set></d:propertyupdate>',
    '<d:propertyupdate xmlns:d="DAV:"><d:remove><d:prop><x xmlns=""/></d:prop></d:remove></d:propertyupdate>',
  ],
  LOCK: [
    '<d:lockinfo xmlns:d="DAV:"><d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/></d:locktype><d:owner><d:href>me</d:href></d:owner></d:lockinfo>',
  ],
};

/** Parts that break a parser that trusts its input. */
const FRAGMENTS = [
  '<!DOCTYPE x [<!ENTITY a "aaaa">]>',
  '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
  "&a;",
  "&#0;",
  "&#x110000;",
  "&#xD800;",
  "]]>",
  "<![CDATA[",
  "<!--",
  "<?xml",
  "<?pi",
  'xmlns:d=""',
  'xmlns="',
  "<d:x",
  "</d:x>",
  "<d:d:d/>",
  "<:/>",
  "<a b=c>",
  "<a b='1' b='2'/>",
  "\u0000",
  "\uFFFE",
  "\uFEFF",
  "<d:prop>".repeat(200),
  "<d:allprop/>".repeat(500),
  `<x xmlns="${"n".repeat(5000)}"/>`,
  "__proto__",
  "<constructor/>",
];

const IF_PARTS = [
  "(",
  ")",
  "<",
  ">",
  "[",
  "]",
  "Not ",
  "not",
  '"etag"',
  'W/"x"',
  "urn:uuid:",
  "opaquelocktoken:",
  "DAV:no-lock",
  "http://",
  "/dav/a",
  " ",
  "\t",
  ",",
  "%",
  "é",
  "x".repeat(3000),
];
const PATHS = [
  "/dav/",
  "/dav/f.txt",
  "/dav/none",
  "/dav/folder",
  "/remote.php/webdav/f.txt",
  "/remote.php/dav/uploads/x/y",
  "/dav/%",
  "/dav/%ff",
  "/dav/%00",
  "/dav/%2e%2e/x",
  "/dav/a%2fb",
  "/dav//f.txt",
  "/remote.php/dav/files/x/",
  "/ocs/v1.php/cloud/user",
];
const METHODS = [
  "PROPFIND",
  "PROPPATCH",
  "LOCK",
  "UNLOCK",
  "MKCOL",
  "COPY",
  "MOVE",
  "PUT",
  "DELETE",
  "OPTIONS",
  "HEAD",
  "GET",
  "POST",
  "REPORT",
  "SEARCH",
];
const HEADER_VALUES: Record<string, string[]> = {
  depth: ["0", "1", "infinity", "2", "-1", "", "infinity, 0", "٣"],
  overwrite: ["T", "F", "t", "", "x"],
  timeout: ["Second-1", "Infinite", "Second-99999999999999999999", "Second-", "Infinite, Second-5", ""],
  destination: [
    "/dav/b",
    "dav/b",
    "http://other.example/dav/b",
    "//",
    "http://[::",
    "/dav/../x",
    "/dav/%2f",
    "",
    "/api/files",
    "/dav/%zz",
  ],
  "lock-token": ["<urn:uuid:x>", "x", "<>", "<", ""],
  "x-oc-mtime": ["1.5", "-1", "NaN", "1e400", "99999999999999999", ""],
  "oc-checksum": ["SHA256:x", ":", "MD5:", "SHA1:da39a3ee5e6b4b0d3255bfef95601890afd80709", ""],
  "oc-total-length": ["-1", "1e9", "x"],
  range: ["bytes=-", "bytes=9-1", "bytes=0-0,0-0"],
  "content-range": ["bytes 0-1/2", "x"],
};

/** Removes, repeats or inserts parts of a text. */
function mutate(text: string, random: SeededRandom): string {
  let mutated = text;
  for (let change = 0; change <= random.below(4); change += 1) {
    const at = random.below(mutated.length + 1);
    const end = Math.min(mutated.length, at + random.below(30));
    const insert = random.pick([
      random.pick(FRAGMENTS),
      mutated.slice(at, end).repeat(2),
      "",
      String.fromCodePoint(random.below(0x2fff)),
    ]);
    mutated = mutated.slice(0, at) + insert + mutated.slice(random.chance(0.5) ? at : end);
  }
  return mutated;
}

/** A value of the header `If` of random parts. */
function randomIf(random: SeededRandom): string {
  return Array.from({ length: 1 + random.below(12) }, () => random.pick(IF_PARTS)).join("");
}

/** Sends a request as bytes, because `fetch` refuses or changes some of these headers. @returns its status */
async function statusOf(
  { authorization }: ClientAccount,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<number> {
  const connection = await RawConnection.open(server().port);
  const lines = Object.entries({
    host: "127.0.0.1",
    authorization,
    connection: "close",
    "content-length": String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${Buffer.from(value).toString("latin1")}`);
  await connection.write(rawRequest([`${method} ${path} HTTP/1.1`, ...lines], body));
  try {
    return (await connection.response(method, responseMsMax)).status;
  } catch (error) {
    const sent = `${method} ${path} ${JSON.stringify(headers)} ${Buffer.from(body).toString().slice(0, 2000)}`;
    throw new Error(`no response to ${sent}`, { cause: error });
  } finally {
    connection.cut();
  }
}

describe("malformed input", () => {
  for (const seed of seedsToRun([1])) {
    test(`bodies, seed ${seed}`, async () => {
      const account = await newClientAccount(server());
      await account.client.stored("f", { name: "f.txt" });
      const random = seededRandom(seed);
      for (let index = 0; index < count; index += 1) {
        const method = random.pick(Object.keys(BODIES));
        const text = mutate(random.pick(BODIES[method] ?? []), random);
        const body = random.chance(0.1) ? random.bytes(200) : toBytes(text);
        const response = await dav(server(), account, method, "/dav/f.txt", { headers: { depth: "0" }, body });
        const { status } = response;
        if (status === 200 || status === 201) {
          const token = response.headers.get("lock-token") ?? "";
          await dav(server(), account, "UNLOCK", "/dav/f.txt", { headers: { "lock-token": token } });
        }
        const isFine = status >= 200 && status < 500;
        expect({ method, body: isFine ? "" : text, status: isFine ? 200 : status }).toEqual({
          method,
          body: "",
          status: 200,
        });
      }
      expect([...(await readServerTree(account)).keys()]).toEqual(["f.txt"]);
    });

    test(`headers and addresses, seed ${seed}`, async () => {
      const account = await newClientAccount(server());
      const other = await newClientAccount(server());
      await other.client.stored("theirs", { name: "theirs.txt" });
      const random = seededRandom(seed);
      const names = Object.keys(HEADER_VALUES);
      for (let index = 0; index < count; index += 1) {
        if (index % 50 === 0) await account.client.upload("f", { name: "f.txt", fields: { onConflict: "version" } });
        const [method, path] = [random.pick(METHODS), random.pick(PATHS)];
        const headers: Record<string, string> = random.chance(0.5) ? { if: randomIf(random) } : {};
        for (let more = 0; more < random.below(4); more += 1) {
          const name = random.pick(names);
          headers[name] = random.pick(HEADER_VALUES[name] ?? [""]);
        }
        const body = random.chance(0.3) ? toBytes(random.pick(Object.values(BODIES).flat())) : new Uint8Array();
        const status = await statusOf(account, method, path, headers, body);
        // 501: an unknown method. 502: a destination on another host. 507: a limit of the account.
        const isFine = status < 500 || status === 501 || status === 502 || status === 507;
        if (!isFine)
          throw new Error(`${status} for ${method} ${path} ${JSON.stringify(headers)} ${Buffer.from(body).toString()}`);
      }
      expect([...(await readServerTree(other)).keys()]).toEqual(["theirs.txt"]);
      expect(await server().visitor.get("/health/ready")).toMatchObject({ status: 200 });
    });
  }

  test("large, deep and expanding bodies are refused quickly", async () => {
    const account = await newClientAccount(server());
    const propfind = async (body: string) =>
      (await dav(server(), account, "PROPFIND", "/dav/", { headers: { depth: "0" }, body })).status;
    const startedMs = performance.now();
    expect(await propfind(`<d:propfind xmlns:d="DAV:"><d:prop>${"<d:a/>".repeat(200_000)}</d:prop></d:propfind>`)).toBe(
      413,
    );
    expect(await propfind(`${"<a>".repeat(50_000)}${"</a>".repeat(50_000)}`)).toBe(400);
    const bomb = '<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>';
    expect(await propfind(`${bomb}<d:propfind xmlns:d="DAV:"><d:prop><x>&b;</x></d:prop></d:propfind>`)).toBe(400);
    const attributes = Array.from({ length: 20_000 }, (_, index) => `a${index}="1"`).join(" ");
    expect([207, 400]).toContain(await propfind(`<d:propfind xmlns:d="DAV:" ${attributes}><d:allprop/></d:propfind>`));
    expect(performance.now() - startedMs).toBeLessThan(responseMsMax);
  });
});
