-- Albums: files in an order of their own (features/library/albums). A file that is in the trash itself keeps its place and is
-- marked as hidden; `items` counts the others. Triggers maintain both, so that no change of the tree can forget it.
CREATE TABLE `albums` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`name` text NOT NULL,
	`sort_key` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`cover_id` integer,
	`items` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`modified_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `albums_public` ON `albums` (`public_id`);--> statement-breakpoint
CREATE INDEX `albums_name` ON `albums` (`account_id`,`sort_key`,`id`);--> statement-breakpoint
CREATE TABLE `album_items` (
	`album_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`position` integer NOT NULL,
	`is_hidden` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`album_id`, `node_id`),
	FOREIGN KEY (`album_id`) REFERENCES `albums`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `album_items_position` ON `album_items` (`album_id`,`position`,`is_hidden`);--> statement-breakpoint
CREATE INDEX `album_items_node` ON `album_items` (`node_id`);--> statement-breakpoint
CREATE TRIGGER `album_item_added` AFTER INSERT ON `album_items` WHEN NEW.is_hidden = 0
BEGIN
	UPDATE `albums` SET items = items + 1 WHERE id = NEW.album_id;
END;
--> statement-breakpoint
CREATE TRIGGER `album_item_changed` AFTER UPDATE OF `is_hidden` ON `album_items` WHEN NEW.is_hidden <> OLD.is_hidden
BEGIN
	UPDATE `albums` SET items = items + OLD.is_hidden - NEW.is_hidden WHERE id = NEW.album_id;
END;
--> statement-breakpoint
CREATE TRIGGER `album_item_removed` AFTER DELETE ON `album_items`
BEGIN
	UPDATE `albums` SET items = items - (1 - OLD.is_hidden) WHERE id = OLD.album_id;
	UPDATE `albums` SET cover_id = NULL WHERE id = OLD.album_id AND cover_id = OLD.node_id;
END;
--> statement-breakpoint
CREATE TRIGGER `album_file_moved` AFTER UPDATE OF `parent_id` ON `nodes`
WHEN NEW.kind = 1 AND (ifnull(NEW.parent_id, 0) > 0) <> (ifnull(OLD.parent_id, 0) > 0)
BEGIN
	UPDATE `album_items` SET is_hidden = ifnull(NEW.parent_id, 0) <= 0 WHERE node_id = NEW.id;
END;
--> statement-breakpoint
CREATE TRIGGER `album_file_removed` AFTER DELETE ON `nodes` WHEN OLD.kind = 1
BEGIN
	DELETE FROM `album_items` WHERE node_id = OLD.id;
END;
--> statement-breakpoint
-- The store journal writes a changed album again; its negated id is in the column of nodes.
CREATE TRIGGER `store_journal_album_made` AFTER INSERT ON `albums`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.account_id, -NEW.id)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_album_changed` AFTER UPDATE OF `name`, `description`, `cover_id`, `modified_at` ON `albums`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.account_id, -NEW.id)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_album_gone` AFTER DELETE ON `albums`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id, gone) VALUES (OLD.account_id, -OLD.id, OLD.public_id)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1, gone = excluded.gone;
END;
--> statement-breakpoint
-- A share is of a node or of an album. SQLite can't drop NOT NULL from a column, so the table is made again. The addresses
-- that opened shares are copied first: dropping a table deletes the rows that refer to it.
CREATE TABLE `shares_next` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer DEFAULT 0 NOT NULL,
	`node_id` integer,
	`album_id` integer,
	`kind` text NOT NULL,
	`nonce` blob NOT NULL,
	`token_hash` blob NOT NULL,
	`created_at` integer NOT NULL,
	`downloaded_at` integer,
	`label` text,
	`expires_at` integer,
	`password_hash` text,
	`grant_epoch` integer DEFAULT 0 NOT NULL,
	`max_downloads` integer,
	`downloads` integer DEFAULT 0 NOT NULL,
	`views` integer DEFAULT 0 NOT NULL,
	`last_accessed_at` integer,
	`pinned_version` integer,
	`hides_location` integer DEFAULT 0 NOT NULL,
	`max_upload_bytes` integer,
	`uploads` integer DEFAULT 0 NOT NULL,
	`uploaded_bytes` integer DEFAULT 0 NOT NULL,
	`max_uploads_per_address` integer,
	`guesses_notified_at` integer,
	`can_write` integer DEFAULT 0 NOT NULL,
	`shows_versions` integer,
	`recipient_email_key` text,
	`recipient_id` integer,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`album_id`) REFERENCES `albums`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`recipient_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "shares_target" CHECK((node_id IS NULL) <> (album_id IS NULL))
) STRICT;
--> statement-breakpoint
INSERT INTO `shares_next` (id, public_id, account_id, node_id, kind, nonce, token_hash, created_at, downloaded_at, label, expires_at,
	password_hash, grant_epoch, max_downloads, downloads, views, last_accessed_at, pinned_version, hides_location, max_upload_bytes,
	uploads, uploaded_bytes, max_uploads_per_address, guesses_notified_at, can_write, shows_versions, recipient_email_key, recipient_id)
SELECT id, public_id, account_id, node_id, kind, nonce, token_hash, created_at, downloaded_at, label, expires_at,
	password_hash, grant_epoch, max_downloads, downloads, views, last_accessed_at, pinned_version, hides_location, max_upload_bytes,
	uploads, uploaded_bytes, max_uploads_per_address, guesses_notified_at, can_write, shows_versions, recipient_email_key, recipient_id
FROM `shares` ORDER BY id;
--> statement-breakpoint
CREATE TABLE `share_openers_next` (
	`share_id` integer NOT NULL,
	`address_hash` blob NOT NULL,
	`opened_at` integer NOT NULL,
	PRIMARY KEY(`share_id`, `address_hash`),
	FOREIGN KEY (`share_id`) REFERENCES `shares_next`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `share_openers_next` SELECT share_id, address_hash, opened_at FROM `share_openers`;
--> statement-breakpoint
DROP TABLE `share_openers`;
--> statement-breakpoint
DROP TABLE `shares`;
--> statement-breakpoint
ALTER TABLE `shares_next` RENAME TO `shares`;
--> statement-breakpoint
ALTER TABLE `share_openers_next` RENAME TO `share_openers`;
--> statement-breakpoint
CREATE INDEX `share_openers_age` ON `share_openers` (`opened_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `shares_public` ON `shares` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `shares_token` ON `shares` (`token_hash`);--> statement-breakpoint
CREATE INDEX `shares_node` ON `shares` (`node_id`);--> statement-breakpoint
CREATE INDEX `shares_album` ON `shares` (`album_id`) WHERE album_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `shares_account` ON `shares` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `shares_recipient` ON `shares` (`recipient_id`) WHERE recipient_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `shares_waiting` ON `shares` (`recipient_email_key`) WHERE recipient_email_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX `shares_expiry` ON `shares` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER `store_journal_share_made` AFTER INSERT ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = NEW.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_changed` AFTER UPDATE OF `label`, `expires_at`, `password_hash`, `grant_epoch`, `max_downloads`, `pinned_version`,
	`hides_location`, `max_upload_bytes`, `can_write`, `recipient_email_key`, `recipient_id` ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = NEW.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_gone` AFTER DELETE ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = OLD.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_ended` AFTER DELETE ON `shares`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at) VALUES (OLD.public_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_used` AFTER UPDATE OF `downloads`, `uploaded_bytes` ON `shares`
WHEN NEW.max_downloads IS NOT NULL OR NEW.max_upload_bytes IS NOT NULL
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = NEW.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
