-- Notifications in browsers: the hidden row of a sign-in whose browser has subscribed to Web Push. As for an app
-- password, `is_app` is 1, so that lists and limits leave the row out.
ALTER TABLE `devices` ADD `session_origin` text;
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_session_origin` ON `devices` (`session_origin`) WHERE session_origin IS NOT NULL;
--> statement-breakpoint
-- Whatever ends the last session of a sign-in also ends its notifications. A refresh begins the next session first.
CREATE TRIGGER `sessions_end_browser_push` AFTER DELETE ON `sessions`
BEGIN
	DELETE FROM devices WHERE session_origin = coalesce(OLD.origin_id, OLD.public_id)
		AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.user_id = OLD.user_id AND coalesce(s.origin_id, s.public_id) = devices.session_origin);
END;
