package metric

// edits returns the least number of insertions, deletions and substitutions that turn a into b
// (Levenshtein: Binary codes capable of correcting deletions, insertions and reversals, 1966).
func edits[P comparable](a, b []P) int {
	row := make([]int, len(b)+1) // for prefixes of b and the part of a that was seen
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			above := row[j+1]
			if x != y {
				diagonal = 1 + min(diagonal, above, row[j])
			}
			row[j+1], diagonal = diagonal, above
		}
	}
	return row[len(b)]
}
