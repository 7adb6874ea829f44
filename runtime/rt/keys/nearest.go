package keys

import (
	"cmp"
	"slices"
	"strings"
)

const (
	nearest    = 3   // number of names that are suggested
	candidates = 64  // number of names that are compared byte by byte
	compared   = 200 // number of bytes that are compared
)

// Nearest returns at most three names that are most similar to name, the most similar first. It
// prefers names whose last elements agree, and then names with a small edit distance. It may leave
// out a name whose last element differs from the last element of `name`: it does if the edit
// distance exceeds half the length of `name`, or if there are more than 64 names.
func Nearest(name string, names []string) []string {
	type candidate struct {
		name             string
		common, distance int
	}
	parts := strings.Split(name, ".")
	var all []candidate
	for _, n := range names {
		if c := suffix(parts, strings.Split(n, ".")); c > 0 || len(names) <= candidates {
			all = append(all, candidate{name: n, common: c})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return -cmp.Compare(a.common, b.common) })
	all = all[:min(len(all), candidates)]
	for i := range all {
		all[i].distance = distance(name, all[i].name)
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.common == 0 && 2*c.distance > len(name) })
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.common, b.common), cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var best []string
	for _, c := range all[:min(len(all), nearest)] {
		best = append(best, c.name)
	}
	return best
}

func suffix(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// distance returns the Levenshtein distance of the first [compared] bytes of a and b.
func distance(a, b string) int {
	a, b = a[:min(len(a), compared)], b[:min(len(b), compared)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
