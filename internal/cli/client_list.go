package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// listing is a list of the server that comes in pages.
type listing struct {
	path   string
	query  url.Values // besides limit and cursor; nil for none
	member string     // of an answer, that holds the items
	head   []string   // of the table
}

// showList walks all pages of a list: row adds an item to the table. With --json it prints a line for each item.
func showList[T any](ctx context.Context, p *program, cfg *config, l listing, row func(t *terminal.Table, item *T)) error {
	c, err := newClient(cfg)
	if err != nil {
		return err
	}
	t := terminal.NewTable(io.Discard)
	if !cfg.json {
		t = terminal.NewTable(p.out, l.head...)
	}
	for raw, err := range client.Items[json.RawMessage](ctx, c, l.path, l.query, l.member) {
		if err != nil {
			return err
		}
		if cfg.json {
			err = terminal.PassJSON(p.out, raw)
		} else {
			err = addRow(t, raw, row)
		}
		if err != nil {
			return err
		}
	}
	return t.Flush()
}

func addRow[T any](t *terminal.Table, raw json.RawMessage, row func(*terminal.Table, *T)) error {
	item := new(T)
	if err := json.Unmarshal(raw, item); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	row(t, item)
	return nil
}
