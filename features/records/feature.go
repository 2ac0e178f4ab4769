package records

import "leaderboard/features"

// Feature returns what the folder registers.
func Feature() features.Feature {
	return features.Feature{Name: "records", Part: Part{}}
}
