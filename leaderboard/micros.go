package leaderboard

import (
	"fmt"
	"math"
	"time"
)

// Micros is a moment in microseconds since 1970-01-01T00:00:00Z. Every time that is stored, compared or encoded in a
// sort key has this type, so that MySQL (DATETIME(6)), Redis and memory agree to the last digit.
type Micros int64

const (
	// MinTime and MaxTime bound the times that the service accepts and stores.
	MinTime Micros = 0
	MaxTime Micros = 253402300799999999 // 9999-12-31T23:59:59.999999Z
	// Forever is the end of a span that has no end.
	Forever Micros = math.MaxInt64
)

// MicrosOf truncates t to the microsecond.
func MicrosOf(t time.Time) Micros { return Micros(t.UnixMicro()) }

// Time returns the moment in UTC.
func (m Micros) Time() time.Time { return time.UnixMicro(int64(m)).UTC() }

// AppendTo appends the moment as RFC 3339 in UTC with six digits, the form of every time in JSON.
func (m Micros) AppendTo(b []byte) []byte {
	t := m.Time()
	b = t.AppendFormat(b, time.RFC3339) // a custom layout takes three times as long
	b[len(b)-1] = '.'                   // in place of the Z
	micros := t.Nanosecond() / 1000
	for digit := 100_000; digit > 0; digit /= 10 {
		b = append(b, byte('0'+micros/digit%10))
	}
	return append(b, 'Z')
}

func (m Micros) String() string { return string(m.AppendTo(nil)) }

// MarshalText writes RFC 3339 with microseconds.
func (m Micros) MarshalText() ([]byte, error) { return m.AppendTo(nil), nil }

// UnmarshalText reads any RFC 3339 time between MinTime and MaxTime that has no more than six digits of fraction.
func (m *Micros) UnmarshalText(b []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return fmt.Errorf("want an RFC 3339 time such as %s", Micros(0))
	}
	if t.Nanosecond()%1000 != 0 {
		return fmt.Errorf("times have microseconds at most, six digits of fraction")
	}
	v := MicrosOf(t)
	if v < MinTime || v > MaxTime {
		return fmt.Errorf("want a time from %s to %s", MinTime, MaxTime)
	}
	*m = v
	return nil
}
