import { expect, test } from "bun:test";
import { WEBHOOK_EVENTS as knownToServer } from "../../../src/features/messaging/webhooks/types.ts";
import { WEBHOOK_EVENTS as knownToPage } from "../../../src/client/features/admin/types.ts";

// The client imports nothing from the server, so it has a copy of the server's list.
test("the administration offers the same webhook events as the server", () => {
  expect([...knownToPage]).toEqual([...knownToServer]);
});
