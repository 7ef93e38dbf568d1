import { defineText, plural } from "../../../base/text.ts";

/** The text of groups. */
export const text = defineText("admin-groups", {
  title: "Groups",
  hint: "Share with many people in one step. New members can open everything that is shared with the group. Members who leave lose access immediately.",
  none: "No groups yet",
  noneHint: "Create a group for people who often share the same files, such as a family or a team.",
  create: "Create group",
  rename: "Rename",
  renameTitle: (name: string) => `Rename “${name}”`,
  remove: "Delete",
  removeTitle: (name: string) => `Delete “${name}”?`,
  removeBody: (shares: number) =>
    shares === 0
      ? "No account and no file is deleted."
      : plural(
          shares,
          "The share with this group ends immediately. No account and no file is deleted.",
          "All # shares with this group end immediately. No account and no file is deleted.",
        ),
  removed: (name: string) => `“${name}” was deleted.`,
  created: (name: string) => `“${name}” was created. Add its members.`,
  renamed: "Renamed.",
  name: "Name",
  members: "Members",
  shares: "Shares",
  createdAt: "Created",
  editMembers: "Edit members",
  membersOf: (name: string) => `Members of “${name}”`,
  membersHint: "New members see everything that others share with this group.",
  addPeople: "Add people by name or email",
  add: "Add",
  added: (n: number) => plural(n, "# member added.", "# members added."),
  noMembers: "No members yet.",
  removeMember: "Remove",
  removeMemberOf: (name: string) => `Remove ${name}`,
  memberRemoved: (name: string) => `${name} was removed.`,
  more: (n: number) => plural(n, "# more member is not shown.", "# more members are not shown."),
});
