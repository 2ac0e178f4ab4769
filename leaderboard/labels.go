package leaderboard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxLabels is how many labels a board has at most.
const MaxLabels = 16

// Labels describe a board, so that boards can be selected: {"type":"moba","aspect":"sound"}. Names and values are
// [a-z0-9][a-z0-9._-]{0,63}.
type Labels map[string]string

// ParseLabels reads labels in the form of a query, "type:moba,aspect:sound": 1 to MaxLabels of them, none twice.
func ParseLabels(s string) (Labels, error) {
	const form = "want label:value pairs separated by commas, such as type:moba,aspect:sound"
	labels := Labels{}
	for pair := range strings.SplitSeq(s, ",") {
		label, value, ok := strings.Cut(pair, ":")
		switch _, twice := labels[label]; {
		case !ok || !isName(label) || !isName(value):
			return nil, errors.New(form)
		case twice:
			return nil, fmt.Errorf("label %s is given twice: a board has one value of each", label)
		case len(labels) == MaxLabels:
			return nil, fmt.Errorf("want at most %d labels", MaxLabels)
		}
		labels[label] = value
	}
	return labels, nil
}

// String returns the form that ParseLabels reads, in the order of the names: equal labels have equal strings.
func (l Labels) String() string {
	var b strings.Builder
	for i, label := range l.names() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(label + ":" + l[label])
	}
	return b.String()
}

// Match reports whether these labels include all of other; every board matches an empty other.
func (l Labels) Match(other Labels) bool {
	for label, value := range other {
		if l[label] != value || value == "" {
			return false
		}
	}
	return true
}

func (l Labels) names() []string { return slices.Sorted(maps.Keys(l)) }

func (l Labels) check(fail failFunc) {
	for _, label := range l.names() {
		if !isName(label) {
			fail("/labels", "the name of a label is [a-z0-9][a-z0-9._-]{0,63}")
		}
	}
}
