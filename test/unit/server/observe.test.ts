import { expect, test } from "bun:test";
import { BodyPaces } from "../../../src/http/body-pace.ts";
import { ClientAddresses } from "../../../src/http/client-address.ts";
import { beginRequestContext } from "../../../src/http/request-context.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { observeRequests } from "../../../src/server/observability/observe.ts";

test("the client's address is read only for requests that are logged", () => {
  // The system call took a tenth of the time of a small download.
  let addressReads = 0;
  const lines: unknown[] = [];
  const response = (logRequests: "errors" | "all") => {
    const request = new Request("http://larder.test/api/files/file_1");
    beginRequestContext(request, {
      addresses: new ClientAddresses([], silentLog),
      publicUrl: undefined,
      basePath: "",
      isTls: false,
      peerOf: () => `192.0.2.${++addressReads}`,
      keepOpen: () => {},
      bodies: new BodyPaces({ perAddressMax: 1 }),
    });
    const log = { ...silentLog, info: (_message: string, fields?: object) => void lines.push(fields) };
    const observe = observeRequests({ log, logRequests, isDebugging: false, statistics: { note: () => {} } });
    return observe(request, () => new Response());
  };
  void response("errors");
  expect({ addressReads, lines }).toEqual({ addressReads: 0, lines: [] });
  void response("all");
  expect({ addressReads, lines }).toMatchObject({ addressReads: 1, lines: [{ client: "192.0.2.1", status: 200 }] });
});
