package main

// transferTable holds what export and import add to the settings of a client.
func transferTable() []setting {
	return []setting{
		{
			name: "format", section: secTransfer, usage: "csv or jsonl; empty: by the name of the file, else csv",
			set: choice(func(c *config) *string { return &c.format }, formatCSV, formatJSONL),
		},
		{
			name: "output", section: secTransfer, usage: "file to export to, written as FILE.part until it is whole; empty: standard output",
			set: text(func(c *config) *string { return &c.output }),
		},
	}
}
