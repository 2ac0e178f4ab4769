package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

// Switch reads true or false.
func Switch(v string) (bool, error) {
	on, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("want true or false, not %q", v)
	}
	return on, nil
}

// OneOf returns a parser that takes one of several words.
func OneOf(words []string) func(string) (string, error) {
	return func(v string) (string, error) {
		if !slices.Contains(words, v) {
			return "", fmt.Errorf("want %s, not %q", strings.Join(words, " or "), v)
		}
		return v, nil
	}
}

// WholeNumber reads a whole number of 64 bits in every form of JSON, as the API does (100.0, 1e2), also with a plus sign or
// leading zeros (+7, 007).
func WholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	return leaderboard.WholeNumber([]byte(text))
}

// Whole returns a parser that takes a whole number.
func Whole[T int | int64](least, most T) func(string) (T, error) {
	return func(v string) (T, error) {
		n, ok := WholeNumber(v)
		if !ok || n < int64(least) || n > int64(most) {
			return 0, fmt.Errorf("want a whole number from %d to %d, not %q", least, most, v)
		}
		return T(n), nil
	}
}

// Duration returns a parser that takes a duration.
func Duration(least time.Duration) func(string) (time.Duration, error) {
	return func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < least {
			return 0, fmt.Errorf("want a duration of at least %s, such as %s, not %q", least, cmp.Or(least, time.Second), v)
		}
		return d, nil
	}
}

// list returns a parser that takes texts separated by commas.
func list(bytes int) func(string) ([]string, error) {
	return func(v string) ([]string, error) {
		values := strings.Split(v, ",")
		for i := range values {
			if values[i] = strings.TrimSpace(values[i]); values[i] == "" || len(values[i]) > bytes {
				return nil, fmt.Errorf("want values of 1 to %d bytes separated by commas, value %d is not one", bytes, i+1)
			}
		}
		return values, nil
	}
}
