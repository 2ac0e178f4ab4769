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

type storedReceipt struct {
	Format  int                          `json:"v"`
	Seq     int64                        `json:"seq"`
	Seqs    map[leaderboard.Window]int64 `json:"seqs,omitempty"`
	Results []storedResult               `json:"results"`
}

// storedResult keeps the member as bytes: a rejected one need not be UTF-8.
type storedResult struct {
	Member      []byte                 `json:"m"`
	Status      leaderboard.Status     `json:"st"`
	Score       *int64                 `json:"s,omitempty"`
	Previous    *int64                 `json:"p,omitempty"`
	CreatedTime *int64                 `json:"t,omitempty"`
	Rule        *leaderboard.RuleError `json:"rule,omitempty"`
}

func encodeReceipt(r leaderboard.Receipt) ([]byte, error) {
	out := storedReceipt{Format: receiptFormat, Seq: r.Seq, Seqs: r.Seqs, Results: make([]storedResult, len(r.Results))}
	for i, res := range r.Results {
		out.Results[i] = storedResult{
			[]byte(res.Member), res.Status, res.Score, res.Previous, (*int64)(res.CreatedTime), res.Rule,
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, wrap("receipt", err)
	}
	return b, nil
}

func decodeReceipt(b []byte) (leaderboard.Receipt, error) {
	var in storedReceipt
	if err := json.Unmarshal(b, &in); err != nil {
		return leaderboard.Receipt{}, wrap("receipt", err)
	}
	if in.Format != receiptFormat {
		return leaderboard.Receipt{}, wrap("receipt", fmt.Errorf("format %d: %w", in.Format, errors.ErrUnsupported))
	}
	out := leaderboard.Receipt{Seq: in.Seq, Seqs: in.Seqs, Results: make([]leaderboard.Result, len(in.Results))}
	for i, res := range in.Results {
		out.Results[i] = leaderboard.Result{
			Member: string(res.Member), Status: res.Status, Score: res.Score, Previous: res.Previous,
			CreatedTime: (*leaderboard.Micros)(res.CreatedTime), Rule: res.Rule,
		}
	}
	return out, nil
}
