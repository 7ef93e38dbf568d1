import { defineText } from "../../../base/text.ts";

/** The text of groups. */
export const text = defineText("admin-groups", {
  title: "Groups",
  hint: "Share with many people in one step. New members can open everything that is shared with the group. Members who leave lose access immediately.",
  none: "No groups yet",
  noneHint: "Create a group for people who often share the same files, such as a family or a team.",
  create: "Create group",
  rename: "Rename",
  renameTitle: "Rename “{name}”",
  remove: "Delete",
  removeTitle: "Delete “{name}”?",
  removeBody:
    "{shares, plural, =0 {No account and no file is deleted.} one {The share with this group ends immediately. No account and no file is deleted.} other {All # shares with this group end immediately. No account and no file is deleted.}}",
  removed: "“{name}” was deleted.",
  created: "“{name}” was created. Add its members.",
  renamed: "Renamed.",
  name: "Name",
  members: "Members",
  shares: "Shares",
  createdAt: "Created",
  editMembers: "Edit members",
  membersOf: "Members of “{name}”",
  membersHint: "New members see everything that others share with this group.",
  addPeople: "Add people by name or email",
  add: "Add",
  added: "{n, plural, one {# member added.} other {# members added.}}",
  noMembers: "No members yet.",
  removeMember: "Remove",
  removeMemberOf: "Remove {name}",
  memberRemoved: "{name} was removed.",
  more: "{n, plural, one {# more member is not shown.} other {# more members are not shown.}}",
});
