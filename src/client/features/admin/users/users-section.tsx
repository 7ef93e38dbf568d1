import { planName } from "../../../base/plan-names.ts";
import { UserPlus, Users } from "lucide-react";
import { useDeferredValue, useEffect, useRef, useState } from "react";
import { type TextSearch, useSetTextSearch, useTextSearch } from "../../../base/search-params.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { text } from "../text.ts";
import { PLANS, ROLES } from "../types.ts";
import { NewUserDialog } from "./new-user-dialog.tsx";
import { useUserActions } from "./use-user-actions.tsx";
import { userColumns } from "./user-columns.tsx";
import { OptionalSelect } from "../account-fields.tsx";
import { useAdminData } from "../api.ts";
import { PagedTable, usePage } from "../paged-table.tsx";

/** All accounts with search and filters, a button for a new account, and a menu for each. */
export function UsersSection() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const [isAdding, setIsAdding] = useState(false);
  const find = useDeferredValue(search["find"] ?? "");
  const { role, plan, disabled, sort = "email", order = "asc" } = search;
  const [page, setPage] = usePage();
  const query = useAdminData("GET /api/admin/users", {
    query: { search: find || undefined, role, plan, disabled, sort, order, page },
    keepsPrevious: true,
  });
  const { itemsFor, dialogs } = useUserActions();
  const filter = (change: TextSearch) => setSearch({ ...change, page: undefined });
  const onSort = (by: string) => filter({ sort: by, order: sort === by && order === "asc" ? "desc" : "asc" });
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <SearchField value={search["find"] ?? ""} onChange={(find) => filter({ find })} />
        <OptionalSelect
          label={text.role}
          none={text.allRoles}
          values={ROLES}
          nameOf={text.roles}
          value={role}
          onChange={(chosen) => filter({ role: chosen })}
          className="min-w-36"
        />
        <OptionalSelect
          label={text.plan}
          none={text.allPlans}
          values={PLANS}
          nameOf={planName}
          value={plan}
          onChange={(chosen) => filter({ plan: chosen })}
          className="min-w-36"
        />
        <OptionalSelect
          label={text.state}
          none={text.allStates}
          values={["false", "true"]}
          nameOf={(isDisabled) => (isDisabled === "true" ? text.disabled : text.enabled)}
          value={disabled}
          onChange={(chosen) => filter({ disabled: chosen })}
          className="min-w-36"
        />
        <Button variant="primary" icon={UserPlus} onClick={() => setIsAdding(true)} className="sm:ms-auto">
          {text.addUser}
        </Button>
      </div>
      <PagedTable
        query={query}
        rowsOf={({ users }) => users}
        empty={<EmptyState icon={Users} title={text.noUsers} />}
        caption={text.users}
        columns={userColumns({ sort, order, onSort, itemsFor })}
        onPage={setPage}
      />
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
