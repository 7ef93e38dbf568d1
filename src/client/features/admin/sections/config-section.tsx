import type { ResponseData } from "../../../api/generated.ts";
import { Settings2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import type { Setting } from "../types.ts";
import { useAdminData } from "../api.ts";

/** All settings with their current values and sources. */
export function ConfigSection() {
  const query = useAdminData("GET /api/admin/config");
  return <Loaded query={query}>{(config) => <Settings config={config} />}</Loaded>;
}

function Settings({ config: { file, settings } }: { readonly config: ResponseData["GET /api/admin/config"] }) {
  const [searched, setSearched] = useState("");
  const [isOnlyChanged, setIsOnlyChanged] = useState(false);
  const found = settings.filter((setting) => isMatch(setting, searched) && !(isOnlyChanged && setting.isDefault));
  return (
    <>
      <p className="mb-4 max-w-3xl text-sm text-muted">
        {text.configHint} {file === null ? text.configNoFile : text.configFile({ file })}
      </p>
      <div className="mb-4 flex flex-wrap items-end gap-x-6 gap-y-3">
        <TextField
          label={text.searchSettings}
          type="search"
          value={searched}
          onChange={setSearched}
          className="w-full sm:w-72"
        />
        <Checkbox label={text.onlyChanged} checked={isOnlyChanged} onChange={setIsOnlyChanged} className="pb-2" />
      </div>
      {found.length === 0 ? (
        <EmptyState icon={Settings2} title={text.noSettings} />
      ) : (
        <DataTable caption={text.config} columns={columns()} rows={found} rowKey={({ key }) => key} />
      )}
    </>
  );
}

function isMatch({ key, help, environment }: Setting, query: string): boolean {
  const terms = query.toLocaleLowerCase().split(/\s+/u).filter(Boolean);
  const searched = `${key} ${help} ${environment}`.toLocaleLowerCase();
  return terms.every((term) => searched.includes(term));
}

function columns(): Column<Setting>[] {
  return [
    {
      key: "setting",
      title: text.setting,
      isHeader: true,
      cell: ({ key, help, environment, accepts }) => (
        <div className="max-w-xl py-1">
          <code>{key}</code>
          <span className="block text-xs font-normal text-muted">
            {help} {text.accepts({ what: accepts })}
          </span>
          <span className="block text-xs font-normal break-all text-muted">{text.variable({ name: environment })}</span>
        </div>
      ),
    },
    {
      key: "value",
      title: text.value,
      cell: ({ value, isDefault, default: fallback }) => (
        <>
          <code className="break-all">{value}</code>
          {!isDefault && (
            <span className="block text-xs break-all text-muted">{text.defaultIs({ value: fallback })}</span>
          )}
        </>
      ),
    },
    {
      key: "source",
      title: text.source,
      cell: ({ source, isDefault }) =>
        isDefault ? <span className="text-muted">{text.default}</span> : <Badge tone="accent">{source}</Badge>,
    },
  ];
}
