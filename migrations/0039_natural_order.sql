-- Names are also sorted in the natural order, in which "note 2" comes before "note 10". Keys start as NULL: the server computes
-- them in the background. Until then it sorts the names without a key itself.
ALTER TABLE `nodes` ADD `natural_key` text;
--> statement-breakpoint
CREATE INDEX `nodes_natural` ON `nodes` (`parent_id`,`kind`,`natural_key`,`name`);
--> statement-breakpoint
CREATE INDEX `nodes_unkeyed` ON `nodes` (`account_id`) WHERE natural_key IS NULL;
