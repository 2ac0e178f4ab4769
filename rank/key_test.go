package rank

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
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

// TestStored: MySQL orders by the stored form: higher is better, for every board, without overflow.
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

// goldenIndex has three buckets; its bytes are spelled out below.
func goldenIndex() *Index {
	c := Codec{}
	bounds := []Key{
		"",
		c.Key(leaderboard.Entry{Member: "u1", Score: 90, CreatedTime: 1534429870000000}),
		c.Key(leaderboard.Entry{Member: "u20", Score: 90, CreatedTime: 1534429870000001}),
	}
	return newIndex(State{Revision: leaderboard.Revision{Incarnation: -3, Seq: 300, AsOf: 1700000000000000}, Total: 13}, 5, bounds, []int64{5, 8, 0})
}

var goldenBytes = strings.Join([]string{
	"4c425249 02 00",                    // LBRI, version, flags
	"05 05 ac02 8080f28183898506 0d 03", // target, incarnation, seq, as_of, total, buckets
	"05",                                // count
	"00 1a 7fffffffffffffa5 7fffffffffffffff 8005738e4b558780 7531 08", // shared, added, boundary, count
	"17 04 81 753230 00",
}, " ")

// TestEncodeGoldenBytes: saved indexes outlive the program that wrote them: other bytes need another version number.
func TestEncodeGoldenBytes(t *testing.T) {
	t.Parallel()
	data, err := goldenIndex().AppendBinary([]byte("in front"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.TrimPrefix(data, []byte("in front"))
	want, err := hex.DecodeString(strings.ReplaceAll(goldenBytes, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := data[:len(data)-crcLen]; !bytes.Equal(got, want) {
		t.Errorf("encoded\n%x, want\n%x", got, want)
	}
	if got := binary.BigEndian.Uint32(data[len(data)-crcLen:]); got != 0xabf33b53 {
		t.Errorf("CRC-32C is %08x, want abf33b53", got)
	}
	x, err := Decode(append(want, data[len(want):]...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Collect(x.Spans()), slices.Collect(goldenIndex().Spans()); !slices.Equal(got, want) || x.At() != goldenIndex().At() || x.Target() != 5 {
		t.Errorf("decoded %+v at %+v, want %+v", got, x.At(), want)
	}
}

func TestDecodeRefusesEveryDamage(t *testing.T) {
	t.Parallel()
	data, err := goldenIndex().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := Decode(data[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d bytes: %v, want ErrDamaged", n, err)
		}
	}
	for i := range len(data) * 8 {
		flipped := bytes.Clone(data)
		flipped[i/8] ^= 1 << (i % 8)
		if _, err := Decode(flipped); !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d flipped: %v, want ErrDamaged", i, err)
		}
	}
	if _, err := Decode(append(bytes.Clone(data), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte more: %v, want ErrDamaged", err)
	}
}

// signed appends a valid checksum to any bytes.
func signed(body []byte) []byte {
	return binary.BigEndian.AppendUint32(bytes.Clone(body), checksum(body))
}

// TestDecodeRefusesContradictions: images that contradict themselves, with a right checksum: a bug wrote them, or
// an attacker.
func TestDecodeRefusesContradictions(t *testing.T) {
	t.Parallel()
	const huge = "ffffffffffffffff7f" // 2^63-1
	tests := map[string]string{
		"nothing":                      "",
		"unknown flag":                 "02 05 01 02 00 01 00",
		"target 0":                     "00 00 01 02 00 01 00",
		"target beyond all bounds":     "00 " + huge + " 01 02 00 01 00",
		"no bucket":                    "00 05 01 02 00 00",
		"more buckets than bytes":      "00 05 01 02 00 " + huge + " 00",
		"seq above int64":              "00 05 ffffffffffffffffff01 02 00 01 00",
		"number without an end":        "00 05 01 02 00 01 ff",
		"total is not the sum":         "00 05 01 02 03 01 02",
		"sum overflows":                "00 05 01 02 00 03 " + huge + " 00 01 61 " + huge + " 00 01 62 02",
		"boundary empty":               "00 05 01 02 03 02 01 00 00 02",
		"boundary as the one before":   "00 05 01 02 03 03 01 00 01 61 01 01 00 01",
		"boundary below the one ahead": "00 05 01 02 03 03 01 00 01 62 01 00 01 61 01",
		"shares more than there is":    "00 05 01 02 03 03 01 00 01 61 01 02 01 61 01",
		"boundary longer than a key":   "00 05 01 02 03 02 01 00 59 " + strings.Repeat("61", maxBound+1) + " 02",
		"boundary cut short":           "00 05 01 02 03 02 01 00 09 61 02",
		"a byte left over":             "00 05 01 02 00 01 00 00",
		"partial without a bucket":     "01 05 01 02 00 01 00",
		"partial with a count at next": "01 05 01 02 03 02 01 00 01 61 02",
	}
	for name, body := range tests {
		b, err := hex.DecodeString(strings.ReplaceAll(body, " ", ""))
		if err != nil {
			t.Fatal(name, err)
		}
		data := signed(append([]byte(encodeMagic), b...))
		if _, err := Decode(data); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
		if _, err := Resume(data); !errors.Is(err, ErrDamaged) {
			t.Errorf("resume %s: %v, want ErrDamaged", name, err)
		}
	}
}

func TestDecodeIsNotForBuilds(t *testing.T) {
	t.Parallel()
	b := NewBuilder(5)
	if err := b.Append(State{Revision: leaderboard.Revision{Seq: 1}, Total: 9}, "k", 5); err != nil {
		t.Fatal(err)
	}
	data, err := b.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data); !errors.Is(err, ErrDamaged) {
		t.Errorf("decoding half an index: %v, want ErrDamaged", err)
	}
	if b, err = Resume(data); err != nil {
		t.Fatal(err)
	}
	if from, more := b.Next(); from != "k" || !more || b.Counted() != 5 {
		t.Errorf("resumed at %q, %t, with %d entries", from, more, b.Counted())
	}
}

// FuzzDecode: bytes that decode without an error give an index that works and that encodes to an equal index.
func FuzzDecode(f *testing.F) {
	golden, err := goldenIndex().AppendBinary(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden[len(encodeMagic) : len(golden)-crcLen])
	f.Add([]byte{1, 5, 1, 2, 3, 2, 1, 0, 1, 'a', 0})
	f.Add([]byte{0, 5, 1, 2, 3, 3, 1, 0, 1, 'a', 1, 1, 1, 'b', 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		data := signed(append([]byte(encodeMagic), body...))
		if b, err := Resume(data); err == nil {
			again, err := b.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Resume(again); err != nil {
				t.Fatal(err)
			}
		}
		x, err := Decode(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		again, err := x.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		y, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Collect(x.Spans()), slices.Collect(y.Spans())) || x.At() != y.At() {
			t.Fatalf("%x decodes to another index than its encoding", body)
		}
		for s := range x.Spans() {
			if x.Find(s.From) != s {
				t.Fatalf("%x is found in %+v, want %+v", s.From, x.Find(s.From), s)
			}
			if got, ok := x.Nth(s.Before); s.Count > 0 && (!ok || got != s) {
				t.Fatalf("entry %d is in %+v, want %+v", s.Before, got, s)
			}
		}
	})
}
