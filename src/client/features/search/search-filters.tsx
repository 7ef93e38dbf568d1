import { useQuery } from "@tanstack/react-query";
import { FilterX, SlidersHorizontal } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { tagsQuery } from "../../entries/tags.ts";
import { FILTER_KEYS, type FilterKey, filterOf, withFilter, withWordsIn, wordsIn } from "./query-terms.ts";
import { text } from "./text.ts";
import { Form } from "../../ui/form.tsx";

interface SearchFiltersProps {
  readonly query: string;
  readonly onChange: (query: string) => void;
}

/** The search filters. Each one edits a term of the query, so that the address and the search field stay in sync. */
export function SearchFilters({ query, onChange }: SearchFiltersProps) {
  const isLimited = wordsIn(query) !== "anywhere";
  const count = FILTER_KEYS.filter((key) => filterOf(query, key) !== undefined).length + (isLimited ? 1 : 0);
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const clear = () =>
    onChange(FILTER_KEYS.reduce((rest, key) => withFilter(rest, key, undefined), withWordsIn(query, "anywhere")));

  return (
    <>
      <Button
        icon={SlidersHorizontal}
        className="mb-2 self-start sm:hidden"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {count === 0 ? text.filters : text.filtersSet({ n: count })}
      </Button>
      <fieldset
        id={id}
        className={cx(
          "mb-2 grid grid-cols-2 gap-x-3 gap-y-2 sm:grid-cols-4 xl:grid-cols-[repeat(8,minmax(0,1fr))_auto]",
          !isOpen && "max-sm:hidden",
        )}
      >
        <legend className="sr-only">{text.filters}</legend>
        <Filters query={query} onChange={onChange} />
        {count > 0 && (
          <Button icon={FilterX} variant="quiet" className="self-end" onClick={clear}>
            {text.clearFilters}
          </Button>
        )}
      </fieldset>
    </>
  );
}

const MOST_TAGS = 100;

function Filters({ query, onChange }: SearchFiltersProps) {
  const { data: known } = useQuery(tagsQuery);
  const where = wordsIn(query);
  const set = (key: FilterKey) => (value: string) => onChange(withFilter(query, key, value));
  return (
    <>
      <ChoiceFilter
        label={text.wordsIn}
        any={text.anywhere}
        value={where === "anywhere" ? undefined : where}
        options={[
          ["name", text.inNames],
          ["content", text.inContents],
        ]}
        onChange={(value) => onChange(withWordsIn(query, value === "name" || value === "content" ? value : "anywhere"))}
      />
      <ChoiceFilter
        label={text.type}
        any={text.anyType}
        value={filterOf(query, "type")}
        options={kinds()}
        onChange={set("type")}
      />
      <ChoiceFilter
        label={text.show}
        any={text.anyFile}
        value={filterOf(query, "is")}
        options={[
          ["favorite", text.favorites],
          ["public", text.publicFiles],
        ]}
        onChange={set("is")}
      />
      <ChoiceFilter
        label={text.modified}
        any={text.anyTime}
        value={filterOf(query, "modified")}
        options={times()}
        onChange={set("modified")}
      />
      <ChoiceFilter
        label={text.size}
        any={text.anySize}
        value={filterOf(query, "size")}
        options={sizes()}
        onChange={set("size")}
      />
      <ChoiceFilter
        label={text.tag}
        any={text.anyTag}
        value={filterOf(query, "tag")}
        options={(known?.tags ?? [])
          .slice(0, MOST_TAGS)
          .map(({ tag, count }) => [tag, text.tagCount({ tag, n: count })])}
        onChange={set("tag")}
      />
      <TextFilters query={query} set={set} />
    </>
  );
}

function TextFilters({
  query,
  set,
}: {
  readonly query: string;
  readonly set: (key: FilterKey) => (value: string) => void;
}) {
  return (
    <>
      <TextFilter
        label={text.extension}
        example={text.extensionExample}
        value={filterOf(query, "ext")}
        onChange={set("ext")}
      />
      <TextFilter
        label={text.folderPath}
        example={text.folderPathExample}
        value={filterOf(query, "in")}
        onChange={set("in")}
      />
    </>
  );
}

function ChoiceFilter({
  label,
  any,
  value = "",
  options,
  onChange,
}: {
  readonly label: string;
  /** The choice without a filter. */
  readonly any: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}) {
  // A value that was typed into the query may not be among the options.
  const isOther = value !== "" && !options.some(([offered]) => offered === value);
  const all = [["", any] as const, ...options, ...(isOther ? [[value, text.other({ value })] as const] : [])];
  return (
    <Select
      label={label}
      value={value}
      onChange={onChange}
      options={all.map(([offered, title]) => ({ value: offered, label: title }))}
    />
  );
}

/** A text filter. It takes effect on Enter, or when the field is left. */
function TextFilter({
  label,
  example,
  value = "",
  onChange,
}: {
  readonly label: string;
  readonly example: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const apply = () => {
    if (typed.trim() !== value) onChange(typed.trim());
  };
  return (
    <Form onSubmit={apply}>
      <TextField
        label={label}
        placeholder={example}
        value={typed}
        onChange={setTyped}
        onBlur={apply}
        autoComplete="off"
      />
    </Form>
  );
}

function kinds(): [string, string][] {
  return [
    ["image", text.image],
    ["video", text.video],
    ["audio", text.audio],
    ["document", text.document],
    ["pdf", text.pdf],
    ["text", text.plainText],
    ["archive", text.archive],
    ["folder", text.folder],
  ];
}

function sizes(): [string, string][] {
  return [
    ["<=1MB", text.small],
    ["1MB..100MB", text.middle],
    [">100MB", text.large],
    [">1GB", text.huge],
  ];
}

/** Days in UTC, as the server counts them. */
function times(): [string, string][] {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  return [
    [daysAgo(0), text.today],
    [`>=${daysAgo(6)}`, text.lastWeek],
    [`>=${daysAgo(29)}`, text.lastMonth],
    [daysAgo(0).slice(0, 4), text.thisYear],
  ];
}
