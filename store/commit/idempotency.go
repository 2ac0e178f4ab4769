package commit

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// maxKey is the length of the column of idempotency keys in bytes: the client's, and whose it is.
const maxKey = 160

// noBoard owns the idempotency keys of requests for several boards.
const noBoard = 0

// keyRow is a row of idempotency_keys.
type keyRow struct {
	key     string
	hash    [32]byte
	receipt []byte // see receiptFormat
}

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
	for i, e := range entries {
		if !e.Plain() {
			b = appendTerms(b, i, &e)
		}
	}
	for i, e := range entries {
		if e.Play != nil {
			b = append(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, math.MaxUint64-1), uint64(i)), e.Play[:]...)
		}
	}
	for i, e := range entries {
		if e.Metadata != "" {
			b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, math.MaxUint64-2), uint64(i))
			b = append(binary.BigEndian.AppendUint64(b, uint64(len(e.Metadata))), e.Metadata...)
		}
	}
	for i, e := range entries {
		if e.BadNumber != "" {
			b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, math.MaxUint64-3), uint64(i))
			b = append(binary.BigEndian.AppendUint64(b, uint64(len(e.BadNumber))), e.BadNumber...)
		}
	}
	return sha256.Sum256(b)
}

// appendTerms appends what an entry has that is not Plain, after all Fields: no entry has the number that it begins with.
func appendTerms(b []byte, i int, e *leaderboard.Submission) []byte {
	terms, err := json.Marshal(struct {
		If   *leaderboard.Condition
		Edit *leaderboard.Edit
	}{e.If, e.Edit})
	if err != nil {
		terms = nil // it has numbers and texts only
	}
	b = binary.BigEndian.AppendUint64(b, math.MaxUint64)
	b = binary.BigEndian.AppendUint64(b, uint64(i))
	return append(binary.BigEndian.AppendUint64(b, uint64(len(terms))), terms...)
}

// appendOptional appends a flag and, when v is given, its value.
func appendOptional(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, 0)
	}
	return binary.BigEndian.AppendUint64(append(b, 1), uint64(*v))
}

func appendReadKeys(t *mysql.Text, owner int64, keys []string) {
	for chunk := range slices.Chunk(keys, mysql.MaxRows) {
		t.Str("SELECT idempotency_key, request_hash, receipt FROM idempotency_keys WHERE board_id = ").Int(owner)
		t.Str(" AND idempotency_key IN (").Hexes(chunk).Str(");")
	}
}

// scanKeys reads the answers to appendReadKeys.
func scanKeys(rows *sql.Rows, keys []string, found map[string]keyRow) error {
	for range slices.Chunk(keys, mysql.MaxRows) {
		err := mysql.EachRow(rows, func() error {
			var key, hash, receipt sql.RawBytes
			if err := rows.Scan(&key, &hash, &receipt); err != nil {
				return err
			}
			row := keyRow{key: string(key), receipt: slices.Clone([]byte(receipt))}
			copy(row.hash[:], hash)
			found[row.key] = row
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// appendKeys stores the receipts of requests with a key, including requests that changed nothing.
func appendKeys(t *mysql.Text, owner int64, now leaderboard.Micros, keys []keyRow) {
	for chunk := range slices.Chunk(keys, mysql.MaxRows) {
		t.Str("INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt) VALUES ")
		for i, k := range chunk {
			t.Comma(i).Str("(").Int(owner).Str(",").Hex(k.key).Str(",").HexBytes(k.hash[:]).Str(",").Time(now)
			t.Str(",").HexBytes(k.receipt).Str(")")
		}
		t.Str(";")
	}
}
