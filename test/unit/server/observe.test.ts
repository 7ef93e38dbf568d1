import { expect, test } from "bun:test";
import { BodyPaces } from "../../../src/http/body-pace.ts";
import { ClientAddresses } from "../../../src/http/client-address.ts";
import { beginRequestContext } from "../../../src/http/request-context.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { observeRequests } from "../../../src/server/observability/observe.ts";

test("a request that is no line of the log is not asked for its client's address", () => {
  // It cost every download a call of the system, and a tenth of its time.
  let asked = 0;
  const lines: unknown[] = [];
  const response = (logRequests: "errors" | "all") => {
    const request = new Request("http://larder.test/api/files/file_1");
    beginRequestContext(request, {
      addresses: new ClientAddresses([], silentLog),
      publicUrl: undefined,
      basePath: "",
      isTls: false,
      peerOf: () => `192.0.2.${++asked}`,
      keepOpen: () => {},
      bodies: new BodyPaces({ perAddressMax: 1 }),
    });
    const log = { ...silentLog, info: (_message: string, fields?: object) => void lines.push(fields) };
    const observe = observeRequests({ log, logRequests, isDebugging: false, statistics: { note: () => {} } });
    return observe(request, () => new Response());
  };
  void response("errors");
  expect({ asked, lines }).toEqual({ asked: 0, lines: [] });
  void response("all");
  expect({ asked, lines }).toMatchObject({ asked: 1, lines: [{ client: "192.0.2.1", status: 200 }] });
});
