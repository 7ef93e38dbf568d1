/** The programs that connect to Larder, with the address that each needs. */

/** A family of programs that are set up in the same way. */
export interface Family {
  readonly name: FamilyName;
  readonly kind: "phone" | "computer" | "program";
  /** The address to enter: of the server, of WebDAV, or of WebDAV as the program itself writes it. */
  readonly address: "server" | "webdav" | "gnome" | "rclone";
}

/** The names of the families. */
export type FamilyName =
  | "nextcloud-phone"
  | "webdav-phone"
  | "desktop-client"
  | "windows"
  | "macos"
  | "linux"
  | "rclone"
  | "other";

/** The families, in display order. */
export const FAMILIES: readonly Family[] = [
  { name: "nextcloud-phone", kind: "phone", address: "server" },
  { name: "webdav-phone", kind: "phone", address: "webdav" },
  { name: "desktop-client", kind: "computer", address: "server" },
  { name: "windows", kind: "computer", address: "webdav" },
  { name: "macos", kind: "computer", address: "webdav" },
  { name: "linux", kind: "computer", address: "gnome" },
  { name: "rclone", kind: "program", address: "rclone" },
  { name: "other", kind: "program", address: "webdav" },
];

/**
 * The address to enter in a program of this family.
 * @param server the address of the server
 */
export function addressFor({ address }: Family, username: string, server: string): string {
  switch (address) {
    case "server":
      return server;
    case "webdav":
      return `${server}/dav/`;
    // GNOME Files has its own schemes for WebDAV.
    case "gnome":
      return `${server.replace(/^http/, "dav")}/dav/`;
    // rclone uploads in chunks only to this form of the address.
    case "rclone":
      return `${server}/remote.php/dav/files/${encodeURIComponent(username)}/`;
  }
}

/** Whether this address works only on the computer that the browser runs on. */
export function isLocalAddress(server: string): boolean {
  return /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(server).hostname);
}

/** The command that sets up rclone. `rclone obscure -` can't ask for the password: it does not read from a terminal. */
export function rcloneCommand(address: string, username: string, password: string): string {
  return `rclone config create larder webdav url=${quote(address)} vendor=nextcloud user=${quote(username)} pass=${password} --obscure`;
}

/** As one word of a command for Unix shells and PowerShell. */
function quote(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/**
 * What a phone reads from the QR code: for the Nextcloud app everything it needs to sign in, for others the address.
 * That app decodes the user name and the password, but not in every version the address.
 */
export function qrValue(family: Family, username: string, password: string, server: string): string | undefined {
  if (family.kind !== "phone") return undefined;
  if (family.name !== "nextcloud-phone") return addressFor(family, username, server);
  const secrets = `user:${encodeURIComponent(username)}&password:${encodeURIComponent(password)}`;
  return `nc://login/server:${server}&${secrets}`;
}
