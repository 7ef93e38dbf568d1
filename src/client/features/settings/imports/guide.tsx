import { Link } from "@tanstack/react-router";
import { Cable } from "lucide-react";
import { buttonClassName } from "../../../ui/button.tsx";
import { CopyField } from "../../../ui/copy-field.tsx";
import { text } from "./text.ts";

/** Where files can come from, in display order. The last one is not read by the server. */
export const SOURCES = ["takeout", "nextcloud", "immich", "other"] as const;

/** One of {@link SOURCES}. */
export type SourceName = (typeof SOURCES)[number];

const STEPS: Readonly<Record<SourceName, number>> = { takeout: 5, nextcloud: 3, immich: 3, other: 3 };

/** What to do in the other service first. */
export function Steps({ source }: { readonly source: SourceName }) {
  return (
    <ol className="flex list-decimal flex-col gap-2 ps-5 text-sm marker:font-semibold">
      {Array.from({ length: STEPS[source] }, (_, index) => (
        <li key={index} className="ps-1 wrap-anywhere">
          {text.steps(`${source}.${index + 1}`)}
        </li>
      ))}
    </ol>
  );
}

/** How to copy files from services that Larder can't read itself. */
export function OtherServices() {
  return (
    <>
      <CopyField
        label={text.command}
        hint={text.commandHint}
        value="rclone copy dropbox: larder:Dropbox --progress"
        isWrapped
      />
      <div>
        <Link to="/settings/$section" params={{ section: "connect" }} className={buttonClassName({})}>
          <Cable aria-hidden size={18} />
          {text.connectRclone}
        </Link>
      </div>
    </>
  );
}
