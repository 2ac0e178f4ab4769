package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// partsFile is the file with the parts of the program; it is for the documents, and in no archive.
const partsFile = "parts.json"

// prepare writes the generated files of an archive: licenses of others and the program's own output for shells.
func prepare(program, folder string) error {
	found, err := parts(".")
	if err != nil {
		return err
	}
	var licenses bytes.Buffer
	if err := writeLicenses(&licenses, found); err != nil {
		return err
	}
	list, err := json.MarshalIndent(found, "", "\t")
	if err != nil {
		return fmt.Errorf("list the parts: %w", err)
	}
	files := map[string][]byte{"THIRD-PARTY-LICENSES.txt": licenses.Bytes(), partsFile: list}
	for name, args := range map[string][]string{
		"completions/leaderboard.bash": {"completion", "bash"},
		"completions/_leaderboard":     {"completion", "zsh"},
		"completions/leaderboard.fish": {"completion", "fish"},
		"man/leaderboard.1":            {"man"},
	} {
		out, err := exec.Command(program, args...).Output()
		if err != nil || len(out) == 0 {
			return fmt.Errorf("%s %q printed %d bytes: %w", program, args, len(out), err)
		}
		files[name] = out
	}
	return replaceFolder(folder, files)
}

// replaceFolder replaces a folder by one with the given files, by name.
func replaceFolder(folder string, files map[string][]byte) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for name, content := range files {
		name = filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
