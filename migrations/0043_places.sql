-- Photos by place. The reader of metadata finds the nearest town; `places` has the towns that photos use. Place 0 is
-- for photos far from all towns.
CREATE TABLE `places` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`region` text,
	`country` text,
	`latitude` real,
	`longitude` real
) STRICT;

INSERT INTO `places` (id, name) VALUES (0, '');

ALTER TABLE `media_info` ADD `place_id` integer;

ALTER TABLE `photos` ADD `place_id` integer;

CREATE INDEX `photos_place` ON `photos` (`account_id`,`place_id`,`day`,`taken_at`,`node_id`,`parent_id`,`is_video`) WHERE place_id IS NOT NULL;

DROP VIEW `photo_sources`;

CREATE VIEW `photo_sources` AS
WITH told AS (
	SELECT n.id, n.account_id, n.parent_id, n.blob_id, n.media_type LIKE 'video/%' AS is_video, n.created_at, m.place_id,
		CASE
			WHEN unixepoch(substr(n.captured_at, 1, 19)) IS NOT NULL THEN n.captured_at
			WHEN unixepoch(substr(m.taken_at, 1, 19)) IS NOT NULL THEN m.taken_at
			WHEN unixepoch(substr(n.file_modified_at, 1, 19)) IS NOT NULL THEN n.file_modified_at
		END AS told
	FROM nodes n
	LEFT JOIN blobs b ON b.id = n.blob_id
	LEFT JOIN media_info m ON m.digest = b.digest
	WHERE n.kind = 1 AND n.parent_id > 0 AND (n.media_type LIKE 'image/%' OR n.media_type LIKE 'video/%')
		AND n.media_type NOT LIKE 'image/svg%' AND n.media_type NOT LIKE 'image/%icon%'
		AND NOT EXISTS (SELECT 1 FROM live_pairs l WHERE l.video_id = n.id)
),
timed AS (
	SELECT id, account_id, parent_id, is_video, place_id,
		ifnull(unixepoch(substr(told, 1, 19)) * 1000, created_at) AS taken_at,
		CASE
			WHEN substr(told, -6, 1) = '+' AND substr(told, -3, 1) = ':' THEN
				CAST(substr(told, -5, 2) AS INTEGER) * 60 + CAST(substr(told, -2) AS INTEGER)
			WHEN substr(told, -6, 1) = '-' AND substr(told, -3, 1) = ':' THEN
				- CAST(substr(told, -5, 2) AS INTEGER) * 60 - CAST(substr(told, -2) AS INTEGER)
		END AS offset_minutes
	FROM told
)
SELECT id AS node_id, account_id, parent_id, (taken_at + 62167219200000) / 86400000 - 719528 AS day, taken_at,
	offset_minutes, is_video, place_id
FROM timed;
