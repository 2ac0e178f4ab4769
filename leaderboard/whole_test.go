package leaderboard

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWholeNumber: a number is accepted when it is whole and fits, in any notation of JSON, and no other text is.
func TestWholeNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "-0.00e5": 0, "0e99999999999999999999": 0, "0e-99999999999999999999": 0,
		"100": 100, "100.0": 100, "1e2": 100, "1E+2": 100, "1e02": 100, "1000e-1": 100, "0.1e3": 100, "12.50e1": 125, "-1.5e1": -15,
		"9223372036854775807": math.MaxInt64, "9223372036854775807.000": math.MaxInt64, "9.223372036854775807e18": math.MaxInt64,
		"-9223372036854775808": math.MinInt64, "-9223372036854775808.0": math.MinInt64, "-922337203685477580.8E1": math.MinInt64,
		"9007199254740993.0": 9007199254740993, "1" + strings.Repeat("0", 300) + "e-300": 1,
	} {
		if got, ok := WholeNumber([]byte(text)); !ok || got != want {
			t.Errorf("%s: got %d, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "-", "+1", "01", "-01", "00", "1.", ".5", "1e", "1e+", "1e-", "e1", "1.5", "1e-1", "15e-2", "0.1", "1e19", "9223372036854775808", "-9223372036854775809", "9223372036854775807.5",
		"9223372036854775808.0", "1e99999999999999999999", "1e-99999999999999999999", "0x10", "1_000", " 1", "1 ", "NaN", "Infinity", "--1", "1e1.5", "1.0.0", "１", "1e2e2", "five",
	} {
		if got, ok := WholeNumber([]byte(text)); ok {
			t.Errorf("%s: got %d, want none", text, got)
		}
	}
}

// TestWholeNumberExact: it agrees with fractions of any size.
func TestWholeNumberExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, zeros := rapid.Int64().Draw(t, "n"), rapid.IntRange(0, 4).Draw(t, "zeros")
		text := strconv.FormatInt(n, 10)
		if zeros > 0 {
			text += "." + strings.Repeat("0", zeros-1) + rapid.SampledFrom([]string{"0", "0", "5"}).Draw(t, "last")
		}
		if e := rapid.IntRange(-20, 20).Draw(t, "power"); e != 0 {
			text += fmt.Sprintf("e%+d", e)
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		want := exact.IsInt() && exact.Num().IsInt64()
		if got, ok := WholeNumber([]byte(text)); ok != want || ok && got != exact.Num().Int64() {
			t.Errorf("%s: got %d, %t; want %s", text, got, ok, exact)
		}
	})
}
