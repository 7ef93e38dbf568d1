-- Whether a share between accounts shows earlier contents; null: as far as it lets write.
ALTER TABLE `shares` ADD `shows_versions` integer;
