package demo

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// names are display names of many scripts, one per line.
//
//go:embed names.txt
var names string

const (
	regularsOfAll = 100  // the first members play day by day, like
	regularsBest  = 50   // the best of
	regularsAmong = 5000 // these
	atOnce        = 8    // profiles that are written at the same time
)

// regulars returns the numbers of the members who play day by day, ascending.
func regulars(members int) []int {
	all := make([]int, min(members, regularsAmong))
	for i := range all {
		all[i] = i
	}
	bestFirst := slices.Clone(all)
	slices.SortStableFunc(bestFirst, func(a, b int) int { return cmp.Compare(Score(b), Score(a)) })
	chosen := slices.Concat(all[:min(len(all), regularsOfAll)], bestFirst[:min(len(all), regularsBest)])
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// friends keeps the lists of friends.
type friends interface {
	PutFriends(ctx context.Context, member string, friends []string) (int, error)
}

// profiles keeps the profiles of members.
type profiles interface {
	Introduce(ctx context.Context, member, name string, attributes []byte) error
}

// people makes profiles of the regulars, and friends of the member in the examples.
func (l *loading) people(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	given := strings.Split(strings.TrimSpace(names), "\n")
	best := slices.Clone(l.regulars)
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(Score(b), Score(a)) })
	for place, i := range best {
		name := plainName(i)
		if place%3 == 0 && place/3 < len(given) { // every third of the first, so that pages show them
			name = given[place/3]
		}
		group.Go(func() error {
			text, err := attributes(i)
			if err == nil && l.profiles != nil {
				err = l.profiles.Introduce(ctx, Member(i), name, text)
			}
			return err
		})
	}
	if l.lists != nil {
		group.Go(func() error {
			_, err := l.lists.PutFriends(ctx, Member(Shown), l.friends())
			return err
		})
	}
	return group.Wait()
}

// friends returns the friends of the member in the examples: every ninth regular.
func (l *loading) friends() []string {
	var friends []string
	for at, i := range l.regulars {
		if at%9 == 0 && i != Shown {
			friends = append(friends, Member(i))
		}
	}
	return friends
}

// plainName returns the name that follows from a member's id, such as Calm Otter.
func plainName(i int) string {
	words := strings.Split(Member(i), "-")
	for at, w := range words {
		words[at] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words[:2], " ")
}

// attributes returns the attributes of a member. Every other member has a picture; pages draw a picture for the others.
func attributes(i int) ([]byte, error) {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	countries := [...]string{"AR", "BR", "CA", "DE", "EG", "FR", "GR", "IN", "JP", "KE", "KR", "MX", "NO", "PL", "TR", "US"}
	clans := [...]string{"Comets", "Night Owls", "Old Foxes"}
	attributes := map[string]any{"country": countries[r.IntN(len(countries))], "level": 1 + r.IntN(60)}
	if r.IntN(2) == 0 {
		attributes["clan"] = clans[r.IntN(len(clans))]
	}
	if i%2 == 0 {
		picture, err := avatar(r)
		if err != nil {
			return nil, err
		}
		attributes["avatar"] = picture
	}
	text, err := json.Marshal(attributes)
	if err != nil {
		return nil, fmt.Errorf("attributes: %w", err)
	}
	return text, nil
}

// avatar returns a picture as a data URL: five columns of squares, symmetrical, in one of eight colours. It is a PNG, which share pictures show too.
func avatar(r *rand.Rand) (string, error) {
	inks := [...]color.RGBA{{163, 41, 41, 255}, {163, 102, 41, 255}, {122, 122, 31, 255}, {41, 133, 71, 255}, {41, 122, 133, 255}, {41, 82, 163, 255}, {92, 41, 163, 255}, {163, 41, 122, 255}}
	ink := inks[r.IntN(len(inks))]
	const cell = 8 // pixels
	tint := color.RGBA{ink.R/4 + 191, ink.G/4 + 191, ink.B/4 + 191, 255}
	on := image.NewPaletted(image.Rect(0, 0, 7*cell, 7*cell), color.Palette{tint, ink})
	fill := func(x, y int) {
		draw.Draw(on, image.Rect((x+1)*cell, (y+1)*cell, (x+2)*cell, (y+2)*cell), image.NewUniform(ink), image.Point{}, draw.Src)
	}
	for y := range 5 {
		for x := range 3 {
			if r.IntN(2) == 0 {
				continue
			}
			fill(x, y)
			fill(4-x, y)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, on); err != nil {
		return "", fmt.Errorf("draw an avatar: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
