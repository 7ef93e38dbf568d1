-- The ETag that the service gave each object, and which objects were found damaged (features/blob-places).
ALTER TABLE `remote_blobs` ADD `etag` text;--> statement-breakpoint
ALTER TABLE `remote_blobs` ADD `damaged_at` integer;--> statement-breakpoint
CREATE INDEX `remote_blobs_damaged` ON `remote_blobs` (`digest`) WHERE damaged_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `remote_blobs_reading` ON `remote_blobs` (coalesce(verified_at, stored_at),`digest`) WHERE used_at IS NULL AND leaving_at IS NULL;
--> statement-breakpoint
CREATE TRIGGER `findings_object_stored` AFTER INSERT ON `remote_blobs`
WHEN NOT EXISTS (SELECT 1 FROM `blobs` WHERE digest = NEW.digest AND damaged_at IS NOT NULL)
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, NEW.stored_at), resolution = 'healed'
	WHERE coalesce(digest, x'') = NEW.digest AND resolved_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `findings_object_healed` AFTER UPDATE OF `damaged_at` ON `remote_blobs`
WHEN OLD.damaged_at IS NOT NULL AND NEW.damaged_at IS NULL
	AND NOT EXISTS (SELECT 1 FROM `blobs` WHERE digest = NEW.digest AND damaged_at IS NOT NULL)
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, NEW.stored_at, coalesce(NEW.verified_at, 0)), resolution = 'healed'
	WHERE coalesce(digest, x'') = NEW.digest AND resolved_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `findings_object_removed` AFTER DELETE ON `blobs` WHEN OLD.damaged_at IS NULL
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), resolution = 'removed'
	WHERE coalesce(digest, x'') = OLD.digest AND resolved_at IS NULL;
END;
