package rank

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard"
)

// codecs returns the four kinds of boards with their rules.
func codecs() map[Codec]*leaderboard.Rules {
	out := map[Codec]*leaderboard.Rules{}
	for _, o := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
		for _, t := range []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc} {
			r := &leaderboard.Rules{Order: o, Tiebreak: leaderboard.Tiebreak{Order: t}}
			out[CodecOf(r)] = r
		}
	}
	return out
}

// TestKeyGoldenBytes: the layout is kept by Redis copies, cursors in the hands of clients, and saved indexes: it never
// changes.
func TestKeyGoldenBytes(t *testing.T) {
	t.Parallel()
	desc := Codec{}
	asc := CodecOf(&leaderboard.Rules{Order: leaderboard.OrderAsc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}})
	mixed := CodecOf(&leaderboard.Rules{Order: leaderboard.OrderAsc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderDesc}})
	tests := []struct {
		codec Codec
		entry leaderboard.Entry
		want  string
	}{
		{desc, leaderboard.Entry{Member: "u1"}, "7fffffffffffffff 7fffffffffffffff 8000000000000000 7531"},
		{desc, leaderboard.Entry{Member: "u1", Score: 90, Tiebreak: 1, CreatedTime: 1534429870000000}, "7fffffffffffffa5 7ffffffffffffffe 8005738e4b558780 7531"},
		{desc, leaderboard.Entry{Member: "\x00", Score: math.MaxInt64, Tiebreak: math.MinInt64}, "0000000000000000 ffffffffffffffff 8000000000000000 00"},
		{desc, leaderboard.Entry{Member: "é", Score: -1, CreatedTime: leaderboard.MaxTime}, "8000000000000000 7fffffffffffffff 8384440ccc735fff c3a9"},
		{asc, leaderboard.Entry{Member: "u1"}, "8000000000000000 8000000000000000 8000000000000000 7531"},
		{asc, leaderboard.Entry{Member: "u1", Score: math.MinInt64, Tiebreak: math.MaxInt64, CreatedTime: 1}, "0000000000000000 ffffffffffffffff 8000000000000001 7531"},
		{mixed, leaderboard.Entry{Member: "u1", Score: 90, Tiebreak: 1}, "800000000000005a 7ffffffffffffffe 8000000000000000 7531"},
	}
	for _, tt := range tests {
		want := strings.ReplaceAll(tt.want, " ", "")
		if got := hex.EncodeToString([]byte(tt.codec.Key(tt.entry))); got != want {
			t.Errorf("key of %+v is\n%s, want\n%s", tt.entry, got, want)
		}
	}
}

func TestKeyInvalid(t *testing.T) {
	t.Parallel()
	whole := Codec{}.Key(leaderboard.Entry{Member: strings.Repeat("m", leaderboard.MaxMember), Score: 7})
	for n := range HeadLen + 1 {
		if _, err := (Codec{}).Entry(whole[:n]); !errors.Is(err, ErrKey) {
			t.Errorf("decoding the first %d bytes of a key: %v, want ErrKey", n, err)
		}
	}
	if _, err := (Codec{}).Entry(whole + "m"); !errors.Is(err, ErrKey) {
		t.Errorf("decoding a key with a member of %d bytes: %v, want ErrKey", leaderboard.MaxMember+1, err)
	}
	for _, n := range []int{HeadLen + 1, len(whole)} {
		if e, err := (Codec{}).Entry(whole[:n]); err != nil || len(e.Member) != n-HeadLen || e.Score != 7 {
			t.Errorf("decoding the first %d bytes: %+v, %v", n, e, err)
		}
	}
}

func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	for codec := range codecs() {
		rapid.Check(t, func(t *rapid.T) {
			e := drawEntry(t, "entry")
			k := codec.Key(e)
			got, err := codec.Entry(k)
			if err != nil || got != e {
				t.Fatalf("decode(encode(%+v)) = %+v, %v", e, got, err)
			}
			if k.Member() != e.Member || k.Prefix() != codec.Prefix(e.Score, e.Tiebreak) || !k.Valid() {
				t.Fatalf("key %x of %+v has member %q and prefix %x", k, e, k.Member(), k.Prefix())
			}
		})
	}
}

// TestStored: the stored form is what MySQL orders by: higher is better, for every board, without overflow.
func TestStored(t *testing.T) {
	t.Parallel()
	for codec, rules := range codecs() {
		for _, a := range nastyInts() {
			s, _ := codec.Stored(a, 0)
			if back, _ := codec.Stored(s, 0); back != a {
				t.Errorf("%s: stored twice, %d becomes %d", rules.Order, a, back)
			}
			for _, b := range nastyInts() {
				sb, tb := codec.Stored(b, b)
				_, ta := codec.Stored(0, a)
				ea, eb := leaderboard.Entry{Score: a}, leaderboard.Entry{Score: b}
				if (s > sb) != rules.Better(ea, eb) {
					t.Errorf("%s: stored scores of %d and %d are ordered wrongly", rules.Order, a, b)
				}
				ea, eb = leaderboard.Entry{Tiebreak: a}, leaderboard.Entry{Tiebreak: b}
				if (ta > tb) != rules.Better(ea, eb) {
					t.Errorf("%s: stored tiebreaks of %d and %d are ordered wrongly", rules.Tiebreak.Order, a, b)
				}
			}
		}
	}
}

func drawEntry(t *rapid.T, label string) leaderboard.Entry {
	ints := rapid.OneOf(rapid.SampledFrom(nastyInts()), rapid.Int64())
	member := rapid.SliceOfN(rapid.Byte(), 1, leaderboard.MaxMember)
	return leaderboard.Entry{
		Member:      string(member.Draw(t, label+".member")),
		Score:       ints.Draw(t, label+".score"),
		Tiebreak:    ints.Draw(t, label+".tiebreak"),
		CreatedTime: leaderboard.Micros(ints.Draw(t, label+".created_time")),
	}
}

func FuzzKeyEntry(f *testing.F) {
	f.Add("", false)
	f.Add(strings.Repeat("k", HeadLen+1), true)
	f.Add(string(Codec{}.Key(leaderboard.Entry{Member: "u1", Score: 1 << 53})), false)
	f.Fuzz(func(t *testing.T, s string, asc bool) {
		codec := Codec{}
		if asc {
			codec = CodecOf(&leaderboard.Rules{Order: leaderboard.OrderAsc, Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderAsc}})
		}
		e, err := codec.Entry(Key(s))
		if err != nil {
			if Key(s).Valid() || !errors.Is(err, ErrKey) {
				t.Fatalf("decoding %x: %v", s, err)
			}
			return
		}
		if codec.Key(e) != Key(s) {
			t.Fatalf("encode(decode(%x)) = %x", s, codec.Key(e))
		}
	})
}
