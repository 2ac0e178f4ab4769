package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is how many items an iterator requests at once.
const pageSize = 1000

// Items iterates over a list that comes in pages: the values of one member of each answer, in order, such as boards of
// /v1/boards. It stops after the first error, which comes with the zero value.
func Items[T any](ctx context.Context, c *Client, path string, query url.Values, member string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		q := copyOf(query)
		if !q.Has("limit") {
			q.Set("limit", strconv.Itoa(pageSize))
		}
		for {
			page, next, err := itemsOf[T](ctx, c, path, q, member)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			q.Del("offset") // the cursor replaces it
			q.Set("cursor", next)
		}
	}
}

// itemsOf reads one page: its items, and the cursor of the next page ("": none).
func itemsOf[T any](ctx context.Context, c *Client, path string, query url.Values, member string) (page []T, next string, err error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return nil, "", err
	}
	var members map[string]json.RawMessage
	if err := answer.Decode(&members); err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(members[member], &page); err != nil {
		return nil, "", fmt.Errorf("read the answer: %w", err)
	}
	if cursor, ok := members["next_cursor"]; ok {
		if err := json.Unmarshal(cursor, &next); err != nil {
			return nil, "", fmt.Errorf("read the answer: %w", err)
		}
	}
	return page, next, nil
}

// copyOf returns a copy of parameters.
func copyOf(query url.Values) url.Values {
	out := make(url.Values, len(query)+2)
	for name, values := range query {
		out[name] = values
	}
	return out
}
