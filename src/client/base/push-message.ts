// Push messages, as the service worker shows them. Anyone who knows a subscription may try to send one, and only the
// push service and the encryption stand in between. So a message is text, and never decides which address opens.

/** What a notification of the system shows. */
export interface PushNotice {
  readonly title: string;
  readonly body: string;
  /** The id of the message: a repeated one replaces the first. */
  readonly tag: string;
  /** The page to open, below the base path. */
  readonly path: `/${string}`;
}

const TITLE_LENGTH_MAX = 200;
const BODY_LENGTH_MAX = 1000;
/** Ids of the API. */
const ID = /^[\w-]{1,64}$/;

const UNREADABLE: PushNotice = { title: "Larder", body: "You have a new notification.", tag: "", path: "/files" };

/** Reads a payload. Browsers require that something is shown, so an unreadable one has a general text. */
export function readPush(payload: string | undefined): PushNotice {
  const { id, title, body, data } = fieldsOf(parse(payload ?? ""));
  if (typeof title !== "string" || title.trim() === "") return UNREADABLE;
  return {
    title: title.slice(0, TITLE_LENGTH_MAX),
    body: typeof body === "string" ? body.slice(0, BODY_LENGTH_MAX) : "",
    tag: typeof id === "string" && ID.test(id) ? id : "",
    path: pathOf(fieldsOf(data)),
  };
}

/** The page about the event of a notification, from a fixed list. @param data untrusted */
export function pathOf({ event, fileId, shareId, nodeId, type }: Readonly<Record<string, unknown>>): `/${string}` {
  if (typeof event !== "string") return "/files";
  if (event === "share.received") {
    if (type === "folder" && isId(shareId)) return `/shared/with-me?share=${shareId}`;
    if (type === "album" && isId(nodeId)) return `/albums/${nodeId}`;
    return type === "file" && isId(nodeId) ? `/shared/with-me?view=${nodeId}` : "/shared/with-me";
  }
  if (event === "share.guessed") return "/shared/by-me";
  if (event === "security.mass_change") return "/history?tab=holds";
  if (event.startsWith("security.") || event.startsWith("device.")) return "/settings/security";
  if (event.startsWith("storage.")) return "/settings/usage";
  if (event.startsWith("server.")) return "/admin/health";
  return isId(fileId) ? `/files?view=${fileId}` : "/files";
}

function isId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}
