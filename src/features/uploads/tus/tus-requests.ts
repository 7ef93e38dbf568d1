/** The HTTP side of tus: the headers of every response, and the requests of accounts and guests. */
import { Elysia } from "elysia";
import { AppError, invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { declaredBytes } from "../../../http/request-body.ts";
import { anyOf, say } from "../../../translations/say.ts";
import { incomingBytes } from "../../library/files/incoming.ts";
import type { KeyedRequest } from "../../library/idempotency/service.ts";
import { isOpen } from "../chunked/store.ts";
import { tusHeadersOf } from "./present.ts";
import {
  CHECKSUM_ALGORITHMS,
  checkMediaType,
  checkVersion,
  overriddenMethod,
  readBytes,
  readChecksum,
  readConcatenation,
  readDeferral,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from "./protocol.ts";
import type { BytesRequest } from "./receive-bytes.ts";
import type { TusProgress, TusService } from "./service.ts";
import type { TusSender, TusUpload } from "./types.ts";

/** A request for a tus upload, and the response headers to set. */
export interface TusRequest {
  readonly sender: TusSender;
  readonly request: Request;
  readonly set: { status?: number | string; headers: Record<string, string | number> };
  /** The path of this sender's uploads, such as `/api/tus`, with the base path. */
  readonly uploadsPath: string;
}

/** Dependencies of {@link TusRequests}. */
export interface TusRequestsOptions {
  readonly tus: TusService;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

/** Reasons to reject bytes while another request sends to the same upload. */
const TAKEN_OVER: ReadonlySet<string> = new Set(["upload_state", "upload_offset"]);

const PATHS = /^\/api\/(tus|public\/[^/]+\/tus)(\/|$)/;

/**
 * Sets the version on every response. Mount it before all guards, so that rejections have it too. A client of another
 * version gets the supported one (tus, Core: 412).
 */
export function tusHeaders() {
  return new Elysia({ name: "tus-headers" }).onRequest(({ request, set }) => {
    if (!PATHS.test(requestContextOf(request).path)) return;
    set.headers["tus-resumable"] = TUS_VERSION;
    if (request.headers.get("tus-resumable") !== TUS_VERSION) set.headers["tus-version"] = TUS_VERSION;
  });
}

/** The headers of the response to OPTIONS (tus, Core). @param limitBytes largest file, if known */
export function capabilities(limitBytes: number | null): Record<string, string> {
  return {
    "tus-version": TUS_VERSION,
    "tus-extension": TUS_EXTENSIONS,
    "tus-checksum-algorithm": CHECKSUM_ALGORITHMS.join(","),
    ...(limitBytes !== null && { "tus-max-size": String(limitBytes) }),
  };
}

/** `/api/tus` below the path of a proxy, so that it works for any host name. */
export function uploadsPathOf(request: Request, path: string): string {
  const base = new URL(requestContextOf(request).baseUrl).pathname;
  return `${base === "/" ? "" : base}${path}`;
}

/** The requests of tus, for accounts and guests alike. */
export class TusRequests {
  readonly #options: TusRequestsOptions;

  constructor(options: TusRequestsOptions) {
    this.#options = options;
  }

  /** POST to the collection of uploads: 201, with Location. @param keyed the request's idempotency key */
  async create(
    tusRequest: TusRequest,
    keyed: (parts: readonly unknown[]) => KeyedRequest | undefined = () => undefined,
  ): Promise<TusProgress> {
    const { sender, request, set, uploadsPath } = tusRequest;
    const { headers } = request;
    checkVersion(headers);
    const concatenation = readConcatenation(headers);
    const lengthBytes = readBytes(headers, "Upload-Length");
    checkLength(lengthBytes, readDeferral(headers), concatenation.kind === "final");
    const hasBytes = headers.has("content-type") && declaredBytes(request) !== 0;
    if (hasBytes) checkMediaType(headers);
    const checksum = hasBytes ? readChecksum(headers) : undefined;
    const metadata = headers.get("upload-metadata") ?? "";
    if (concatenation.kind === "final") this.#options.allowLong(request);
    return withExplainedError(sender, async () => {
      const { tus } = this.#options;
      const creation = { lengthBytes, concatenation, metadata };
      let progress = await tus.create(sender, {
        ...creation,
        keyed: keyed(["tus", lengthBytes ?? null, concatenation, metadata]),
      });
      // A repeated request finds its upload, which may have bytes already. The client learns that from the offset.
      const isNew = progress.offsetBytes === 0 && isOpen(progress.tus.upload) && progress.tus.kind !== "final";
      if (hasBytes && isNew) {
        const bytes = { offsetBytes: 0, checksum, ...this.#bodyOf(tusRequest) };
        progress = await this.#receiveFirst(sender, progress.tus, bytes);
      }
      set.status = 201;
      set.headers["location"] = `${uploadsPath}/${progress.tus.upload.publicId}`;
      setResponseHeaders(tusRequest, progress);
      return progress;
    });
  }

  /** HEAD, or GET for a JSON record. */
  async show(tusRequest: TusRequest, id: string): Promise<TusProgress> {
    const { sender, request } = tusRequest;
    const { tus } = this.#options;
    const found = tus.get(sender, id);
    if (request.method !== "GET") checkVersion(request.headers);
    // A complete upload becomes a file now. After a restart, its bytes are read once more for that.
    this.#options.allowLong(request);
    return withExplainedError(sender, async () => {
      const progress = await tus.progress(sender, found);
      setResponseHeaders(tusRequest, progress);
      return progress;
    });
  }

  /** PATCH: 204, with the new offset. */
  async append(tusRequest: TusRequest, id: string): Promise<Response> {
    const { sender, request, set } = tusRequest;
    const { headers } = request;
    const { tus } = this.#options;
    const found = tus.get(sender, id);
    checkVersion(headers);
    checkMediaType(headers);
    const offsetBytes = readBytes(headers, "Upload-Offset");
    if (offsetBytes === undefined)
      throw invalidField("Upload-Offset", say`Upload-Offset is missing. Send HEAD to get it.`);
    const bytes = { offsetBytes, checksum: readChecksum(headers), ...this.#bodyOf(tusRequest) };
    const lengthBytes = readBytes(headers, "Upload-Length");
    return withExplainedError(sender, async () => {
      setResponseHeaders(tusRequest, await tus.receive(sender, found, bytes, lengthBytes));
      set.status = 204;
      return new Response(null, { status: 204 });
    });
  }

  /** DELETE: 204. */
  async end({ sender, request, set }: TusRequest, id: string): Promise<Response> {
    const { tus } = this.#options;
    const found = tus.get(sender, id);
    checkVersion(request.headers);
    await tus.terminate(found);
    noteAudit(request, { isNotDone: true });
    set.status = 204;
    return new Response(null, { status: 204 });
  }

  /** POST to an upload, for clients that can send no other method. @throws AppError method_not_allowed */
  async override(tusRequest: TusRequest, id: string): Promise<Response> {
    const method = overriddenMethod(tusRequest.request.headers);
    if (method === "PATCH") return this.append(tusRequest, id);
    if (method === "DELETE") return this.end(tusRequest, id);
    if (method === "HEAD") {
      await this.show(tusRequest, id);
      return new Response(null, { status: 200 });
    }
    const allow = ["GET", "HEAD", "PATCH", "DELETE"];
    throw new AppError(
      "method_not_allowed",
      say`POST is not supported at this address. Use ${anyOf(allow)}, or set X-HTTP-Method-Override.`,
      { allow },
    );
  }

  /** Receives the bytes of the request that begins the upload. If they are rejected, the upload is deleted. */
  async #receiveFirst(sender: TusSender, begun: TusUpload, bytes: BytesRequest): Promise<TusProgress> {
    const { tus } = this.#options;
    try {
      return await tus.receive(sender, begun, bytes, undefined);
    } catch (error) {
      // The client of an account finds it in its list or by the idempotency key, and another request may own it by now.
      // No other client knows its address, so it would reserve quota for a day.
      const isOthers = error instanceof AppError && TAKEN_OVER.has(error.reason);
      const isFound = sender.shareId === undefined && !(error instanceof AppError);
      if (!isOthers && !isFound) await tus.terminate(begun);
      throw error;
    }
  }

  #bodyOf({ request, sender }: TusRequest): Pick<BytesRequest, "declaredBytes" | "read"> {
    const bytes = incomingBytes(request, sender.shareId === undefined ? "file" : "guestFile");
    const read: BytesRequest["read"] = async (take) => {
      await bytes.read(take);
      sender.confirm();
      // Allows as much time as the rest of the file needs.
      this.#options.allowLong(request);
    };
    return { ...bytes, read };
  }
}

function setResponseHeaders({ request, set, uploadsPath, sender }: TusRequest, progress: TusProgress): void {
  const { file, tus } = progress;
  Object.assign(
    set.headers,
    tusHeadersOf(progress, (id) => `${uploadsPath}/${id}`),
  );
  const fileId = file?.publicId ?? tus.upload.fileId;
  if (fileId !== undefined && sender.shareId === undefined) set.headers["larder-file-id"] = fileId;
  noteAudit(request, file === undefined ? { isNotDone: true } : { target: { type: "file", id: file.publicId } });
}

async function withExplainedError<T>(sender: TusSender, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw sender.explain(error);
  }
}

/** @throws AppError invalid_field */
function checkLength(lengthBytes: number | undefined, isDeferred: boolean, isFinal: boolean): void {
  if (isFinal) {
    if (lengthBytes === undefined && !isDeferred) return;
    throw invalidField("Upload-Length", say`A final upload gets its length from its parts. Leave out Upload-Length.`);
  }
  if ((lengthBytes === undefined) === isDeferred) return;
  throw invalidField(
    "Upload-Length",
    say`Send Upload-Length. If the length is not known yet, send Upload-Defer-Length: 1.`,
  );
}
