package leaderboard

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMicrosText(t *testing.T) {
	for text, want := range map[string]Micros{
		"1970-01-01T00:00:00Z":             0,
		"1970-01-01T00:00:00.000001Z":      1,
		"2018-08-16T14:51:10Z":             1534431070_000000,
		"2018-08-16T16:51:10.5+02:00":      1534431070_500000,
		"9999-12-31T23:59:59.999999Z":      MaxTime,
		"2018-08-16T14:51:10.123456000Z":   1534431070_123456,
		"2000-02-29T12:00:00.000000-23:59": 951911940_000000,
	} {
		var got Micros
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestMicrosRefusesText(t *testing.T) {
	for _, text := range []string{
		"", "now", "1534431070", "2018-08-16", "2018-08-16T14:51:10", "2018-02-30T00:00:00Z", "2018-08-16T14:51:10.1234567Z",
		"1969-12-31T23:59:59.999999Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999-01:00", "10000-01-01T00:00:00Z",
	} {
		got := Micros(42)
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %s", text, got)
		} else if got != 42 {
			t.Errorf("%q was refused and changed the value to %s", text, got)
		}
	}
}

func TestMicrosRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Micros(rapid.Int64Range(int64(MinTime), int64(MaxTime)).Draw(t, "micros"))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Micros
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%s: %d, %v; want %d", text, got, err, want)
		}
		if len(text) != len(`"2018-08-16T14:51:10.000000Z"`) {
			t.Fatalf("%s does not have six digits of fraction", text)
		}
		if MicrosOf(want.Time()) != want {
			t.Fatalf("time of %d is %s", want, want.Time())
		}
	})
}

func TestMicrosOfTruncates(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 0, 0, 1999, time.FixedZone("", 3600))
	if got := MicrosOf(at).String(); got != "2026-11-20T12:00:00.000001Z" {
		t.Errorf("got %s", got)
	}
}

// TestMicrosAppendTo holds the digits against package time's: of any moment that there is, and of each day of the 400 years after
// which the calendar repeats.
func TestMicrosAppendTo(t *testing.T) {
	equal := func(t rapid.TB, m Micros) {
		if got, want := m.String(), m.Time().Format("2006-01-02T15:04:05.000000Z"); got != want {
			t.Fatalf("%d is %s, want %s", m, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		equal(t, Micros(rapid.Int64().Draw(t, "any")))
		equal(t, Micros(rapid.Int64Range(int64(MinTime), int64(MaxTime)).Draw(t, "stored")))
	})
	for day := range Micros(146_097) {
		equal(t, day*24*60*60*1_000_000)
	}
	for _, m := range []Micros{MinTime - 1, MinTime, MaxTime, MaxTime + 1} {
		equal(t, m)
	}
}

func BenchmarkMicrosAppendTo(b *testing.B) {
	m, buf := Micros(1534431070_123456), make([]byte, 0, 64)
	b.Run("digits", func(b *testing.B) {
		for b.Loop() {
			buf = m.AppendTo(buf[:0])
		}
	})
	b.Run("layout", func(b *testing.B) {
		for b.Loop() {
			buf = m.Time().AppendFormat(buf[:0], "2006-01-02T15:04:05.000000Z")
		}
	})
}
