package rank

import (
	"testing"

	"leaderboard/leaderboard"
)

func benchEntry() leaderboard.Entry {
	return leaderboard.Entry{Member: "player-00012345", Score: 1234567, Tiebreak: 3, CreatedTime: 1534429870000000}
}

func BenchmarkKey(b *testing.B) {
	e, n := benchEntry(), 0
	b.ReportAllocs()
	for b.Loop() {
		n += len(Codec{}.Key(e))
	}
	if n == 0 {
		b.Fatal("empty keys")
	}
}

func BenchmarkKeyEntry(b *testing.B) {
	k := Codec{}.Key(benchEntry())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Codec{}).Entry(k); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	keys := make([]Key, 100)
	for i := range keys {
		e := benchEntry()
		e.Score -= int64(i / 3)
		keys[i] = Codec{}.Key(e)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := Number(Top(), keys); got[99].Strict != 100 {
			b.Fatal(got[99])
		}
	}
}

func TestKeyAllocatesOnce(t *testing.T) {
	e, n := benchEntry(), 0
	if got := testing.AllocsPerRun(100, func() { n += len(Codec{}.Key(e)) }); got > 1 {
		t.Errorf("a key costs %v allocations, want 1", got)
	}
	k := Codec{}.Key(e)
	decode := func() {
		got, err := Codec{}.Entry(k)
		if err != nil {
			t.Error(err)
		}
		n += len(got.Member)
	}
	if got := testing.AllocsPerRun(100, decode); got > 0 {
		t.Errorf("decoding a key costs %v allocations, want none", got)
	}
}
