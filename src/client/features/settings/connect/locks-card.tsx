import { Link } from "@tanstack/react-router";
import { Lock } from "lucide-react";
import { formatRelative } from "../../../base/format.ts";
import { folderParam, parentOf } from "../../../entries/folder-address.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { LoadedList } from "../../../ui/loaded.tsx";
import { type FileLock, useDelete, useList } from "../api.ts";
import { type Row, Rows } from "../rows.tsx";
import { text } from "./text.ts";

/** The files that programs have locked, with a button to end each lock. */
export function LocksCard() {
  const locks = useList("locks");
  const deleteThen = useDelete("locks");
  const end = ({ id, name }: FileLock) =>
    deleteThen(
      `/api/users/locks/${id}`,
      { title: text.endLockTitle({ name }), body: text.endLockLead, action: text.endLock },
      text.lockEnded,
    );
  return (
    <Card title={text.locks} description={text.locksLead}>
      <LoadedList query={locks} empty={<p className="text-sm text-muted">{text.noLocks}</p>}>
        {(items) => <Rows label={text.locks} rows={items.map((lock) => rowOf(lock, () => void end(lock)))} />}
      </LoadedList>
    </Card>
  );
}

function rowOf({ id, path, name, program, createdAt, expiresAt }: FileLock, onEnd: () => void): Row {
  const folder = parentOf(path);
  return {
    key: id,
    icon: <Lock />,
    title: name === "" ? path : name,
    lines: [
      <Link
        key="folder"
        to={folder === "/" ? "/files" : "/files/$"}
        params={{ _splat: folderParam(folder) }}
        className="reach inline-flex min-h-6 items-center text-accent hover:underline"
      >
        {folder}
      </Link>,
      text.locked({
        program: program ?? text.unknownProgram,
        since: formatRelative(createdAt),
        expires: formatRelative(expiresAt),
      }),
    ],
    actions: (
      <Button aria-label={text.endLockOf({ name })} onClick={onEnd}>
        {text.endLock}
      </Button>
    ),
  };
}
