package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
)

// importProgress is how far an import has come. It is written after the answer to each batch, and not synced to the disk: after
// a crash an older state does as well, since the batches after it are sent again with the same idempotency keys, and count once
// as long as the server remembers those.
type importProgress struct {
	Version int    `json:"version"`
	Board   string `json:"board"`
	Created string `json:"board_created_time"` // a board that was deleted and made again is another board
	Format  string `json:"format"`
	Batch   int    `json:"batch"`
	Key     string `json:"idempotency_key,omitempty"`
	APIKey  string `json:"api_key"` // id of the API key that sends the batches: idempotency keys belong to it

	Offset    int64  `json:"offset"` // bytes of the file that are dealt with
	Line      int64  `json:"line"`   // number of the next line
	Hash      string `json:"hash"`   // of the seed and the file up to Offset
	Applied   int64  `json:"applied"`
	Unchanged int64  `json:"unchanged"`
	Refused   int64  `json:"refused"`
	Replayed  int64  `json:"replayed,omitempty"`
	New       int64  `json:"new_members"`
	Report    int64  `json:"report_bytes"`
	Seq       int64  `json:"seq"` // of the board's first window, of the last answer
	Complete  bool   `json:"complete"`

	// Unanswered is the key of the last batch of the last run: that run has counted a replay of its answer.
	Unanswered string `json:"unanswered,omitempty"`
}

const importVersion = 2

// seed begins the hash that the keys of the batches are made from, with the properties of the import other than its file.
func (p *importProgress) seed() hash.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "leaderboard import %d\n%s\n%s\n%d\n%q\n", importVersion, p.Board, p.Format, p.Batch, p.Key)
	return h
}

func hashOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func (p *importProgress) entries() int64 { return p.Applied + p.Unchanged + p.Refused + p.Replayed }

// loadProgress reads the progress of an earlier run, or nil.
func loadProgress(file string) (*importProgress, error) {
	if file == "" {
		return nil, nil // nil is a valid answer
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nil is a valid answer
	}
	if err != nil {
		return nil, fmt.Errorf("read the progress: %w", err)
	}
	p := &importProgress{}
	if err := json.Unmarshal(content, p); err != nil || p.Version != importVersion || p.Batch < 1 {
		return nil, fmt.Errorf("%s is not the progress of an import that this version can continue; %s", file, restartHint)
	}
	return p, nil
}

const restartHint = "--restart begins at the first line (of the very same file, imported in one go with the same --batch and API key, the server counts " +
	"nothing again for 24 hours; of a file that has changed or grown it counts again what was imported from the batch of the first change on)"

// checkSame fails when a run cannot continue where another stopped.
func (p *importProgress) checkSame(now *importProgress, file string) error {
	switch {
	case p.Board != now.Board:
		return fmt.Errorf("%s is the progress of an import into %s; name another file with --progress to import into %s too", file, p.Board, now.Board)
	case p.Created != now.Created:
		return fmt.Errorf("%s is the progress of an import into a board %s that was made at %s, this one was made at %s; %s", file, p.Board, p.Created, now.Created, restartHint)
	case p.APIKey != now.APIKey:
		return fmt.Errorf("%s is the progress of an import under the API key %s, and this is %s, under which lines that were sent already would count again; "+
			"continue with the former (its secret may be rotated), or %s", file, p.APIKey, now.APIKey, restartHint)
	case p.Format != now.Format || p.Key != now.Key:
		return fmt.Errorf("%s is the progress of an import with another --format or --idempotency-key; %s", file, restartHint)
	}
	return nil
}

// save replaces the progress file. It does nothing for "".
func (p *importProgress) save(file string) error {
	if file == "" {
		return nil
	}
	content, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(file+".part", append(content, '\n'), 0o666)
	}
	if err == nil {
		err = os.Rename(file+".part", file)
	}
	if err != nil {
		return fmt.Errorf("save the progress: %w", err)
	}
	return nil
}
