-- +goose Up
CREATE TABLE profiles (
    member       VARBINARY(64)   NOT NULL,
    display_name VARBINARY(100)  NOT NULL COMMENT 'UTF-8',
    avatar_url   VARBINARY(500)  NOT NULL COMMENT 'http or https, empty for none',
    attributes   VARBINARY(2048) NOT NULL COMMENT 'a JSON object without spaces, names in byte order, compared as bytes',
    updated_time DATETIME(6)     NOT NULL,
    PRIMARY KEY (member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE profiles;
