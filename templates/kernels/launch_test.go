package kernels

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// memory is what launches of a test work on, by values and scratch.
type memory map[any]kernel.Arg

// run interprets launches, with symbols of these values. All launches with rounds are of one [Rounds].
func (m memory) run(t *testing.T, symbols map[string]int, launches ...Launch) {
	t.Helper()
	value := func(d dim.Dim) int {
		n, ok := d.Subst(func(s string) (dim.Dim, bool) { n, ok := symbols[s]; return dim.Const(n), ok }).Int()
		if !ok {
			t.Fatalf("%s has no value", d)
		}
		return n
	}
	one := func(l Launch, round int) {
		var grid [3]int
		for i, d := range l.Grid {
			if grid[i] = value(d); grid[i] == 0 {
				return
			}
			if grid[i] > maxBlocks {
				t.Fatalf("%s: %d blocks in dimension %d", l.Kernel.Name, grid[i], i)
			}
		}
		var args []kernel.Arg
		for _, a := range l.Args {
			switch {
			case a.Read != nil:
				args = append(args, m[a.Read])
			case a.Write != nil:
				args = append(args, m[a.Write])
			case a.Scratch != nil:
				args = append(args, m[a.Scratch])
			case a.Round:
				args = append(args, kernel.Number(int32(round)))
			case a.Wide:
				args = append(args, kernel.Number(int64(value(a.Dim))))
			default:
				args = append(args, kernel.Number(int32(value(a.Dim))))
			}
		}
		if err := l.Kernel.Run(grid, args, kernel.Options{Seed: uint64(round)}); err != nil {
			t.Fatalf("%v\n%s", err, l.Kernel)
		}
	}
	for len(launches) > 0 {
		rounds, n := launches[0].Rounds, 1
		if rounds == nil {
			one(launches[0], 0)
			launches = launches[1:]
			continue
		}
		for n < len(launches) && launches[n].Rounds == rounds {
			n++
		}
		for round := range value(rounds.Count) {
			for _, l := range launches[:n] {
				one(l, round)
			}
		}
		launches = launches[n:]
	}
}
