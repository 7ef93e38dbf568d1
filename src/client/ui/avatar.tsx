import { useState } from "react";
import { href } from "../base/address.ts";

/** Up to this size on the page, the small picture is sharp enough on most screens. */
const SMALL_SIZE_MAX = 36;

/** A person's picture as the server has it. */
export interface AvatarPicture {
  /** `usr_…` */
  readonly id: string;
  readonly version: string;
}

/**
 * The picture of a person in a circle, or the initials of the name. Hidden from screen readers, because the name itself is
 * next to it or is the label of its button.
 */
export function Avatar({
  name,
  size = 32,
  picture,
}: {
  readonly name: string;
  readonly size?: number;
  readonly picture?: AvatarPicture | undefined;
}) {
  const [failed, setFailed] = useState<string>();
  if (picture !== undefined && picture.version !== failed) {
    const pixels = size > SMALL_SIZE_MAX ? 256 : 64;
    return (
      <img
        src={href(`/api/users/${picture.id}/avatar?size=${pixels}&v=${picture.version}`)}
        alt=""
        draggable={false}
        data-avatar={picture.id}
        className="shrink-0 rounded-full bg-sunken"
        style={{ width: size, height: size }}
        onError={() => setFailed(picture.version)}
      />
    );
  }
  return (
    <span
      aria-hidden
      data-initials={initialsOf(name)}
      className="inline-flex before:content-[attr(data-initials)] shrink-0 items-center justify-center rounded-full bg-accent font-semibold text-on-accent select-none"
      style={{ width: size, height: size, fontSize: size * 0.4 }}
    />
  );
}

/** `Ada King Lovelace` → `AL`; an email address → its first letter. */
export function initialsOf(name: string): string {
  const names = name.trim().split(/\s+/u);
  const initials = names.length > 1 ? [names[0], names.at(-1)] : [names[0]];
  return initials
    .map((part) => [...(part ?? "")][0] ?? "")
    .join("")
    .toLocaleUpperCase();
}
