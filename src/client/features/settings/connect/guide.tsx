import type { ReactNode } from "react";
import { CopyField } from "../../../ui/copy-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { addressFor, type Family, isLocalAddress, rcloneCommand } from "./families.ts";
import { text } from "./text.ts";

/** The number of steps for each family. The first ends with creating an app password. */
const STEPS = 3;

/**
 * What to do in a program of this family.
 * @param from the index of the first step to show
 */
export function Steps({ family, from = 0 }: { readonly family: Family; readonly from?: number }): ReactNode {
  const indexes = Array.from({ length: STEPS - from }, (_, index) => from + index);
  return (
    <ol start={from + 1} className="flex list-decimal flex-col gap-2 ps-5 text-sm marker:font-semibold">
      {indexes.map((index) => (
        <li key={index} className="ps-1">
          {text.steps(`${family.name}.${index + 1}`)}
        </li>
      ))}
    </ol>
  );
}

/**
 * The address and the user name to enter.
 * @param password a new app password. Programs that are set up by a command get one that contains all three.
 */
export function ConnectionFields({
  family,
  username,
  server,
  password,
}: {
  readonly family: Family;
  readonly username: string;
  readonly server: string;
  readonly password?: string;
}): ReactNode {
  const address = addressFor(family, username, server);
  if (family.address === "rclone" && password !== undefined) {
    const command = rcloneCommand(address, username, password);
    return <CopyField label={text.command} hint={text.commandHint} value={command} isWrapped />;
  }
  return (
    <>
      <CopyField label={family.address === "server" ? text.serverAddress : text.address} value={address} />
      <CopyField label={text.username} value={username} />
    </>
  );
}

/** Warns about addresses that other devices can't reach, or that do not protect the password. */
export function AddressNotice({ server }: { readonly server: string }): ReactNode {
  if (isLocalAddress(server)) return <Notice>{text.localAddress}</Notice>;
  return server.startsWith("http:") && <Notice>{text.plainHttp}</Notice>;
}
