package store

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

// requestHash is SHA-256 over a canonical encoding of a request: equal for equal decoded requests, however they were
// written, and different for all others.
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

// receiptFormat is the version of storedReceipt, the content of idempotency_keys.receipt.
const receiptFormat = 1

// storedReceipt is an answer: of a request to one board, or of one across boards.
type storedReceipt struct {
	Format  int                          `json:"v"`
	Seq     int64                        `json:"seq"`
	Seqs    map[leaderboard.Window]int64 `json:"seqs,omitempty"`
	Results []storedResult               `json:"results"`
	Boards  map[string]storedSeqs        `json:"boards,omitzero"` // of a request across boards, not nil then
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

func encodeAnswer(a answer) ([]byte, error) {
	out := storedReceipt{Format: receiptFormat, Seq: a.receipt.Seq, Seqs: a.receipt.Seqs, Results: []storedResult{}}
	for _, r := range a.receipt.Results {
		out.Results = append(out.Results, storeResult("", r))
	}
	for _, r := range a.across.Results {
		out.Results = append(out.Results, storeResult(r.Board, r.Result))
	}
	if a.across.Boards != nil {
		out.Boards = make(map[string]storedSeqs, len(a.across.Boards))
		for name, seqs := range a.across.Boards {
			out.Boards[name] = storedSeqs(seqs)
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, db.Wrap("receipt", err)
	}
	return b, nil
}

func storeResult(board string, r leaderboard.Result) storedResult {
	return storedResult{[]byte(board), []byte(r.Member), r.Status, r.Score, r.Previous, (*int64)(r.CreatedTime), r.Rule}
}

func decodeAnswer(b []byte) (answer, error) {
	var in storedReceipt
	if err := json.Unmarshal(b, &in); err != nil {
		return answer{}, db.Wrap("receipt", err)
	}
	if in.Format != receiptFormat {
		return answer{}, db.Wrap("receipt", fmt.Errorf("format %d: %w", in.Format, errors.ErrUnsupported))
	}
	if in.Boards == nil {
		out := leaderboard.Receipt{Seq: in.Seq, Seqs: in.Seqs, Results: make([]leaderboard.Result, len(in.Results))}
		for i, r := range in.Results {
			out.Results[i] = r.result()
		}
		return answer{receipt: out}, nil
	}
	out := leaderboard.AcrossReceipt{
		Results: make([]leaderboard.BoardResult, len(in.Results)), Boards: make(map[string]leaderboard.BoardSeqs, len(in.Boards)),
	}
	for i, r := range in.Results {
		out.Results[i] = leaderboard.BoardResult{Board: string(r.Board), Result: r.result()}
	}
	for name, seqs := range in.Boards {
		out.Boards[name] = leaderboard.BoardSeqs(seqs)
	}
	return answer{across: out}, nil
}

func (r *storedResult) result() leaderboard.Result {
	return leaderboard.Result{
		Member: string(r.Member), Status: r.Status, Score: r.Score, Previous: r.Previous,
		CreatedTime: (*leaderboard.Micros)(r.CreatedTime), Rule: r.Rule,
	}
}

// appendOptional appends a flag and, when v is given, its value.
func appendOptional(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, 0)
	}
	return binary.BigEndian.AppendUint64(append(b, 1), uint64(*v))
}
