package pass

import (
	"cmp"
	"slices"
)

// sharedCandidate is a list of numbers that occurs several times in a longer list.
type sharedCandidate struct {
	// length is the length of the list. For each s in [1, shifts], the lists of the same length
	// that begin at at[0]+s, at[1]+s, … are equal too.
	length, shifts int
	at             []int // index of each occurrence
}

func (c sharedCandidate) saved() int { return (len(c.at)-1)*c.length - len(c.at) }

// sharedCandidates returns sequences of numbers that occur several times in kinds. owners[i] is the
// owner of kinds[i], such as the function of a node. The occurrences of a sequence do not overlap,
// and belong to at least two owners. Writing the sequence only once saves at least minShared
// numbers. sharedCandidates returns the maxCandidates sequences that save the most, or all if there
// are fewer, in descending order.
func sharedCandidates(kinds, owners []int) []sharedCandidate {
	var found []sharedCandidate
	for _, r := range repeats(kinds) {
		found = append(found, r.apart(r.length))
		gap := r.length
		for i := 1; i < len(r.at); i++ {
			gap = min(gap, r.at[i]-r.at[i-1])
		}
		if gap < r.length { // it overlaps itself: layers that follow each other
			found = append(found, r.apart(gap))
		}
	}
	found = slices.DeleteFunc(found, func(c sharedCandidate) bool {
		several := slices.ContainsFunc(c.at, func(at int) bool { return owners[at] != owners[c.at[0]] })
		return c.saved() < minShared || !several
	})
	slices.SortStableFunc(found, func(a, b sharedCandidate) int { return cmp.Compare(b.saved(), a.saved()) })
	return found[:min(len(found), maxCandidates)]
}

// apart returns c with its list cut to `length` numbers. It drops occurrences that overlap an
// earlier one.
func (c sharedCandidate) apart(length int) sharedCandidate {
	out := sharedCandidate{length: length, shifts: min(c.length-length, maxCandidates)}
	end := 0
	for _, at := range c.at {
		if at >= end {
			out.at, end = append(out.at, at), at+length
		}
	}
	return out
}

// repeats returns sequences of numbers that occur several times in kinds. Writing a sequence only
// once saves at least minShared numbers. The indices of its occurrences are in order, and the
// occurrences may overlap. A sequence is left out if the same number follows it at all occurrences,
// because a longer sequence then occurs there too. repeats returns the
// 4·maxCandidates sequences that save the most, or all if there are fewer, in descending order.
func repeats(kinds []int) []sharedCandidate {
	order := suffixes(kinds)
	common := commonPrefixes(kinds, order)
	var found []sharedCandidate
	type open struct{ length, from int }
	var stack []open
	for i := 1; i <= len(order); i++ {
		length, from := 0, i-1
		if i < len(order) {
			length = common[i]
		}
		for len(stack) > 0 && stack[len(stack)-1].length > length {
			top := stack[len(stack)-1]
			stack, from = stack[:len(stack)-1], top.from
			c := sharedCandidate{length: top.length, at: order[top.from:i]}
			if c.saved() >= minShared {
				found = append(found, c)
			}
		}
		if length > 0 && (len(stack) == 0 || stack[len(stack)-1].length < length) {
			stack = append(stack, open{length, from})
		}
	}
	slices.SortStableFunc(found, func(a, b sharedCandidate) int { return cmp.Compare(b.saved(), a.saved()) })
	found = found[:min(len(found), 4*maxCandidates)]
	for i, c := range found {
		found[i].at = slices.Sorted(slices.Values(c.at))
	}
	return found
}

// suffixes sorts the suffixes of a list. It returns the index at which each begins, in sorted
// order.
func suffixes(kinds []int) []int {
	n := len(kinds)
	order, rank, next := make([]int, n), slices.Clone(kinds), make([]int, n)
	for i := range order {
		order[i] = i
	}
	for width := 1; ; width *= 2 {
		compare := func(a, b int) int {
			if c := cmp.Compare(rank[a], rank[b]); c != 0 {
				return c
			}
			at := func(i int) int {
				if i+width/2 < n && width > 1 {
					return rank[i+width/2]
				}
				return -1
			}
			return cmp.Compare(at(a), at(b))
		}
		slices.SortFunc(order, compare)
		distinct := 0
		for i, at := range order {
			if i > 0 && compare(order[i-1], at) != 0 {
				distinct++
			}
			next[at] = distinct
		}
		rank, next = next, rank
		if distinct == n-1 || n == 0 || width > 2*n {
			return order
		}
	}
}

// commonPrefixes compares each suffix in `order` with the suffix before it. It returns the length
// of their common prefix for each suffix. A suffix of kinds is given by its first index.
func commonPrefixes(kinds, order []int) []int {
	place := make([]int, len(kinds))
	for i, at := range order {
		place[at] = i
	}
	common := make([]int, len(kinds))
	length := 0
	for at := range kinds {
		if place[at] == 0 {
			length = 0
			continue
		}
		before := order[place[at]-1]
		for max(at, before)+length < len(kinds) && kinds[at+length] == kinds[before+length] {
			length++
		}
		common[place[at]] = length
		length = max(0, length-1)
	}
	return common
}
