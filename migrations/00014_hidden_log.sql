-- +goose Up
CREATE TABLE hidden_log (
    id       BIGINT        NOT NULL AUTO_INCREMENT,
    board_id BIGINT        NOT NULL COMMENT '0: everywhere',
    member   VARBINARY(64) NOT NULL,
    action   VARBINARY(16) NOT NULL COMMENT 'hide, restore',
    reason   VARCHAR(200)  NOT NULL DEFAULT '',
    actor    VARCHAR(128)  NOT NULL DEFAULT '',
    at       DATETIME(6)   NOT NULL,
    PRIMARY KEY (id),
    KEY hidden_log_board (board_id, id),
    KEY hidden_log_member (member, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE hidden_log;
