package cli

import (
	"time"

	"leaderboard/client"
)

// transferTable holds what export and import add to the settings of a client.
func transferTable() []setting {
	return []setting{
		{
			name: "format", section: secTransfer, usage: "csv or jsonl; empty: by the name of the file, else csv",
			set: choice(func(c *config) *string { return &c.format }, client.FormatCSV, client.FormatJSONL),
		},
		{
			name: "output", section: secTransfer, usage: "file to export to, written as FILE.part until it is whole; empty: standard output",
			set: text(func(c *config) *string { return &c.output }),
		},
		{
			name: "batch", section: secTransfer, fallback: "1000", usage: "entries per request of an import, 1 to 1000; an import that goes on keeps the one it began with",
			set: number(func(c *config) *int { return &c.batch }, 1, 1000),
		},
		{
			name: "refused", section: secTransfer, usage: "file for the lines that an import refuses; empty: FILE.refused, of standard input standard error",
			set: text(func(c *config) *string { return &c.refused }),
		},
		{
			name: "progress", section: secTransfer, usage: "file that says how far an import has come; empty: FILE.progress, of standard input none",
			set: text(func(c *config) *string { return &c.progress }),
		},
		{
			name: "restart", section: secTransfer, toggle: true, usage: "import from the first line, whatever the progress says",
			set: toggle(func(c *config) *bool { return &c.restart }),
		},
		{
			name: "retry-for", section: secTransfer, fallback: "5m", usage: "how long an import tries to send a batch while the server is busy or away",
			set: duration(func(c *config) *time.Duration { return &c.retryFor }, 0),
		},
	}
}
