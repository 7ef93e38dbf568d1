-- Links and shares that have ended and are not noted beside the contents yet: the note is on disk
-- before a revocation is answered, so that no rebuilt database opens them again (features/store-journal).
CREATE TABLE `ended_shares` (
	`public_id` text PRIMARY KEY NOT NULL,
	`ended_at` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TRIGGER `store_journal_share_ended` AFTER DELETE ON `shares`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at) VALUES (OLD.public_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
--> statement-breakpoint
-- What a share with a limit has used of it.
CREATE TRIGGER `store_journal_share_used` AFTER UPDATE OF `downloads`, `uploaded_bytes` ON `shares`
WHEN NEW.max_downloads IS NOT NULL OR NEW.max_upload_bytes IS NOT NULL
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_user_confirmed` AFTER UPDATE OF `email_unconfirmed_since` ON `users`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
-- Objects tell more than before: everything is written once more.
UPDATE `store_journal` SET full_bytes = 0;
--> statement-breakpoint
INSERT INTO `store_journal_again` (account_id, node_id) SELECT id, 0 FROM `accounts` WHERE root_id > 0
ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
