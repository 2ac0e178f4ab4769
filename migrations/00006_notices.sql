-- Boards whose rule notify reports passed members, and how far their change logs were read for it.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS notice_boards (
   board_id    BIGINT        NOT NULL,
   window_name VARBINARY(16) NOT NULL COMMENT 'the first window of the board',
   period_id   BIGINT        NOT NULL DEFAULT 0 COMMENT '0: none was looked at',
   seq         BIGINT        NOT NULL DEFAULT 0 COMMENT 'up to which who was passed has been entered in outbox',
   PRIMARY KEY (board_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS notice_boards;
