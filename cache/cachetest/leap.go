package cachetest

import (
	"time"
	"unsafe"
)

// Leap returns a time as time.Now does after the clock of the machine was set: its wall clock shows t and by, and its
// monotonic clock shows t. Package time cannot make such a time, and a bubble of synctest cannot either: the first word
// of a Time is a mark, the seconds since 1885 and 30 bits of nanoseconds, the second one the monotonic clock.
func Leap(t time.Time, by time.Duration) time.Time {
	const monotonic, nsecBits = 1 << 63, 30
	shown := t.Add(by)
	seconds := shown.Unix() - time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	passed := t.Round(0).Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	words := (*struct {
		wall uint64
		ext  int64
	})(unsafe.Pointer(&t))
	words.wall, words.ext = monotonic|uint64(seconds)<<nsecBits|uint64(shown.Nanosecond()), int64(passed)
	return t
}
