import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { AppError } from "../../../src/errors.ts";
import { type BodyKind, BodyPaces } from "../../../src/http/body-pace.ts";
import { forEachBodyBuffer } from "../../../src/http/request-body.ts";

const HERE = "192.0.2.1";
const THERE = "192.0.2.2";
let nowMs = 0;

beforeEach(() => {
  jest.useFakeTimers();
  nowMs = 0;
});
afterEach(() => {
  jest.useRealTimers();
});

/** Lets time pass, second by second, with all that is due in it. */
async function pass(seconds: number): Promise<void> {
  for (let i = 0; i < seconds * 10; i++) {
    nowMs += 100;
    jest.advanceTimersByTime(100);
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

/** A body that is sent as the test says, and what became of it. */
function send(paces: BodyPaces, kind: BodyKind, address = HERE) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const state = { outcome: "open", bytes: 0 };
  const pace = paces.follow(
    () => address,
    kind,
    () => {},
  );
  forEachBodyBuffer(body, (buffer) => void (state.bytes += buffer.length), pace).then(
    () => (state.outcome = "whole"),
    (error: unknown) => (state.outcome = error instanceof AppError ? error.reason : String(error)),
  );
  return {
    state,
    pace,
    bytes: async (count: number) => {
      if (state.outcome === "open") controller?.enqueue(new Uint8Array(count));
      await settle();
    },
    end: async () => {
      controller?.close();
      await settle();
    },
  };
}

const newPaces = (perAddressMax = 2) => new BodyPaces({ perAddressMax, now: () => nowMs });

test("a small body has fifteen seconds in all, however its bytes come", async () => {
  // A form that came a byte every few seconds lived for two minutes, and then its connection began another.
  const paces = newPaces();
  const slow = send(paces, "small");
  for (let second = 0; second < 14; second++) {
    await slow.bytes(1);
    await pass(1);
  }
  expect(slow.state.outcome).toBe("open");
  await pass(1.1);
  expect(slow.state).toEqual({ outcome: "body_timeout", bytes: 14 });
  expect(paces.waiting).toBe(0);
});

test("a small body that is whole in time is taken", async () => {
  const paces = newPaces();
  const slow = send(paces, "small");
  await pass(14);
  await slow.bytes(1_000);
  await slow.end();
  expect(slow.state).toEqual({ outcome: "whole", bytes: 1_000 });
  expect(paces.waiting).toBe(0);
  await pass(20);
  expect(slow.state.outcome).toBe("whole");
});

test("one address has so many waiting, and those of others are their own", async () => {
  const paces = newPaces(2);
  const first = [send(paces, "small"), send(paces, "guestFile")];
  await pass(2);
  const more = [send(paces, "small"), send(paces, "guestFile"), send(paces, "small", THERE)];
  await pass(1.1);
  expect(more.map(({ state }) => state.outcome)).toEqual(["rate_limited", "rate_limited", "open"]);
  expect(first.map(({ state }) => state.outcome)).toEqual(["open", "open"]);
  expect(paces.waiting).toBe(3);
  await first[0]?.end();
  const next = send(paces, "small");
  await pass(1.1);
  expect(next.state.outcome).toBe("open");
});

test("a body that comes within a second needs no place", async () => {
  const paces = newPaces(2);
  const slow = [send(paces, "small"), send(paces, "small")];
  await pass(2);
  for (let i = 0; i < 5; i++) {
    const quick = send(paces, "small");
    await pass(0.5);
    await quick.bytes(100);
    await quick.end();
    expect(quick.state.outcome).toBe("whole");
  }
  expect(slow.map(({ state }) => state.outcome)).toEqual(["open", "open"]);
});

test("more than a thousand of one address are rejected at once", async () => {
  const paces = newPaces();
  const all = Array.from({ length: 1_030 }, () => send(paces, "small"));
  await settle();
  expect(all.filter(({ state }) => state.outcome === "rate_limited")).toHaveLength(6);
  const other = send(paces, "small", THERE);
  await pass(1.1);
  expect(all.filter(({ state }) => state.outcome === "open")).toHaveLength(2);
  expect(other.state.outcome).toBe("open");
});

test("a guest's file must come at a kilobyte a second on average", async () => {
  const paces = newPaces();
  const steady = send(paces, "guestFile");
  const slow = send(paces, "guestFile");
  for (let second = 0; second < 60; second++) {
    await steady.bytes(1_024);
    await slow.bytes(100);
    await pass(1);
  }
  expect(steady.state).toEqual({ outcome: "open", bytes: 61_440 });
  expect(slow.state.outcome).toBe("body_timeout");
  expect(slow.state.bytes).toBeLessThan(2_000);
});

test("the time that the server itself takes doesn't count", async () => {
  const paces = newPaces();
  let finish = () => {};
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const pace = paces.follow(
    () => HERE,
    "small",
    () => {},
  );
  const reading = forEachBodyBuffer(body, () => new Promise<void>((resolve) => (finish = resolve)), pace);
  controller?.enqueue(new Uint8Array(1));
  await settle();
  await pass(60);
  finish();
  controller?.close();
  await reading;
});

test("a file of a sender who signed in has no bound, and the fields around it have", async () => {
  const paces = newPaces(1);
  const file = send(paces, "file");
  const form = send(paces, "small");
  await form.bytes(10);
  form.pace.become("file");
  await pass(300);
  expect(paces.waiting).toBe(0);
  await form.bytes(10);
  form.pace.become("small");
  await pass(16);
  expect([file.state.outcome, form.state.outcome]).toEqual(["open", "body_timeout"]);
});
