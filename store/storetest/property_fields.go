package storetest

import (
	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// anyTiebreak draws tiebreaks with and without fields; a tiebreak with fields uses up to all 63 bits.
func anyTiebreak() *rapid.Generator[leaderboard.Tiebreak] {
	return rapid.Custom(func(t *rapid.T) leaderboard.Tiebreak {
		order := rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc})
		tie := leaderboard.Tiebreak{Order: order.Draw(t, "order")}
		if !rapid.Bool().Draw(t, "has fields") {
			return tie
		}
		left := leaderboard.MaxTiebreakBits
		for _, name := range []string{"level", "paid", "deaths"} {
			bits := rapid.IntRange(1, min(30, left)).Draw(t, "bits")
			tie.Fields = append(tie.Fields, leaderboard.TiebreakField{Name: name, Bits: bits, Order: order.Draw(t, "order of "+name)})
			left -= bits
		}
		return tie
	})
}

// drawTiebreak gives a submission a tiebreak in one of the forms there are: as one number, as fields, sometimes not all
// of them or out of range, or none.
func drawTiebreak(t *rapid.T, tie *leaderboard.Tiebreak, sub *leaderboard.Submission) {
	form := rapid.IntRange(0, 7).Draw(t, "form of tiebreak")
	if len(tie.Fields) == 0 || form == 0 {
		if form%4 == 0 {
			v := anyScore().Draw(t, "tiebreak")
			sub.Tiebreak = &v
		}
		return
	}
	if form == 1 {
		return
	}
	sub.Fields = map[string]int64{}
	for i := range tie.Fields {
		f := &tie.Fields[i]
		most := f.Max()
		if form == 2 { // one beyond the range is drawn, too
			most++
		}
		sub.Fields[f.Name] = rapid.OneOf(rapid.Int64Range(0, min(most, 2)), rapid.SampledFrom([]int64{0, most}), rapid.Int64Range(0, most)).Draw(t, f.Name)
	}
	if form == 3 {
		delete(sub.Fields, rapid.SampledFrom(tie.Fields).Draw(t, "left out").Name)
	}
}
