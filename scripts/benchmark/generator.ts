/**
 * The load generator. It runs as a separate process and does as little as possible, as it shares the cores with the
 * measured server: it keeps its sockets open, builds requests before the clock starts, and parses only the status and
 * length of a response. Usage: a Job as JSON on stdin, the JobResult as JSON on stdout.
 */
import { readFileSync } from "node:fs";
import type { Socket } from "bun";
import type { RecordedResponse, Job, JobResult, RequestTemplate } from "./job.ts";
import { percentile } from "./measure.ts";

const STREAM_BLOCK_BYTES = 1 << 20;
const STORED_BODY_BYTES_MAX = 64 << 10;
const HEAD_END = Buffer.from("\r\n\r\n");

interface Placeholder {
  offset: number;
  width: number;
}

/** A request in memory: complete, or its beginning and end if the body is larger than a block. */
interface PreparedRequest {
  opening: Buffer;
  placeholders: Placeholder[];
  streamedBytes: number;
  closing: Buffer;
}

function findPlaceholders(text: Buffer, from: number, to: number): Placeholder[] {
  return [...text.toString("latin1", from, to).matchAll(/#{8}|#{4}/g)].map((match) => ({
    offset: from + match.index,
    width: match[0].length,
  }));
}

function prepare(template: RequestTemplate, block: Buffer): PreparedRequest {
  const prefix = Buffer.from(template.prefix ?? "");
  const suffix = Buffer.from(template.suffix ?? "");
  const file = template.body !== undefined && "file" in template.body ? readFileSync(template.body.file) : undefined;
  const randomBytes = template.body !== undefined && "random" in template.body ? template.body.random : 0;
  const bodyBytes = file?.length ?? randomBytes;
  const total = prefix.length + bodyBytes + suffix.length;
  const length = template.prefix === undefined && template.body === undefined ? "" : `Content-Length: ${total}\r\n`;
  const head = Buffer.from(`${template.head}${length}\r\n`);
  const streamed = file === undefined && bodyBytes > STREAM_BLOCK_BYTES;
  const body = file ?? (streamed ? Buffer.alloc(0) : Buffer.from(block.subarray(0, bodyBytes)));
  if (file === undefined && body.length >= 8) body.write("########", 0, "latin1");
  const closing = streamed ? suffix : Buffer.alloc(0);
  const opening = Buffer.concat(streamed ? [head, prefix] : [head, prefix, body, suffix]);
  const searchedBytes = Math.min(opening.length, head.length + prefix.length + 256);
  return {
    opening,
    placeholders: findPlaceholders(opening, 0, searchedBytes),
    streamedBytes: streamed ? bodyBytes : 0,
    closing,
  };
}

function fillPlaceholders(buffer: Buffer, placeholders: Placeholder[], number: number): void {
  const digits = number.toString(16).padStart(8, "0");
  for (const placeholder of placeholders)
    buffer.write(digits.slice(8 - placeholder.width), placeholder.offset, "latin1");
}

class Connection {
  private socket: Socket | undefined;
  private queue: Buffer[] = [];
  private remainingStreamBytes = 0;
  private closing: Buffer = Buffer.alloc(0);
  private head: Buffer = Buffer.alloc(0);
  private remainingBodyBytes = -1;
  private isBodyStored = false;
  private bodyParts: Buffer[] = [];
  private status = 0;
  private startedAt = 0;
  private number = 0;
  private readonly block: Buffer;
  busy = false;

  constructor(
    private readonly load: Load,
    private readonly requests: PreparedRequest[],
    block: Buffer,
  ) {
    this.block = Buffer.from(block);
  }

  async open(host: string, port: number): Promise<void> {
    this.socket = await Bun.connect({
      hostname: host,
      port,
      socket: {
        data: (_, data) => this.receive(data),
        drain: () => this.flush(),
        close: () => this.disconnect("the server closed the connection"),
        error: (_, error) => this.disconnect(error.message),
      },
    });
  }

  send(number: number, dueAt: number): void {
    const request = this.requests[number % this.requests.length];
    if (request === undefined) throw new Error("a job needs a template");
    this.busy = true;
    this.number = number;
    this.startedAt = dueAt;
    this.remainingBodyBytes = -1;
    fillPlaceholders(request.opening, request.placeholders, number);
    this.queue = [request.opening];
    this.remainingStreamBytes = request.streamedBytes;
    this.closing = request.closing;
    this.flush();
  }

  end(): void {
    this.busy = false;
    this.socket?.end();
  }

  /** Closes the connection at once, in the middle of a request. */
  cut(): void {
    this.busy = false;
    this.queue = [];
    this.remainingStreamBytes = 0;
    this.socket?.terminate();
  }

  private flush(): void {
    for (;;) {
      const next = this.queue[0];
      if (next === undefined) {
        if (this.remainingStreamBytes > 0) {
          const buffer = this.block.subarray(0, Math.min(this.block.length, this.remainingStreamBytes));
          buffer.writeUInt32LE(this.number, 0);
          buffer.writeUIntLE(this.remainingStreamBytes, 4, 6);
          this.remainingStreamBytes -= buffer.length;
          this.queue.push(buffer);
          if (this.remainingStreamBytes === 0 && this.closing.length > 0) this.queue.push(this.closing);
          continue;
        }
        return;
      }
      const written = this.socket?.write(next) ?? 0;
      if (this.load.isCutAfter(Math.max(0, written))) return;
      if (written < next.length) {
        this.queue[0] = next.subarray(Math.max(0, written));
        return;
      }
      this.queue.shift();
    }
  }

  private receive(data: Buffer): void {
    this.load.bytesReceived += data.length;
    if (!this.busy) return;
    let rest = data;
    if (this.remainingBodyBytes < 0) {
      if (this.head.length > 0) rest = Buffer.concat([this.head, data]);
      const end = rest.indexOf(HEAD_END);
      if (end < 0) {
        this.head = Buffer.from(rest);
        return;
      }
      this.head = Buffer.alloc(0);
      const text = rest.toString("latin1", 0, end);
      this.status = Number(text.slice(9, 12));
      if (this.status < 200) {
        const after = rest.subarray(end + 4);
        if (after.length > 0) this.receive(after);
        return;
      }
      const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
      if (length === undefined && this.status !== 204 && this.status !== 304) {
        this.disconnect(`a response ${this.status} without Content-Length`);
        return;
      }
      this.remainingBodyBytes = Number(length ?? 0);
      this.isBodyStored = this.remainingBodyBytes <= STORED_BODY_BYTES_MAX && this.load.needsBody(this.status);
      this.bodyParts = [];
      rest = rest.subarray(end + 4);
    }
    if (this.isBodyStored) this.bodyParts.push(Buffer.from(rest));
    this.remainingBodyBytes -= rest.length;
    if (this.remainingBodyBytes > 0) return;
    if (this.queue.length > 0 || this.remainingStreamBytes > 0) {
      this.disconnect(
        `responded with ${this.status} before the body was sent: ${Buffer.concat(this.bodyParts).toString().slice(0, 300)}`,
      );
      return;
    }
    this.busy = false;
    this.load.onResponse(this, this.number, this.status, this.startedAt, this.bodyParts);
  }

  private disconnect(cause: string): void {
    if (!this.busy) return;
    this.busy = false;
    this.socket?.terminate();
    this.load.onDisconnect(cause);
  }
}

class Load {
  bytesReceived = 0;
  private bytesSent = 0;
  private readonly latenciesMs: number[] = [];
  private readonly statuses: Record<string, number> = {};
  private readonly responses: RecordedResponse[] = [];
  private readonly connections: Connection[] = [];
  private readonly idle: Connection[] = [];
  private readonly due: number[] = [];
  private failures = 0;
  private firstFailure: string | undefined;
  private startedCount = 0;
  private disconnectedCount = 0;
  private startedAt = 0;
  private lastAt = 0;
  private finish: () => void = () => undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly job: Job) {}

  async run(): Promise<JobResult> {
    const block = Buffer.alloc(STREAM_BLOCK_BYTES);
    for (let at = 0; at < block.length; at += 65_536) crypto.getRandomValues(block.subarray(at, at + 65_536));
    const { connections } = this;
    // Numbers are written into the templates, so each connection has its own. A long list is shared to save memory: a
    // template is used again only after all others, when its last request has been sent.
    const isShared = this.job.templates.length > this.job.connections;
    const sharedRequests = isShared ? this.job.templates.map((template) => prepare(template, block)) : [];
    for (let index = 0; index < this.job.connections; index += 1) {
      const own = isShared ? sharedRequests : this.job.templates.map((template) => prepare(template, block));
      connections.push(new Connection(this, own, block));
    }
    await Promise.all(connections.map((connection) => connection.open(this.job.host, this.job.port)));
    await new Promise<void>((resolve) => {
      this.finish = resolve;
      this.startedAt = performance.now();
      this.lastAt = this.startedAt;
      if (this.job.ratePerSecond !== undefined) this.startPacing(connections, this.job.ratePerSecond);
      else for (const connection of connections) this.sendNext(connection);
    });
    for (const connection of connections) connection.end();
    const sorted = this.latenciesMs.toSorted((a, b) => a - b);
    return {
      requests: sorted.length,
      failures: this.failures,
      ...(this.firstFailure === undefined ? {} : { firstFailure: this.firstFailure }),
      elapsedMs: this.lastAt - this.startedAt,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      maxMs: sorted.at(-1) ?? 0,
      bytesReceived: this.bytesReceived,
      statuses: this.statuses,
      responses: this.responses,
    };
  }

  /** Counts sent bytes, and cuts all connections if the job says so. @returns whether they were cut */
  isCutAfter(sentBytes: number): boolean {
    this.bytesSent += sentBytes;
    if (this.job.cutAfterBytes === undefined || this.bytesSent < this.job.cutAfterBytes) return false;
    for (const connection of this.connections) connection.cut();
    this.lastAt = performance.now();
    this.stop();
    return true;
  }

  needsBody(status: number): boolean {
    return this.job.storeBodies === true || this.responses.length === 0 || status >= 300;
  }

  onResponse(connection: Connection, number: number, status: number, startedAt: number, bodyParts: Buffer[]): void {
    this.lastAt = performance.now();
    this.latenciesMs.push(this.lastAt - startedAt);
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    const isSuccess = (status >= 200 && status < 300) || this.job.accept?.includes(status) === true;
    if (!isSuccess) this.fail(`${status} ${Buffer.concat(bodyParts).toString().slice(0, 400)}`);
    else if (this.job.storeBodies === true || this.responses.length === 0) {
      this.responses.push({ number, body: Buffer.concat(bodyParts).toString() });
    }
    if (this.job.ratePerSecond === undefined) this.sendNext(connection);
    else {
      this.idle.push(connection);
      this.sendDue();
    }
  }

  onDisconnect(cause: string): void {
    this.fail(cause);
    this.disconnectedCount += 1;
    if (this.disconnectedCount === this.job.connections || this.isFinished()) this.stop();
  }

  private fail(cause: string): void {
    this.failures += 1;
    this.firstFailure ??= cause;
  }

  private mayStart(): boolean {
    if (this.job.count !== undefined && this.startedCount >= this.job.count) return false;
    return this.job.durationMs === undefined || performance.now() - this.startedAt < this.job.durationMs;
  }

  private isFinished(): boolean {
    return this.latenciesMs.length + this.disconnectedCount >= this.startedCount && !this.mayStart();
  }

  private stop(): void {
    clearInterval(this.timer);
    this.finish();
  }

  private sendNext(connection: Connection): void {
    if (this.mayStart()) {
      this.startedCount += 1;
      connection.send(this.job.firstNumber + this.startedCount - 1, performance.now());
    } else if (this.isFinished()) this.stop();
  }

  private startPacing(connections: Connection[], ratePerSecond: number): void {
    this.idle.push(...connections);
    const gapMs = 1000 / ratePerSecond;
    let nextAt = this.startedAt;
    this.timer = setInterval(() => {
      const now = performance.now();
      for (; nextAt <= now && this.mayStart(); nextAt += gapMs) {
        this.startedCount += 1;
        this.due.push(nextAt);
      }
      this.sendDue();
      if (this.due.length === 0 && this.isFinished()) this.stop();
    }, 1);
  }

  private sendDue(): void {
    while (this.idle.length > 0 && this.due.length > 0) {
      const dueAt = this.due.shift() ?? performance.now();
      this.idle.pop()?.send(this.job.firstNumber + this.sent(), dueAt);
    }
  }

  private sentCount = 0;
  private sent(): number {
    this.sentCount += 1;
    return this.sentCount - 1;
  }
}

const job: Job = await Bun.stdin.json();
console.log(JSON.stringify(await new Load(job).run()));
process.exit(0);
