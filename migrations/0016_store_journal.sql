-- How far the objects beside the blobs hold what each account has (features/store-journal), and what is to be written
-- again though no number of the account's own journal tells it: node 0 is the account itself.
CREATE TABLE `store_journal` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`number` integer NOT NULL,
	`seq` integer NOT NULL,
	`full_bytes` integer NOT NULL,
	`later_bytes` integer NOT NULL,
	`epoch` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `store_journal_again` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`times` integer DEFAULT 1 NOT NULL,
	`gone` text,
	PRIMARY KEY(`account_id`, `node_id`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER `store_journal_version_gone` AFTER DELETE ON `versions`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_out_of_trash` AFTER DELETE ON `trash`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id, gone) SELECT account_id, id, public_id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1, gone = excluded.gone;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_made` AFTER INSERT ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_changed` AFTER UPDATE OF `label`, `expires_at`, `password_hash`, `grant_epoch`, `max_downloads`, `pinned_version`,
	`hides_location`, `max_upload_bytes`, `can_write`, `recipient_email_key`, `recipient_id` ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_gone` AFTER DELETE ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_user_made` AFTER INSERT ON `users`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_user_changed` AFTER UPDATE OF `email`, `name`, `role`, `plan`, `disabled_at`, `settings` ON `users`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_quota_changed` AFTER UPDATE OF `quota_bytes` ON `accounts`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
