package hidden

import "leaderboard/features"

// Feature returns what the folder registers.
func Feature() features.Feature {
	return features.Feature{Name: "hidden", Part: Part{}}
}
