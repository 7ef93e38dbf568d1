-- Pictures of people, encoded by the server as WebP of 256 and of 64 pixels. The digest is of both.
CREATE TABLE `avatars` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL,
	`large` blob NOT NULL,
	`small` blob NOT NULL,
	`changed_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
-- An account that is being deleted has no email from then on. Its row is deleted only after all of its files.
CREATE TRIGGER `users_delete_avatar` AFTER UPDATE OF `email` ON `users` WHEN NEW.email = ''
BEGIN
	DELETE FROM avatars WHERE user_id = NEW.id;
END;
--> statement-breakpoint
-- The record of an account in the store journal has its picture.
CREATE TRIGGER `store_journal_avatar_added` AFTER INSERT ON `avatars`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.user_id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_avatar_changed` AFTER UPDATE ON `avatars`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.user_id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `store_journal_avatar_removed` AFTER DELETE ON `avatars`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT id, 0 FROM `users` WHERE id = OLD.user_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;
