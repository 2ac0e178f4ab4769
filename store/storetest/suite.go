package storetest

import (
	"testing"
)

// Run runs the whole conformance suite on an implementation of everything.
func Run(t *testing.T, database Database) {
	for name, test := range map[string]func(*testing.T, Database){
		"boards": testBoards, "boards changed at once": testChangeBoard, "board conflict": testBoardConflict, "board names and rules": testBoardRules,
		"delete board": testDeleteBoard, "labels": testLabels, "fields": testFields, "periods": testPeriods,
		"combined": func(t *testing.T, database Database) {
			RunCombined(t, Subject{Database: database, Rankings: database}, database)
		},
		"asked together": testAsk, "policies": testPolicies, "neighbours": testNeighbours, "limits": testLimits, "limit of best": testLimitOfBest, "limit of sum": testLimitOfSum, "strict ids": testStrictIDs, "times": testTimes, "sum range": testSumRange,
		"repeated members": testRepeatedMembers, "created times": testCreatedTimes, "remove": testRemove,
		"keys": testKeys, "keys of callers": testKeysOfCallers, "key of a request that changes nothing": testKeyUnchanged, "missing board": testMissingBoard,
		"conditions": testConditions, "conditions and windows": testConditionWindows, "conditions and hidden members": testConditionHidden,
		"atomic": testAtomic, "atomic on several boards": testAtomicBoards, "overrides": testOverrides,
		"multi-board": testMultiBoard, "multi-board keys": testMultiBoardKeys,
		"log": testLog, "logs of several periods": testLogs, "snapshot": testSnapshot, "runs": testRuns,
		"hidden entry": testHiddenEntry, "hidden removed": testHiddenRemoved, "hidden everywhere": testHiddenEverywhere, "hidden list": testHiddenList,
		"hidden and keys": testHiddenKeys, "hidden and board deleted": testHiddenBoardDeleted, "forget": testForget,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, database) })
	}
	RunRankings(t, Subject{Database: database, Rankings: database})
}

// RunFeatured runs the conformance suite of features.
func RunFeatured(t *testing.T, database Featured) {
	for name, test := range map[string]func(*testing.T, Featured){
		"plays": testPlays, "plays of others": testPlaysOfOthers,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, database) })
	}
}

// RunRankings runs the part of the suite that is about queries. The queries ask for the seq of the last write, so that a
// layer that may lag must still have that write.
func RunRankings(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"classic table": testClassic, "pages": testPages, "cursor": testCursor, "forged cursors": testForgedCursors, "around": testAround,
		"members": testMembers, "some of many members": testFriends, "score rank": testScoreRank, "moves": testMoves, "distribution": testDistribution, "empty period": testEmpty, "period without a row": testWithoutRow,
		"member bytes": testMemberBytes, "extreme scores": testExtremes, "as of": testAsOf, "field ranks": testFieldRanks, "seq ahead": testSeqAhead, "no period": testNoPeriod,
		"hidden": testHiddenRanks, "standings": testStandings, "many standings": testManyStandings,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, s) })
	}
}
