package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the repository.
const root = "../.."

// TestParts: everything that the program contains has a license that it may have, on every system (promise G6).
func TestParts(t *testing.T) {
	t.Parallel()
	found, err := parts(root)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := writeLicenses(&text, found); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{ // each from another place
		"std": "Copyright 2009 The Go Authors", "svelte": "Svelte Contributors",
		"github.com/go-sql-driver/mysql": "Mozilla Public License", "github.com/klauspost/compress": "Snappy-Go Authors",
	} {
		i := slices.IndexFunc(found, func(p part) bool { return p.Name == name })
		if i < 0 || found[i].Version == "" || !strings.Contains(found[i].text, want) {
			t.Errorf("%s is not among the parts, or its text lacks %q", name, want)
		} else if !strings.Contains(text.String(), "\n"+found[i].title()+"\n") || !strings.Contains(text.String(), found[i].text) {
			t.Errorf("%s is not among what is written", name)
		}
	}
}

// TestIdentify: a part without an allowed license ends a release (promise G6).
func TestIdentify(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"known":     {text: string(text)},
		"copyleft":  {text: string(text) + "\nThis program is free software: you can redistribute it and/or modify it under the terms of the GNU Affero General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.", want: "may not have"},
		"unknown":   {text: "All rights reserved.", want: "are known"},
		"by a link": {text: "See https://opensource.org/licenses/MIT", want: "are known"},
	} {
		p := part{Kind: kindGo, Name: "example.org/x", Version: "v1.0.0", text: c.text}
		if err := p.identify(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if text, err := licenseTexts([]string{t.TempDir()}); err == nil {
		t.Errorf("a module without a license has %q", text)
	}
}
