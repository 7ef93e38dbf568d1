import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import { locationOf } from "../../entries/entry-columns.tsx";
import { folderParam, useGoToFolder } from "../../entries/folder-address.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { Folder, Search, Tag } from "../../ui/icons.ts";
import { splitByMatches } from "./query-terms.ts";
import { text } from "./text.ts";

type Suggestion = ResponseData["GET /api/files/search/suggestions"]["suggestions"][number];

interface SuggestionListProps {
  readonly id: string;
  readonly typed: string;
  readonly active: number;
  readonly onCount: (count: number) => void;
  readonly onSearch: (query: string) => void;
  /** Called before another page opens. */
  readonly onLeave: () => void;
}

/** A key press this soon after another makes no request of its own. */
const DELAY_MS = 100;

/** The suggestions below the search field. The focus stays in the field, which names the active one. */
export function SuggestionList({ id, typed, active, onCount, onSearch, onLeave }: SuggestionListProps) {
  const suggestions = useSuggestions(typed.trim());
  const choose = useChoose(typed, onSearch, onLeave);
  const { length } = suggestions;
  useEffect(() => onCount(length), [onCount, length]);
  return (
    <>
      <p role="status" className="sr-only">
        {length > 0 && text.suggestionCount({ n: length })}
      </p>
      {length > 0 && (
        <ul
          id={id}
          role="listbox"
          aria-label={text.suggestions}
          // The field keeps the focus, also on touch screens.
          onPointerDown={(event) => event.preventDefault()}
          onMouseDown={(event) => event.preventDefault()}
          className="absolute inset-x-0 top-full z-40 mt-1 overflow-hidden rounded-xl border border-line bg-raised py-1 shadow-lg max-sm:fixed max-sm:inset-x-2 max-sm:top-14"
        >
          {suggestions.map((suggestion, at) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field handles the keys
            <li
              key={`${suggestion.kind} ${suggestion.id ?? suggestion.text}`}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === active}
              onClick={() => choose(suggestion)}
              className={cx(
                "flex min-h-11 cursor-default items-center gap-3 px-4 text-sm hover:bg-sunken",
                at === active && "bg-accent-soft",
              )}
            >
              <SuggestionIcon suggestion={suggestion} />
              <span className="min-w-0 truncate">
                <bdi>
                  <Typed name={suggestion.text} typed={typed} />
                </bdi>
              </span>
              <span className="ms-auto shrink-0 ps-2 text-xs text-muted">{hintOf(suggestion)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function useSuggestions(typed: string): readonly Suggestion[] {
  const [delayed, setDelayed] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(typed), DELAY_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { data } = useQuery({
    queryKey: keys.search("suggestions", delayed),
    queryFn: ({ signal }) =>
      request<ResponseData["GET /api/files/search/suggestions"]>("GET", "/api/files/search/suggestions", {
        query: { q: delayed },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    // A search works without suggestions.
    retry: false,
  });
  return data?.suggestions ?? [];
}

/** Opens a file or folder, or searches for a tag or word. */
function useChoose(
  typed: string,
  onSearch: (query: string) => void,
  onLeave: () => void,
): (chosen: Suggestion) => void {
  const navigate = useNavigate();
  const goToFolder = useGoToFolder();
  return (chosen) => {
    const { kind, share, path = "/", folder = "/", id } = chosen;
    if (kind === "word") onSearch(typed.replace(/[\p{L}\p{N}\p{M}]+$/u, chosen.text));
    else if (kind === "tag") onSearch(`tag:${quoted(chosen.text)}`);
    else {
      onLeave();
      if (share !== undefined) {
        const target = kind === "file" ? { path: folder, view: id } : { path };
        void navigate({ to: "/shared/with-me", search: { share, ...target } });
      } else if (kind === "file" && folder === "/") void navigate({ to: "/files", search: { view: id } });
      else if (kind === "file") {
        void navigate({ to: "/files/$", params: { _splat: folderParam(folder) }, search: { view: id } });
      } else goToFolder(path);
    }
  };
}

function quoted(value: string): string {
  return `"${value.replaceAll('"', "")}"`;
}

function SuggestionIcon({ suggestion: { kind, mimeType } }: { readonly suggestion: Suggestion }): ReactNode {
  const shape = { "aria-hidden": true, className: "size-4 shrink-0 text-muted" } as const;
  if (kind === "folder") return <Folder {...shape} />;
  if (kind === "tag") return <Tag {...shape} />;
  if (kind === "word") return <Search {...shape} />;
  return <FileIcon mimeType={mimeType ?? ""} size={16} className="shrink-0" />;
}

function hintOf({ kind, folder, owner }: Suggestion): string {
  if (kind === "tag") return text.tag;
  if (kind === "word") return text.inContents;
  return owner === undefined ? locationOf(folder ?? "/") : text.sharedBy({ name: owner.name });
}

/** A suggestion with what was typed in bold. */
function Typed({ name, typed }: { readonly name: string; readonly typed: string }): ReactNode {
  let at = 0;
  return splitByMatches(name, typed.trim().split(/\s+/)).map(({ text: part, isFound }) => {
    const key = at;
    at += part.length;
    return isFound ? <b key={key}>{part}</b> : <span key={key}>{part}</span>;
  });
}
