/** The messages between the server and a process that reads files for it, one request after another. */

/** To the process. */
export interface RequestMessage<Request> {
  readonly id: number;
  readonly request: Request;
}

/** From the process: it is ready (`unconfined`: why it could not be denied the network, if so); a part of a long reply; the end of the reply; or why there is none. */
export type ReplyMessage<Reply> =
  | { readonly type: "hello"; readonly unconfined?: string }
  | { readonly type: "part"; readonly id: number; readonly part: string }
  | { readonly type: "done"; readonly id: number; readonly reply: Reply }
  | { readonly type: "failed"; readonly id: number; readonly reason: string };
