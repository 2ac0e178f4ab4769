-- +goose Up
ALTER TABLE hidden_members
    ADD COLUMN after_board BIGINT NOT NULL DEFAULT 0 COMMENT 'of one everywhere that is under way: boards up to this one are done' AFTER reopen;

-- +goose Down
ALTER TABLE hidden_members DROP COLUMN after_board;
