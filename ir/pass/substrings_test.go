package pass

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSuffixes compares the order of suffixes of random lists with the order of slices.
func TestSuffixes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 40).Draw(r, "kinds")
		for i := range kinds {
			if kinds[i] == 3 && rapid.Bool().Draw(r, "like no other") {
				kinds[i] = 10 + i
			}
		}
		order := suffixes(kinds)
		if !slices.IsSortedFunc(order, func(a, b int) int { return slices.Compare(kinds[a:], kinds[b:]) }) {
			r.Fatalf("%v are not the places of %v in order", order, kinds)
		}
		common := commonPrefixes(kinds, order)
		for i := 1; i < len(order); i++ {
			a, b := kinds[order[i-1]:], kinds[order[i]:]
			n := alike(a, b)
			if common[i] != n {
				r.Fatalf("%v and %v have %d in common, not %d", a, b, n, common[i])
			}
		}
	})
}

// TestSharedCandidates looks for what is printed once of lists of two owners.
func TestSharedCandidates(t *testing.T) {
	layer := []int{1, 2, 3, 4, 5, 6, 7, 8}
	var kinds, owners []int
	add := func(owner int, list ...int) {
		for _, k := range list {
			kinds, owners = append(kinds, k), append(owners, owner)
		}
	}
	for owner := range 2 {
		add(owner, 20)
		add(owner, layer...)
		add(owner, layer...)
		add(owner, 1, 30+owner)
		add(-1, 40+owner)
	}
	got := sharedCandidates(kinds, owners)
	if len(got) == 0 || got[0].length != 8 || len(got[0].at) != 4 {
		t.Fatalf("candidates %v, want four layers first", got)
	}
	for _, c := range got {
		for i := 1; i < len(c.at); i++ {
			if c.at[i] < c.at[i-1]+c.length || !slices.Equal(kinds[c.at[0]:c.at[0]+c.length], kinds[c.at[i]:c.at[i]+c.length]) {
				t.Errorf("%v: its places overlap or differ", c)
			}
		}
	}
	one := make([]int, len(owners))
	if got := sharedCandidates(kinds, one); len(got) > 0 {
		t.Errorf("candidates %v of one owner", got)
	}
}
