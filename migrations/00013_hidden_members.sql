-- +goose Up
CREATE TABLE hidden_members (
    board_id  BIGINT        NOT NULL COMMENT '0: everywhere',
    member    VARBINARY(64) NOT NULL,
    state     VARBINARY(16) NOT NULL COMMENT 'hiding, hidden, restoring; hiding and restoring: entries are still to be moved',
    version   BIGINT        NOT NULL DEFAULT 1 COMMENT 'id in hidden_log of the hiding or restoration',
    reopen    TINYINT       NOT NULL DEFAULT 0 COMMENT 'the entries of closed periods are to be moved too',
    reason    VARCHAR(200)  NOT NULL,
    actor     VARCHAR(128)  NOT NULL DEFAULT '',
    hidden_at DATETIME(6)   NOT NULL,
    PRIMARY KEY (board_id, member),
    KEY hidden_members_member (member, board_id),
    KEY hidden_members_state (state, board_id, member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE hidden_members;
