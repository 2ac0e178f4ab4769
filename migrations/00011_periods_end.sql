-- +goose Up
ALTER TABLE periods ADD KEY periods_end (state, ends_at);

-- +goose Down
ALTER TABLE periods DROP KEY periods_end;
