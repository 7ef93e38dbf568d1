-- Groups of accounts, made by administrators. A share names an account, an email address, or a group: then it is for
-- everybody who is a member now. `hidden_shares` has the shares of a group that a member removed from their own lists.
CREATE TABLE `groups` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `groups_public` ON `groups` (`public_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `groups_name` ON `groups` (`name_key`);
--> statement-breakpoint
CREATE TABLE `group_members` (
	`group_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`group_id`, `user_id`),
	FOREIGN KEY (`group_id`) REFERENCES `groups`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `group_members_user` ON `group_members` (`user_id`);
--> statement-breakpoint
ALTER TABLE `shares` ADD `group_id` integer REFERENCES `groups`(`id`) ON DELETE cascade;
--> statement-breakpoint
CREATE INDEX `shares_group` ON `shares` (`group_id`) WHERE group_id IS NOT NULL;
--> statement-breakpoint
CREATE TABLE `hidden_shares` (
	`share_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	PRIMARY KEY(`share_id`, `user_id`),
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `hidden_shares_user` ON `hidden_shares` (`user_id`);
--> statement-breakpoint
-- The record of an account in the store journal names its groups, that of a share its group and the accounts that hid it.
CREATE TRIGGER `store_journal_member_added` AFTER INSERT ON `group_members`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.user_id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_member_removed` AFTER DELETE ON `group_members`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT id, 0 FROM `users` WHERE id = OLD.user_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_group_renamed` AFTER UPDATE OF `name` ON `groups`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT user_id, 0 FROM `group_members` WHERE group_id = NEW.id
		UNION SELECT n.account_id, n.id FROM `shares` s JOIN `nodes` n ON n.id = s.node_id WHERE s.group_id = NEW.id
		UNION SELECT a.account_id, -a.id FROM `shares` s JOIN `albums` a ON a.id = s.album_id WHERE s.group_id = NEW.id
	ORDER BY 1
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_hidden` AFTER INSERT ON `hidden_shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id)
		SELECT n.account_id, n.id FROM `shares` s JOIN `nodes` n ON n.id = s.node_id WHERE s.id = NEW.share_id
		UNION ALL SELECT a.account_id, -a.id FROM `shares` s JOIN `albums` a ON a.id = s.album_id WHERE s.id = NEW.share_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_shown` AFTER DELETE ON `hidden_shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id)
		SELECT n.account_id, n.id FROM `shares` s JOIN `nodes` n ON n.id = s.node_id WHERE s.id = OLD.share_id
		UNION ALL SELECT a.account_id, -a.id FROM `shares` s JOIN `albums` a ON a.id = s.album_id WHERE s.id = OLD.share_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
-- A membership that ended and a deleted group are noted like a share that has ended: neither returns when the database is
-- rebuilt or restored. A membership is named by its group, its account, and when it began. Those of a deleted group or
-- account need no note.
CREATE TRIGGER `store_journal_membership_ended` AFTER DELETE ON `group_members`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at)
	SELECT g.public_id || '/' || u.public_id || '/' || OLD.added_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)
		FROM `groups` g CROSS JOIN `users` u WHERE g.id = OLD.group_id AND u.id = OLD.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_group_ended` AFTER DELETE ON `groups`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at) VALUES (OLD.public_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
-- Shares with a group whose members are not notified yet, and the last member who was. A job does it in small steps.
CREATE TABLE `group_notices` (
	`share_id` integer PRIMARY KEY NOT NULL,
	`after_user_id` integer NOT NULL,
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
-- Accounts by name, for those who look for people to share with.
CREATE INDEX `users_people` ON `users` (`name_key`,`id`) WHERE disabled_at IS NULL AND email_unconfirmed_since IS NULL;
