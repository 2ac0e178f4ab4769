package main

import (
	"bytes"
	"os"
	"testing"
)

// TestCurrent: the document has the rules as their tags say them.
func TestCurrent(t *testing.T) {
	document, err := os.ReadFile("../../api/openapi.yaml")
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
}
