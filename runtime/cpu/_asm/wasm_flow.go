package main

import (
	"cmp"
	"fmt"
	"slices"
)

// span is a block or a loop of WebAssembly around the steps from…to of a function. A branch to the label at `to`
// leaves a block; a branch to the label at `from` repeats a loop.
type span struct {
	from, to int
	loop     bool
}

// spans returns the blocks and loops with which the branches of a function can be written. Each label that is
// reached from later steps begins a loop, which lasts until the last of these steps. Each label that is reached
// from earlier steps ends a block, which begins at the first of these steps. Then blocks are made longer until
// no two spans overlap in part. It panics if a branch leads into the middle of a loop.
func spans(steps []wasmStep) []span {
	labels := map[string]int{}
	for i, s := range steps {
		if s.name == "" {
			labels[s.label] = i
		}
	}
	loops, blocks := map[int]*span{}, map[int]*span{}
	for i, s := range steps {
		label, ok := s.target()
		if !ok {
			continue
		}
		at, ok := labels[label]
		switch {
		case !ok:
			panic("no label " + label)
		case at <= i && loops[at] == nil:
			loops[at] = &span{at, i + 1, true}
		case at <= i:
			loops[at].to = i + 1
		case blocks[at] == nil:
			blocks[at] = &span{i, at, false}
		}
	}
	var all []*span
	for _, m := range []map[int]*span{loops, blocks} {
		for _, s := range m {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	for changed := true; changed; {
		changed = false
		for _, a := range all {
			for _, b := range all {
				if !(a.from < b.from && b.from < a.to && a.to < b.to) {
					continue
				}
				switch {
				case !b.loop:
					b.from = a.from
				case a.loop:
					a.to = b.to
				default:
					panic(fmt.Sprintf("a branch leads into the middle of the loop at step %d", b.from))
				}
				changed = true
			}
		}
	}
	sorted := make([]span, len(all))
	for i, s := range all {
		sorted[i] = *s
	}
	// Of spans that begin together, the longer one is outside; of equal ones, the loop.
	slices.SortFunc(sorted, func(a, b span) int {
		inside := func(s span) int {
			if s.loop {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(inside(a), inside(b)))
	})
	return sorted
}

// target returns the label that a branch leads to.
func (s wasmStep) target() (label string, ok bool) {
	if _, conditional := branches[s.name]; conditional || s.name == "JMP" {
		return s.operands[0].(string), true
	}
	return "", false
}

// write translates the function.
func (w *wasmWriter) write() {
	labels := map[string]int{}
	for i, s := range w.steps {
		if s.name == "" {
			labels[s.label] = i
		}
	}
	waiting := spans(w.steps)
	var open []span
	for i, s := range w.steps {
		for len(open) > 0 && open[len(open)-1].to == i {
			open = open[:len(open)-1]
			w.emit(end)
		}
		for len(waiting) > 0 && waiting[0].from == i {
			w.emit(map[bool]byte{true: loopStart, false: blockStart}[waiting[0].loop], emptyType)
			open = append(open, waiting[0])
			waiting = waiting[1:]
		}
		switch label, jumps := s.target(); {
		case s.name == "":
			w.compares(nil, nil)
		case jumps:
			op := byte(branch_)
			if s.name != "JMP" {
				branches[s.name](w, s.operands)
				op = branchIf
			}
			w.code = uleb(append(w.code, op), uint64(depth(open, labels[label], i)))
		case s.name == "RET":
			if len(w.results) > 0 {
				w.get("result")
			}
			w.emit(returns)
		default:
			t, ok := wasmTranslations[s.name]
			if !ok {
				panic(w.name + ": no translation of " + s.name)
			}
			t(w, s.operands)
		}
	}
	for range open {
		w.emit(end)
	}
	w.emit(unreachable, end)
}

// depth returns the number of spans between a branch at step i and the span with which it reaches the label at
// step `at`.
func depth(open []span, at, i int) int {
	for d := range open {
		if s := open[len(open)-1-d]; at <= i && s.loop && s.from == at || at > i && !s.loop && s.to == at {
			return d
		}
	}
	panic("a branch has no block")
}
