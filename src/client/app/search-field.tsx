import { useNavigate } from "@tanstack/react-router";
import { type FocusEvent, type KeyboardEvent, type RefObject, useEffect, useId, useState } from "react";
import { useTextSearch } from "../base/search-params.ts";
import { whenUsed } from "../base/when-used.ts";
import { Form } from "../ui/form.tsx";
import { Search } from "../ui/icons.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { OptionalPart } from "./optional-part.tsx";
import { frameText } from "./text.ts";

const SuggestionList = lazyPart(() =>
  import("../features/search/suggestion-list.tsx").then((part) => part.SuggestionList),
);

/** The search field of all pages, with suggestions while the person types. */
export function SearchField({ inputRef }: { readonly inputRef: RefObject<HTMLInputElement | null> }) {
  const { text, setText, suggestions, leave, search } = useSearchText(inputRef);
  useEffect(() => whenUsed(() => void SuggestionList.preload()), []);
  const { isOpen, listId, active } = suggestions;
  const isExpanded = isOpen && suggestions.count > 0;
  return (
    // The form is inside the landmark: browsers then offer earlier searches.
    <search className="relative min-w-0 max-w-2xl flex-1" onBlur={suggestions.onBlur}>
      <Form
        onSubmit={() => {
          if (isExpanded && active >= 0) document.getElementById(`${listId}-${active}`)?.click();
          else search(text);
        }}
        className="relative"
      >
        <Search
          aria-hidden
          size={18}
          className="pointer-events-none absolute start-3.5 top-1/2 -translate-y-1/2 text-muted"
        />
        <input
          ref={inputRef}
          type="search"
          name="q"
          role="combobox"
          aria-expanded={isExpanded}
          aria-controls={isExpanded ? listId : undefined}
          aria-autocomplete="list"
          aria-activedescendant={isExpanded && active >= 0 ? `${listId}-${active}` : undefined}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            suggestions.open();
          }}
          onKeyDown={suggestions.onKeyDown}
          aria-label={frameText.searchLabel}
          aria-keyshortcuts="/ Control+K"
          placeholder={frameText.search}
          autoComplete="off"
          enterKeyHint="search"
          className="control h-11 w-full rounded-full border border-transparent bg-sunken ps-10 pe-4 text-base text-ink focus:border-line-strong focus:bg-raised sm:text-sm"
        />
      </Form>
      {isOpen && (
        <OptionalPart>
          <SuggestionList
            id={listId}
            typed={text}
            active={active}
            onCount={suggestions.setCount}
            onSearch={search}
            onLeave={leave}
          />
        </OptionalPart>
      )}
    </search>
  );
}

/** The text of the field, and its search. The focus leaves the field before another page opens. */
function useSearchText(field: RefObject<HTMLInputElement | null>) {
  const navigate = useNavigate();
  const query = useTextSearch()["q"] ?? "";
  const [text, setText] = useState(query);
  const suggestions = useSuggestions(text);
  useEffect(() => setText(query), [query]);
  const leave = () => {
    suggestions.close();
    field.current?.blur();
  };
  const search = (q: string) => {
    if (q.trim() === "") return;
    // On the page of the results, the person may refine the search.
    if (query === "") leave();
    else suggestions.close();
    setText(q.trim());
    void navigate({ to: "/search", search: { q: q.trim() } });
  };
  return { text, setText, suggestions, leave, search };
}

/** Which suggestion is active, and whether they are shown: from typing until a choice, Escape, or leaving the field. */
function useSuggestions(text: string) {
  const listId = useId();
  const [isTyping, setTyping] = useState(false);
  const [count, setCount] = useState(0);
  const [active, setActive] = useState(-1);
  useEffect(() => setActive(-1), [text]);
  const close = () => {
    setTyping(false);
    setActive(-1);
    setCount(0);
  };
  const isOpen = isTyping && text.trim().length > 1;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen || count === 0 || event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      // The browser would also empty the field.
      event.preventDefault();
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      // The position before the first one is the text itself.
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((now) => ((now + 1 + step + count + 1) % (count + 1)) - 1);
    }
  };
  const onBlur = (event: FocusEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget)) close();
  };
  return { listId, isOpen, count, setCount, active, open: () => setTyping(true), close, onKeyDown, onBlur };
}
