import { expect, test } from "bun:test";
import type { SessionPrincipal } from "../../../../src/features/accounts/auth/principal.ts";
import { invariant } from "../../../../src/lib/invariant.ts";
import { notificationBench } from "./support.ts";

const HOUR_MS = 60 * 60_000;
const subscription = JSON.stringify({ endpoint: "https://push.example.org/1", keys: { p256dh: "k", auth: "a" } });

test("a browser gets nothing once its sign-in has expired, not even security messages", async () => {
  const bench = notificationBench();
  const { user, session } = bench.account();
  invariant(session !== undefined, "the account of the bench is signed in");
  bench.db.sqlite
    .query(
      `INSERT INTO sessions (public_id, user_id, kind, created_at, expires_at, last_seen_at)
       VALUES (?1, ?2, 'web', 0, ?3, 0)`,
    )
    .run(session.publicId, user.id, bench.clock.ms + HOUR_MS);
  const principal: SessionPrincipal = { user, session };
  await bench.browserPush.subscribe(principal, { pushToken: subscription });
  const send = async (category: "shares" | "security") =>
    (await bench.notifications.push(principal, { title: "t", body: "b", category })).deliveries[0]?.status;
  expect([await send("shares"), await send("security")]).toEqual(["queued", "queued"]);
  bench.clock.ms += HOUR_MS;
  expect([await send("shares"), await send("security")]).toEqual(["inbox_only", "inbox_only"]);
  // What was queued before the end is not sent either.
  bench.dispatcher.start();
  await bench.idle();
  expect(bench.channels.sent).toEqual([]);
});
