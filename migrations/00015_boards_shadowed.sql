-- +goose Up
ALTER TABLE boards ADD COLUMN shadowed TINYINT NOT NULL DEFAULT 0 COMMENT '1: members may be hidden, the writer asks who' AFTER state;

-- +goose Down
ALTER TABLE boards DROP COLUMN shadowed;
