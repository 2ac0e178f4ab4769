-- +goose Up
CREATE TABLE board_labels (
    label    VARBINARY(64) NOT NULL,
    value    VARBINARY(64) NOT NULL,
    name     VARBINARY(64) NOT NULL COMMENT 'of the board: what is selected comes in this order',
    board_id BIGINT        NOT NULL,
    PRIMARY KEY (label, value, name),
    KEY board_labels_board (board_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE board_labels;
