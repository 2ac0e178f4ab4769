package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// listing is a list of the server that comes in pages.
type listing struct {
	path   string
	query  url.Values // besides limit and cursor; nil for none
	member string     // of an answer, that holds the items
	head   []string   // of the table
}

// showList walks all pages of a list: row adds an item to the table. With --json it prints a line for each item.
func showList[T any](ctx context.Context, p *program, cfg *config, l listing, row func(t *table, item *T)) error {
	c, t := newClient(cfg), newTable(io.Discard)
	if !cfg.json {
		t = newTable(p.out, l.head...)
	}
	query := url.Values{"limit": {"1000"}}
	for name, values := range l.query {
		query[name] = values
	}
	for {
		answer, _, err := c.do(ctx, request{method: http.MethodGet, path: l.path, query: query})
		if err != nil {
			return err
		}
		items, next, err := readList(answer, l.member)
		if err != nil {
			return err
		}
		for _, raw := range items {
			if cfg.json {
				err = passJSON(p.out, raw)
			} else {
				err = addRow(t, raw, row)
			}
			if err != nil {
				return err
			}
		}
		if next == "" {
			return t.flush()
		}
		query.Set("cursor", next)
	}
}

// readList reads a page: its items, and the cursor of the next one ("": there is none).
func readList(answer []byte, member string) (items []json.RawMessage, next string, err error) {
	var page map[string]json.RawMessage
	if err = json.Unmarshal(answer, &page); err == nil {
		err = json.Unmarshal(page[member], &items)
	}
	if cursor, ok := page["next_cursor"]; ok && err == nil {
		err = json.Unmarshal(cursor, &next)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the answer: %w", err)
	}
	return items, next, nil
}

func addRow[T any](t *table, raw json.RawMessage, row func(*table, *T)) error {
	item := new(T)
	if err := json.Unmarshal(raw, item); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	row(t, item)
	return nil
}
