package resident

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// benchPeriods are the numbers of entries that BenchmarkRankBySize compares.
var benchPeriods = []int{10_000, 1_000_000, 5_000_000}

// benchPeriod makes a period of members with 13 bytes, as the database returns them.
func benchPeriod(b *testing.B, entries int) (*Period, []string) {
	b.Helper()
	rules := leaderboard.Rules{}.WithDefaults()
	codec := rank.CodecOf(&rules)
	keys, members := make([]rank.Key, entries), make([]string, entries)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range keys {
		members[i] = fmt.Sprintf("member-%06x", i)
		keys[i] = codec.Key(leaderboard.Entry{Member: members[i], Score: rng.Int64N(1 << 30), CreatedTime: leaderboard.Micros(i)})
	}
	slices.Sort(keys)
	at := rank.State{Revision: leaderboard.Revision{Seq: 1, AsOf: 1}, Total: int64(entries)}
	p, err := load(&rules, at, slices.Collect(slices.Chunk(keys, 1000))...)
	if err != nil {
		b.Fatal(err)
	}
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	for i := range members {
		members[i] = strings.Clone(members[i]) // side by side: a request brings its member along
	}
	return p, members
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		p, _ := benchPeriod(b, 1_000_000)
		b.ReportMetric(float64(p.Bytes())/1e6, "bytes/entry")
	}
}

// BenchmarkHeap measures what a period takes of the heap, and how long the collector takes with it.
func BenchmarkHeap(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p, _ := benchPeriod(b, 1_000_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		runtime.GC()
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "heap-bytes/entry")
	runtime.KeepAlive(p)
}

// BenchmarkRankBySize looks up ranks of random members in periods of all sizes in turn, because a machine may change
// its speed: an iteration is one turn of each. It reports the median time of a rank by size and, as ratio, the median
// of the time in the largest period divided by the time in the smallest. -benchtime 15x makes fifteen turns.
func BenchmarkRankBySize(b *testing.B) {
	sized := make([]*benchLookups, len(benchPeriods))
	for i, entries := range benchPeriods {
		sized[i] = &benchLookups{}
		sized[i].period, sized[i].members = benchPeriod(b, entries)
	}
	for _, mode := range []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeDense} {
		b.Run(string(mode), func(b *testing.B) {
			took := make([][]float64, len(sized))
			var ratios []float64
			for b.Loop() {
				for i, s := range sized {
					took[i] = append(took[i], s.turn(b, mode))
				}
				n := len(ratios)
				ratios = append(ratios, took[len(sized)-1][n]/took[0][n])
			}
			for i, entries := range benchPeriods {
				b.ReportMetric(middle(took[i]), fmt.Sprintf("ns/rank-of-%d", entries))
			}
			b.ReportMetric(middle(ratios), "ratio")
		})
	}
}

// benchLookups goes round the members of a period.
type benchLookups struct {
	period  *Period
	members []string
	next    int
}

// turn looks up some ranks and returns how many nanoseconds one took.
func (l *benchLookups) turn(b *testing.B, mode leaderboard.Mode) float64 {
	const lookups = 50_000
	p := l.period
	start := time.Now()
	for range lookups {
		n, _ := p.members.find([]byte(l.members[l.next]))
		if p.ranks(p.order.place(n), mode).In(mode) == 0 {
			b.Fatal("no rank")
		}
		l.next = (l.next + 1) % len(l.members)
	}
	return float64(time.Since(start).Nanoseconds()) / lookups
}

// middle returns the median.
func middle(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

func BenchmarkQueries(b *testing.B) {
	p, members := benchPeriod(b, 1_000_000)
	for name, query := range map[string]func(i int) error{
		"member": func(i int) error {
			_, err := p.Members(leaderboard.MembersQuery{Members: []string{members[i]}})
			return err
		},
		"around 5": func(i int) error {
			_, err := p.Page(leaderboard.PageQuery{Around: members[i], Before: 5, Limit: 11})
			return err
		},
		"page of 100": func(i int) error {
			_, err := p.Page(leaderboard.PageQuery{Offset: int64(i) * 37 % 1_000_000, Limit: 100})
			return err
		},
		"500 friends": func(i int) error {
			_, err := p.Members(leaderboard.MembersQuery{Members: members[i%900_000:][:500], Limit: 10})
			return err
		},
		"distribution": func(int) error {
			_, err := p.Distribution(leaderboard.DistributionQuery{Buckets: 40})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if err := query(i % len(members)); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkFold changes the score of a random member, in commits of 100.
func BenchmarkFold(b *testing.B) {
	p, members := benchPeriod(b, 1_000_000)
	rng := rand.New(rand.NewPCG(3, 4))
	at := p.At()
	const changes = 100
	for b.Loop() {
		c := leaderboard.Commit{
			FirstSeq: at.Seq + 1, LastSeq: at.Seq + changes, PrevCommittedAt: at.AsOf, CommittedAt: at.AsOf + 1, EntryCount: at.Total,
		}
		for i := range changes {
			n, _ := p.members.find([]byte(members[(int(at.Seq)+i)%len(members)]))
			r := p.slab.at(n)
			old := p.codec.Decode(r.head)
			old.Member = string(p.slab.member(r))
			changed := old
			changed.Score = rng.Int64N(1 << 30)
			c.Changes = append(c.Changes, leaderboard.Change{Member: old.Member, Old: &old, New: &changed})
		}
		if err := p.Fold(&c); err != nil {
			b.Fatal(err)
		}
		at = p.At()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/changes, "ns/change")
}

// BenchmarkPast asks for a random member in 200 periods at once.
func BenchmarkPast(b *testing.B) {
	in, members := make([]*Period, leaderboard.MaxStandings), []string(nil)
	refs := make([]leaderboard.PeriodRef, len(in))
	for i := range in {
		in[i], members = benchPeriod(b, 5000)
		refs[i] = leaderboard.PeriodRef{ID: int64(i + 1), Board: fmt.Sprint("board-", i)}
	}
	for b.Loop() {
		if _, err := Past(in, refs, members[rand.IntN(len(members))]); err != nil {
			b.Fatal(err)
		}
	}
}
