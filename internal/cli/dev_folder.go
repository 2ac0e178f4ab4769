package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"leaderboard/internal/devserver"
	"leaderboard/migrations"
)

// schemaFile is beside the data of dev and names the baseline of the schema that they were made with.
const schemaFile = "schema"

// claimFolder notes in the folder of dev which schema its data are made with, before there are any. It fails, and changes
// nothing, when there are data of another schema: also those of the time before there was such a note.
func claimFolder(dir string) error {
	path := filepath.Join(dir, schemaFile)
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the schema of the data: %w", err)
	}
	if strings.TrimSpace(string(content)) == migrations.Baseline() {
		return nil
	}
	for _, kind := range []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB} {
		data := filepath.Join(dir, string(kind))
		if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the data in %s were made with another schema, and before v0.1.0 nothing converts them: "+
				"delete them (rm -r %[1]s), or name another folder with --dir", data)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of the data: %w", err)
	}
	if err := os.WriteFile(path, []byte(migrations.Baseline()+"\n"), 0o644); err != nil {
		return fmt.Errorf("note the schema of the data: %w", err)
	}
	return nil
}
