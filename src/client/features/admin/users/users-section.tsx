import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { UserPlus, Users } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import type { Role } from "../../../api/types.ts";
import { type TextSearch, useSetTextSearch, useTextSearch } from "../../../base/search-params.ts";
import { Button } from "../../../ui/button.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { Loaded } from "../loaded.tsx";
import { Pager } from "../pager.tsx";
import { text } from "../text.ts";
import { type AccountPage, PLANS, type PlanName, ROLES } from "../types.ts";
import { NewUserDialog } from "./new-user-dialog.tsx";
import { useUserActions } from "./use-user-actions.tsx";
import { userColumns } from "./user-columns.tsx";

/** All accounts with search and filters, a button for a new account, and a menu for each. */
export function UsersSection() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const [isAdding, setIsAdding] = useState(false);
  const find = useDeferredValue(search["find"] ?? "");
  const { role, plan, disabled, sort = "email", order = "asc" } = search;
  const page = Number(search["page"] ?? 1) || 1;
  const filters = { search: find || undefined, role, plan, disabled, sort, order, page };
  const query = useQuery({
    queryKey: keys.admin("users", filters),
    queryFn: ({ signal }) => request<AccountPage>("GET", "/api/admin/users", { query: filters, signal }),
    placeholderData: keepPreviousData,
  });
  const { itemsFor, dialogs } = useUserActions();
  const filter = (change: TextSearch) => setSearch({ ...change, page: undefined });
  const onSort = (by: string) => filter({ sort: by, order: sort === by && order === "asc" ? "desc" : "asc" });
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <SearchField value={search["find"] ?? ""} onChange={(find) => filter({ find })} />
        <Select<Role | "">
          label={text.role}
          value={ROLES.find((known) => known === role) ?? ""}
          onChange={(chosen) => filter({ role: chosen })}
          options={[
            { value: "", label: text.allRoles },
            ...ROLES.map((value) => ({ value, label: text.roles(value) })),
          ]}
          className="w-36"
        />
        <Select<PlanName | "">
          label={text.plan}
          value={PLANS.find((known) => known === plan) ?? ""}
          onChange={(chosen) => filter({ plan: chosen })}
          options={[
            { value: "", label: text.allPlans },
            ...PLANS.map((value) => ({ value, label: text.planNames(value) })),
          ]}
          className="w-36"
        />
        <Select<"" | "false" | "true">
          label={text.state}
          value={disabled === "true" || disabled === "false" ? disabled : ""}
          onChange={(chosen) => filter({ disabled: chosen })}
          options={[
            { value: "", label: text.allStates },
            { value: "false", label: text.enabled },
            { value: "true", label: text.disabled },
          ]}
          className="w-36"
        />
        <Button variant="primary" icon={UserPlus} onClick={() => setIsAdding(true)} className="sm:ms-auto">
          {text.addUser}
        </Button>
      </div>
      <Loaded query={query}>
        {({ users, pagination }) =>
          users.length === 0 ? (
            <EmptyState icon={Users} title={text.noUsers} />
          ) : (
            <>
              <DataTable
                caption={text.users}
                columns={userColumns({ sort, order, onSort, itemsFor })}
                rows={users}
                rowKey={({ id }) => id}
              />
              <Pager pagination={pagination} onPage={(to) => setSearch({ page: String(to) }, { push: true })} />
            </>
          )
        }
      </Loaded>
      {isAdding && <NewUserDialog onClose={() => setIsAdding(false)} />}
      {dialogs}
    </>
  );
}

/** Follows the address, but not while the person types: the address lags behind. */
function SearchField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(value);
  }, [value]);
  return (
    <TextField
      ref={field}
      label={text.searchUsers}
      type="search"
      value={typed}
      onChange={(next) => {
        setTyped(next);
        onChange(next);
      }}
      className="w-full sm:w-64"
    />
  );
}
