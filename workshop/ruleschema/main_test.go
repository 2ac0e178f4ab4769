package main

import (
	"bytes"
	"os"
	"testing"
)

// TestCurrent: the document and the console's form have the rules as their tags say them.
func TestCurrent(t *testing.T) {
	const root = "../.."
	document, err := os.ReadFile(root + contract)
	if err != nil {
		t.Fatal(err)
	}
	made, err := rewrite(document)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(document, made) {
		t.Error("api/openapi.yaml does not say what the tags of leaderboard.Rules do: make generate-docs writes it")
	}
	made, err = formFile()
	if err != nil {
		t.Fatal(err)
	}
	if fields, err := os.ReadFile(root + form); err != nil || !bytes.Equal(fields, made) {
		t.Errorf("%s does not have the rules as the tags of leaderboard.Rules say them: make generate-docs writes it; %v", form, err)
	}
}
