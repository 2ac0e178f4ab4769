package commit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// requestHash returns SHA-256 over a canonical encoding of a request: equal for equal decoded requests, however they
// were written, and different for all others.
func requestHash(entries []leaderboard.Submission) [sha256.Size]byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 64*len(entries)+8), uint64(len(entries)))
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, uint64(len(e.Member)))
		b = append(b, e.Member...)
		b = binary.BigEndian.AppendUint64(b, uint64(e.Score))
		b = appendOptional(b, e.Tiebreak)
		b = appendOptional(b, (*int64)(e.CreatedTime))
	}
	// Fields come last, so that a request without any has the hash that it always had.
	for i, e := range entries {
		if e.Fields == nil {
			continue
		}
		b = binary.BigEndian.AppendUint64(b, uint64(i))
		b = binary.BigEndian.AppendUint64(b, uint64(len(e.Fields)))
		for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
			b = binary.BigEndian.AppendUint64(b, uint64(len(name)))
			b = append(b, name...)
			b = binary.BigEndian.AppendUint64(b, uint64(e.Fields[name]))
		}
	}
	return sha256.Sum256(b)
}

// multiBoardHash is requestHash of a request for several boards.
func multiBoardHash(entries []leaderboard.BoardSubmission) [sha256.Size]byte {
	subs := make([]leaderboard.Submission, len(entries))
	for i := range entries {
		subs[i] = entries[i].Submission
	}
	hash := requestHash(subs)
	b := hash[:]
	for i := range entries {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(entries[i].Board))), entries[i].Board...)
	}
	return sha256.Sum256(b)
}

// appendOptional appends a flag and, when v is given, its value.
func appendOptional(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, 0)
	}
	return binary.BigEndian.AppendUint64(append(b, 1), uint64(*v))
}

// receiptFormat is the version of storedReceipt, the content of idempotency_keys.receipt.
const receiptFormat = 1

// storedReceipt is the receipt of a request: of one for one board, or of one for several.
type storedReceipt struct {
	Format  int                          `json:"v"`
	Seq     int64                        `json:"seq"`
	Seqs    map[leaderboard.Window]int64 `json:"seqs,omitempty"`
	Results []storedResult               `json:"results"`
	Boards  map[string]storedSeqs        `json:"boards,omitzero"` // of a request for several boards, not nil then
}

type storedSeqs struct {
	Seq  int64                        `json:"seq"`
	Seqs map[leaderboard.Window]int64 `json:"seqs,omitempty"`
}

// storedResult keeps names as bytes: a rejected one need not be UTF-8.
type storedResult struct {
	Board       []byte                 `json:"b,omitempty"`
	Member      []byte                 `json:"m"`
	Status      leaderboard.Status     `json:"st"`
	Score       *int64                 `json:"s,omitempty"`
	Previous    *int64                 `json:"p,omitempty"`
	CreatedTime *int64                 `json:"t,omitempty"`
	Rule        *leaderboard.RuleError `json:"rule,omitempty"`
}

func storeReceipt(r *leaderboard.Receipt) storedReceipt {
	out := storedReceipt{Format: receiptFormat, Seq: r.Seq, Seqs: r.Seqs, Results: make([]storedResult, len(r.Results))}
	for i := range r.Results {
		out.Results[i] = storeResult("", &r.Results[i])
	}
	return out
}

func storeMultiBoardReceipt(r *leaderboard.MultiBoardReceipt) storedReceipt {
	out := storedReceipt{Format: receiptFormat, Results: make([]storedResult, len(r.Results)), Boards: make(map[string]storedSeqs, len(r.Boards))}
	for i := range r.Results {
		out.Results[i] = storeResult(r.Results[i].Board, &r.Results[i].Result)
	}
	for name, seqs := range r.Boards {
		out.Boards[name] = storedSeqs(seqs)
	}
	return out
}

func storeResult(board string, r *leaderboard.Result) storedResult {
	return storedResult{[]byte(board), []byte(r.Member), r.Status, r.Score, r.Previous, (*int64)(r.CreatedTime), r.Rule}
}

func encodeReceipt(r storedReceipt) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, db.Wrap("receipt", err)
	}
	return b, nil
}

func decodeReceipt(b []byte) (storedReceipt, error) {
	var in storedReceipt
	if err := json.Unmarshal(b, &in); err != nil {
		return in, db.Wrap("receipt", err)
	}
	if in.Format != receiptFormat {
		return in, db.Wrap("receipt", fmt.Errorf("format %d: %w", in.Format, errors.ErrUnsupported))
	}
	return in, nil
}

// receipt returns the receipt of a request for one board.
func (s *storedReceipt) receipt() leaderboard.Receipt {
	out := leaderboard.Receipt{Seq: s.Seq, Seqs: s.Seqs, Results: make([]leaderboard.Result, len(s.Results))}
	for i := range s.Results {
		out.Results[i] = s.Results[i].result()
	}
	return out
}

// multiBoardReceipt returns the receipt of a request for several boards.
func (s *storedReceipt) multiBoardReceipt() leaderboard.MultiBoardReceipt {
	out := leaderboard.MultiBoardReceipt{
		Results: make([]leaderboard.BoardResult, len(s.Results)), Boards: make(map[string]leaderboard.BoardSeqs, len(s.Boards)),
	}
	for i := range s.Results {
		out.Results[i] = leaderboard.BoardResult{Board: string(s.Results[i].Board), Result: s.Results[i].result()}
	}
	for name, seqs := range s.Boards {
		out.Boards[name] = leaderboard.BoardSeqs(seqs)
	}
	return out
}

func (r *storedResult) result() leaderboard.Result {
	return leaderboard.Result{
		Member: string(r.Member), Status: r.Status, Score: r.Score, Previous: r.Previous,
		CreatedTime: (*leaderboard.Micros)(r.CreatedTime), Rule: r.Rule,
	}
}
