/**
 * Receives the bytes of every upload, in any protocol. It knows the sender, the declared length and the account that
 * reserves space, and disconnects senders that are too slow.
 */
import { requestContextOf } from "../../../http/request-context.ts";
import { DEFAULT_FORM_LIMITS, type Form, readMultipart } from "../../../http/read-multipart.ts";
import { declaredBytes, freeing, readBody } from "../../../http/request-body.ts";
import type { User } from "../../accounts/users/types.ts";
import type { FileService, PendingUpload } from "./service.ts";

/** Who sends a file in one request. */
export interface IncomingFile {
  /** The account whose plan limits the size: the sender, or the owner of the drop box. */
  readonly user: User;
  /** The accounts of which one will own the file; by default only `user`. */
  readonly possibleOwners?: readonly User[];
  /** The request's idempotency key. */
  readonly key: string | null;
  /** Called with each buffer of the file before it is stored, in order. */
  readonly onBytes?: ((buffer: Uint8Array) => void) | undefined;
}

/** An {@link IncomingFile} in a form. */
export interface IncomingForm extends IncomingFile {
  /** `guestFile` for senders without an account: slow ones are disconnected earlier. */
  readonly kind: "file" | "guestFile";
  /** Called before each chunk with the size of the file including that chunk. Throwing ends the upload. */
  readonly checkSize?: (sizeBytes: number) => void;
}

/** Creates the file from the received bytes. */
type Finish<Given extends readonly unknown[], T> = (pendingUpload: PendingUpload, ...given: Given) => Promise<T>;

type Files = Pick<FileService, "beginUpload">;

/**
 * Receives a file in a form. After an error nothing of it remains.
 * @throws AppError as {@link FileService.beginUpload} and {@link readMultipart}; what `finish` throws
 */
export async function receiveForm<T>(
  files: Files,
  request: Request,
  { kind, checkSize, ...sender }: IncomingForm,
  finish: Finish<[form: Form], T>,
): Promise<T> {
  return pending(files, request, sender, true, async (pendingUpload) => {
    const { incoming } = pendingUpload;
    const write = (chunk: Uint8Array) => {
      checkSize?.(incoming.sizeBytes + chunk.length);
      return incoming.write(chunk);
    };
    const form = await readMultipart(request.headers.get("content-type"), request.body, DEFAULT_FORM_LIMITS, {
      beginFile: () => ({ write }),
      pace: requestContextOf(request).beginBody("small"),
      fileKind: kind,
    });
    return finish(pendingUpload, form);
  });
}

/** Receives a file that is the whole body. After an error nothing of it remains. @throws as {@link receiveForm} */
export async function receiveBody<T>(
  files: Files,
  request: Request,
  sender: IncomingFile,
  finish: Finish<[], T>,
): Promise<T> {
  return pending(files, request, sender, false, async (pendingUpload) => {
    await readBody(request, "file", (chunk) => {
      sender.onBytes?.(chunk);
      return pendingUpload.incoming.write(chunk);
    });
    return finish(pendingUpload);
  });
}

/** The bytes of a part of a file, for protocols that reserve the space of the whole file at the start. */
export function incomingBytes(request: Request, kind: IncomingForm["kind"]) {
  return {
    declaredBytes: declaredBytes(request),
    read: (take: (chunk: Uint8Array) => Promise<void> | void) => readBody(request, kind, freeing(take)),
  };
}

async function pending<T>(
  files: Files,
  request: Request,
  { user, key, possibleOwners }: IncomingFile,
  isForm: boolean,
  receive: (pendingUpload: PendingUpload) => Promise<T>,
): Promise<T> {
  const options = { isForm, key, ...(possibleOwners !== undefined && { possibleOwners }) };
  const pendingUpload = files.beginUpload(user, declaredBytes(request), options);
  try {
    return await receive(pendingUpload);
  } finally {
    pendingUpload.discard();
  }
}
