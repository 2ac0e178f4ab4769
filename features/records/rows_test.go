package records

import (
	"encoding/hex"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// TestRecordRoundTrip: a record decodes to itself, and a part of a record is an error.
func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 5, math.MaxInt64})
		maybe := rapid.Ptr(number, true)
		want := SubmissionRecord{
			Status: rapid.SampledFrom(statuses()).Draw(t, "status"), Score: number.Draw(t, "score"), Seq: number.Draw(t, "seq"),
			Tiebreak: maybe.Draw(t, "tiebreak"), Previous: maybe.Draw(t, "previous"), NewScore: maybe.Draw(t, "new score"),
			Hidden: rapid.Bool().Draw(t, "hidden"),
		}
		if want.Status == leaderboard.StatusRejected {
			want.Code, want.Detail = "score-out-of-range", rapid.StringN(0, 5, 9).Draw(t, "detail")
		}
		b := appendRecord(nil, &want)
		var got SubmissionRecord
		if err := readRecord(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
		for cut := range b {
			if readRecord(b[:cut], &got) == nil {
				t.Fatalf("the first %d of %d bytes are a record", cut, len(b))
			}
		}
	})
	for _, bad := range []string{"", "\x01", "\x01\x03\x00\x00", "\x02\x00\x00\x00", "\x01\x00\x00\x00\x00"} {
		if err := readRecord([]byte(bad), &SubmissionRecord{}); err == nil {
			t.Errorf("%q is a record", bad)
		}
	}
	long := SubmissionRecord{Status: leaderboard.StatusRejected, Code: "c", Detail: strings.Repeat("€", 400)}
	var got SubmissionRecord
	if err := readRecord(appendRecord(nil, &long), &got); err != nil || got.Detail != strings.Repeat("€", maxDetail) {
		t.Errorf("%v, %q", err, got.Detail)
	}
}

// TestRequestIDRoundTrip: a request id decodes to itself, and an id made here takes half its length.
func TestRequestIDRoundTrip(t *testing.T) {
	t.Parallel()
	for id, bytes := range map[string]int{
		"": 0, "0123456789abcdef01234567": 13, "0123456789ABCDEF01234567": 24, "abc": 3, "ab": 2, "x": 1, strings.Repeat("f", 128): 65,
	} {
		text := requestIDText(id)
		stored, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(text, "x'"), "'"))
		if err != nil || len(stored) != bytes || requestIDOf(stored) != id {
			t.Errorf("%q is %q, of %d bytes (%v), want %d", id, requestIDOf(stored), len(stored), err, bytes)
		}
	}
}

func requestIDText(id string) string {
	var t mysql.Text
	appendRequestID(&t, id)
	return t.String()
}
