package spirv

import "slices"

// body is a function: its blocks with their dominators, and the variables that it uses.
type body struct {
	in        *instruction
	blocks    []*block
	byLabel   map[uint32]*block
	variables map[uint32]bool // of the module
}

type block struct {
	label        *instruction
	instructions []*instruction // after the label
	at           int            // position in the function
	before       []*block       // the blocks that branch to it
	after        []*block
	dominator    *block // immediate dominator; nil for the first block
	merge        *instruction
}

func (b *block) end() *instruction { return b.instructions[len(b.instructions)-1] }

// dominates reports whether every path from the start of the function to `other` goes through b. A
// block dominates itself.
func (b *block) dominates(other *block) bool {
	for ; other != nil; other = other.dominator {
		if other == b {
			return true
		}
	}
	return false
}

func (c *checker) functions(all []*instruction) (map[uint32]*body, error) {
	out := map[uint32]*body{}
	for len(all) > 0 {
		first := all[0]
		end := slices.IndexFunc(all, func(in *instruction) bool { return in.name == "FunctionEnd" })
		if first.name != "Function" || end < 0 {
			return nil, first.wrong("a function is expected, with its end")
		}
		if t := c.types[first.ids[0]]; t.name != "Function" || c.types[first.typ].name != "Void" || first.literals[0] != 0 {
			return nil, first.wrong("it is not a function without result")
		}
		f := &body{in: first, byLabel: map[uint32]*block{}, variables: map[uint32]bool{}}
		if err := f.split(all[1:end]); err != nil {
			return nil, err
		}
		for _, step := range []func(*body) error{c.flow, c.uses, c.nest} {
			if err := step(f); err != nil {
				return nil, err
			}
		}
		out[first.result] = f
		all = all[end+1:]
	}
	return out, nil
}

func (f *body) split(all []*instruction) error {
	var now *block
	for _, in := range all {
		switch {
		case in.name == "Label" && now == nil:
			now = &block{label: in, at: len(f.blocks)}
			f.blocks = append(f.blocks, now)
			f.byLabel[in.result] = now
			continue
		case in.name == "Label" || in.name == "Function":
			return in.wrong("the block before it does not end")
		case now == nil:
			return in.wrong("it is not in a block")
		}
		now.instructions = append(now.instructions, in)
		switch in.name {
		case "Phi":
			if n := len(now.instructions); n > 1 && now.instructions[n-2].name != "Phi" {
				return in.wrong("it is not at the beginning of its block")
			}
		case "LoopMerge", "SelectionMerge":
			if now.merge != nil || !isControl(in) {
				return in.wrong("its block has another one, or its control is unknown")
			}
			now.merge = in
		case "Branch", "BranchConditional", "Return":
			if n := len(now.instructions); now.merge != nil && (n < 2 || now.instructions[n-2] != now.merge || in.name == "Return") {
				return now.merge.wrong("a branch does not follow it")
			}
			now = nil
		default:
			if section(in.name) < len(sections) {
				return in.wrong("it is in a function")
			}
		}
	}
	if now != nil || len(f.blocks) == 0 {
		return f.in.wrong("its last block does not end")
	}
	return nil
}

// isControl reports whether the literals of a merge instruction are allowed. They may say that there is no control
// or, in a loop, that the loop should be unrolled.
func isControl(in *instruction) bool {
	n := in.literals
	return len(n) == 1 && n[0] == 0 || in.name == "LoopMerge" && (len(n) == 1 && n[0] == 1 || len(n) == 2 && n[0] == 0x100)
}

// flow links the blocks and finds their dominators.
func (c *checker) flow(f *body) error {
	for _, b := range f.blocks {
		end := b.end()
		targets := end.ids
		if end.name == "BranchConditional" {
			targets = end.ids[1:]
		}
		for _, id := range targets {
			to := f.byLabel[id]
			if to == nil || to.at == 0 {
				return end.wrong("%%%d is not a block of the function that a branch can reach", id)
			}
			if !slices.Contains(b.after, to) {
				b.after = append(b.after, to)
				to.before = append(to.before, b)
			}
		}
	}
	f.dominate()
	for _, b := range f.blocks[1:] {
		if b.dominator == nil {
			return b.label.wrong("nothing branches to it")
		}
		if b.dominator.at > b.at {
			return b.label.wrong("it comes before a block that dominates it")
		}
	}
	return nil
}

// dominate finds the immediate dominators of the reachable blocks, by iteration until nothing
// changes.
func (f *body) dominate() {
	order := map[*block]int{} // reversed postorder
	var visit func(b *block)
	var post []*block
	visit = func(b *block) {
		order[b] = 0
		for _, to := range b.after {
			if _, seen := order[to]; !seen {
				visit(to)
			}
		}
		post = append(post, b)
	}
	visit(f.blocks[0])
	slices.Reverse(post)
	for i, b := range post {
		order[b] = i
	}
	common := func(x, y *block) *block {
		for x != y {
			if order[x] < order[y] {
				x, y = y, x
			}
			x = x.dominator
		}
		return x
	}
	for changed := true; changed; {
		changed = false
		for _, b := range post[1:] {
			var d *block
			for _, from := range b.before {
				_, isReached := order[from]
				switch {
				case !isReached || from != f.blocks[0] && from.dominator == nil:
				case d == nil:
					d = from
				default:
					d = common(d, from)
				}
			}
			if d != b.dominator {
				b.dominator, changed = d, true
			}
		}
	}
}

// uses checks that values are defined before they are used, on every path, and with the right types.
func (c *checker) uses(f *body) error {
	where := map[uint32]*block{}
	for _, b := range f.blocks {
		for _, in := range b.instructions {
			where[in.result] = b
		}
	}
	for _, b := range f.blocks {
		known := map[uint32]bool{}
		for _, in := range b.instructions {
			if in.name == "Phi" {
				if err := c.phi(f, b, in, where); err != nil {
					return err
				}
			} else if err := c.visible(f, b, in, known, where); err != nil {
				return err
			}
			if err := c.operands(in); err != nil {
				return err
			}
			known[in.result] = true
		}
	}
	return nil
}

// visible returns an error unless the operands of an instruction are defined before it. An operand must be defined in
// the same block, or in a block that dominates it.
func (c *checker) visible(f *body, b *block, in *instruction, known map[uint32]bool, where map[uint32]*block) error {
	for i, id := range in.ids {
		def := c.defined[id]
		isLabel := in.name == "Branch" || in.name == "BranchConditional" && i > 0 || in.name == "LoopMerge" || in.name == "SelectionMerge"
		isSet := in.name == "ExtInst" && i == 0
		switch home := where[id]; {
		case isLabel && f.byLabel[id] == nil:
			return in.wrong("%%%d is not a block of the function", id)
		case isLabel || isSet:
		case def.name == "Variable":
			f.variables[id] = true
		case home == nil && (section(def.name) == len(sections) || def.typ == 0):
			return in.wrong("%%%d is not a value of the function", id)
		case home == b && !known[id] || home != nil && !home.dominates(b):
			return in.wrong("%%%d does not have a value on every path", id)
		}
	}
	return nil
}

// phi checks that a phi has a value for each of the blocks before its block.
func (c *checker) phi(f *body, b *block, in *instruction, where map[uint32]*block) error {
	seen := map[*block]bool{}
	for i := 0; i < len(in.ids); i += 2 {
		value, from := in.ids[i], f.byLabel[in.ids[i+1]]
		if from == nil || !slices.Contains(b.before, from) || seen[from] {
			return in.wrong("%%%d does not branch to the block, or is there twice", in.ids[i+1])
		}
		seen[from] = true
		home := where[value]
		if home == nil && section(c.defined[value].name) == len(sections) || home != nil && !home.dominates(from) {
			return in.wrong("%%%d does not have a value at the end of %%%d", value, in.ids[i+1])
		}
	}
	if len(seen) != len(b.before) {
		return in.wrong("%d of %d blocks branch to the block", len(seen), len(b.before))
	}
	return nil
}

// construct is a part of a function that control flow enters at its header and leaves at its merge
// block.
type construct struct {
	header, merge, last *block // last is the continue target of a loop
}

func (c construct) has(b *block) bool { return c.header.dominates(b) && !c.merge.dominates(b) }

func (c *checker) nest(f *body) error {
	var all []construct
	ends := map[*block]bool{} // merge blocks and continue targets
	for _, b := range f.blocks {
		if b.merge == nil {
			continue
		}
		s := construct{header: b, merge: f.byLabel[b.merge.ids[0]]}
		targets := []*block{s.merge}
		if b.merge.name == "LoopMerge" {
			s.last = f.byLabel[b.merge.ids[1]]
			targets = append(targets, s.last)
		}
		for _, to := range targets {
			if to == b || ends[to] || !b.dominates(to) {
				return b.merge.wrong("%%%d is the header, ends another construct, or is not dominated by the header", to.label.result)
			}
			ends[to] = true
		}
		all = append(all, s)
	}
	innermost := func(b *block) construct { // loop
		var best construct
		for _, s := range all {
			if s.last != nil && s.has(b) && (best.header == nil || best.header.dominates(s.header)) {
				best = s
			}
		}
		return best
	}
	backEdges := map[*block]int{}
	for _, b := range f.blocks {
		loop := innermost(b)
		exits := 0
		for _, to := range b.after {
			if to.dominates(b) {
				backEdges[to]++
				if loop.header != to || !loop.last.dominates(b) {
					return b.end().wrong("it goes back to %%%d, but not from the last part of its loop", to.label.result)
				}
			}
			if loop.header != nil && (to == loop.merge || to == loop.last) {
				exits++
			}
			for _, s := range all {
				inside, there := s.has(b), s.has(to)
				switch leaves := loop.header != nil && s.last == nil && (to == loop.merge || to == loop.last); {
				case inside && !there && to != s.merge && !leaves:
					return b.end().wrong("it leaves the construct of %%%d for %%%d", s.header.label.result, to.label.result)
				case !inside && there && to != s.header:
					return b.end().wrong("it enters the construct of %%%d at %%%d", s.header.label.result, to.label.result)
				}
			}
		}
		if b.end().name == "BranchConditional" && b.merge == nil && exits == 0 {
			return b.end().wrong("no merge instruction is before it")
		}
	}
	for _, s := range all {
		if n := backEdges[s.header]; s.last != nil && n != 1 || s.last == nil && n != 0 {
			return s.header.merge.wrong("%d branches go back to it", n)
		}
	}
	return nil
}
