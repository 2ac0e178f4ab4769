package leaderboard

import (
	"bytes"
	"strconv"
)

// WholeNumber reads a JSON number that is a whole number of 64 bits, however it is written: 100, 100.0 and 1e2 are 100. It is exact, and
// ok is false for everything else.
func WholeNumber(text []byte) (n int64, ok bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && isPlain(text) {
		return n, true
	}
	digits, negative := bytes.CutPrefix(text, []byte{'-'})
	mantissa, power, ok := splitNumber(digits)
	if !ok {
		return 0, false
	}
	kept := bytes.TrimRight(mantissa, "0")
	power += len(mantissa) - len(kept)
	if kept = bytes.TrimLeft(kept, "0"); len(kept) == 0 {
		return 0, true
	}
	if power < 0 || len(kept)+power > maxDigits {
		return 0, false
	}
	whole := append(make([]byte, 0, maxDigits+1), kept...)
	for range power {
		whole = append(whole, '0')
	}
	if negative {
		whole = append([]byte{'-'}, whole...)
	}
	n, err := strconv.ParseInt(string(whole), 10, 64)
	return n, err == nil
}

// WantWholeNumber describes the numbers that WholeNumber accepts.
const WantWholeNumber = "want a whole number from -9223372036854775808 to 9223372036854775807"

const (
	maxDigits = 19         // of an int64
	maxPower  = 10_000_000 // more digits than any text has: a greater power is just as far from an int64
)

// isPlain reports whether a text that Go parses as an int64 is also a number in JSON: without a plus and without
// leading zeros.
func isPlain(text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte{'-'})
	return digits[0] != '+' && (digits[0] != '0' || len(digits) == 1)
}

// splitNumber splits a JSON number without its sign into digits and the power of ten that they are multiplied by.
func splitNumber(text []byte) (mantissa []byte, power int, ok bool) {
	whole := digitsAt(text)
	if len(whole) == 0 || whole[0] == '0' && len(whole) > 1 {
		return nil, 0, false
	}
	rest := text[len(whole):]
	mantissa = whole
	if fraction, is := bytes.CutPrefix(rest, []byte{'.'}); is {
		part := digitsAt(fraction)
		if rest = fraction[len(part):]; len(part) == 0 {
			return nil, 0, false
		}
		mantissa, power = append(bytes.Clone(whole), part...), -len(part)
	}
	if len(rest) == 0 {
		return mantissa, power, true
	}
	exponent, ok := exponentOf(rest)
	return mantissa, power + exponent, ok
}

// exponentOf reads e and a number, at most maxPower away from 0.
func exponentOf(text []byte) (n int, ok bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := bytes.HasPrefix(text, []byte{'-'})
	if negative || bytes.HasPrefix(text, []byte{'+'}) {
		text = text[1:]
	}
	if len(text) == 0 || len(digitsAt(text)) < len(text) {
		return 0, false
	}
	if n, err := strconv.Atoi(string(text)); err == nil && n < maxPower {
		if negative {
			n = -n
		}
		return n, true
	}
	if negative {
		return -maxPower, true
	}
	return maxPower, true
}

// digitsAt returns the digits that a text begins with.
func digitsAt(text []byte) []byte {
	for i, c := range text {
		if c < '0' || c > '9' {
			return text[:i]
		}
	}
	return text
}
