package kernel

import (
	"fmt"
	"math/rand/v2"
)

// Options say how [Kernel.Run] runs a kernel. The zero value reports races.
type Options struct {
	// Seed decides the order of the blocks, and of the threads between barriers.
	Seed uint64
	// Budget is about the number of instructions that all threads together may run. 0 means
	// [DefaultBudget].
	Budget int64
	// IgnoreRaces turns the detection of races off, which makes accesses to memory faster.
	IgnoreRaces bool
}

// DefaultBudget is the number of instructions that a run may execute if its [Options] do not set Budget.
const DefaultBudget = 1 << 30

// maxBlocks is the maximum number of blocks of a grid that [Kernel.Run] runs.
const maxBlocks = 1 << 24

// Run runs a grid of blocks of the kernel on args, one argument for each parameter. It is slow, because it checks
// every step. Blocks run in shuffled order, one after the other. The threads of a block run in shuffled order from
// barrier to barrier.
//
// Run returns an error, which names the instruction, the block and the thread, in these cases:
//   - A thread accesses an element outside of an array.
//   - A load or store of n adjacent elements does not begin at a multiple of n.
//   - A thread reads shared memory that no thread of its block wrote.
//   - Two threads access one element, at least one of them writes, and not both accesses are atomic. It is not an
//     error if both threads are in one block and a barrier separates the accesses. [Options] can turn this check
//     off.
//   - Some threads of a block wait at a barrier, and others wait at another barrier or do not wait. The same holds
//     for shuffles and the threads of a warp.
//   - An integer is divided by 0, or shifted by its width or more.
//   - The counter of a for overflows, or its step is not positive.
//   - The budget is used up.
//   - A product reads a box, and one of the product's threads has not waited for the copy of the box.
//   - A thread copies a box over elements that a product reads, and the thread does not know that the product is
//     done. The threads of the product's group know this after a [Drain]. A thread that waits for a phase knows what
//     the threads that arrived in this phase knew when they arrived.
//   - A thread reads sums of a product that is not done.
//   - Threads wait for phases that are never complete.
//
// Run delays copies of boxes, and products, as long as no thread waits for them.
//
// Run also returns an error if args do not fit the parameters, if the number of blocks is not from 1 to 2²⁴, or if
// [Kernel.Verify] refuses the kernel. But Run does not require that barriers are where [Kernel.Verify] allows them.
func (k *Kernel) Run(grid [3]int, args []Arg, opt Options) error {
	if err := k.check(); err != nil {
		return err
	}
	m := &machine{kernel: k, budget: opt.Budget, random: rand.New(rand.NewPCG(opt.Seed, 1))}
	if m.budget == 0 {
		m.budget = DefaultBudget
	}
	err := m.run(grid, args, !opt.IgnoreRaces)
	k.explain(&err)
	return err
}

type machine struct {
	kernel  *Kernel
	budget  int64
	random  *rand.Rand
	block   [3]int // index of the running block
	threads []thread
	thread  *thread // the running thread
	// collectives carry out the instructions that all threads do at once.
	collectives map[*Instr]func()
	// shuffles carry out the shuffles of a warp.
	shuffles map[*Instr]func(warp []thread)

	// groups carry out the instructions that all threads of a group do at once.
	groups   map[*Instr]func(threads []thread)
	pipeline *pipelineState // nil unless the kernel is pipelined

	// An epoch is the time between two barriers of a group. Epochs are numbered from 1, through all groups and
	// blocks. A barrier of the block begins an epoch of all groups.
	last   uint32   // epoch that has begun
	epochs []uint32 // by group: the current one
	epoch  uint32   // began with the last barrier of the block
	first  uint32   // epoch of the running block
}

type thread struct {
	number  uint16 // number in the block
	index   [3]int // index in the block
	regs    []uint64
	code    *code          // the code that it runs
	at      int            // index of the next step in code
	waiting *Instr         // the instruction that it waits at for other threads, or nil
	held    bool           // whether it waits or has ended
	ready   func() bool    // whether the phase is complete that it waits for; nil unless it waits for one
	phases  map[*phase]int // how many phases of a phase barrier it has waited for
	seen    []int          // by group of the block: how many of its groups of products the thread knows to be done
}

func (t *thread) group() int { return int(t.number) / Group }

// run does what [Kernel.Run] documents, for a kernel that is already verified.
func (m *machine) run(grid [3]int, args []Arg, races bool) (err error) {
	defer func() {
		if t := m.thread; err != nil && t != nil {
			err = fmt.Errorf("block %s, thread %s: %s%w", place(m.block), place(t.index), t.where(), err)
		}
	}()
	defer catch(&err)
	blocks := 1
	for _, n := range grid {
		if n < 1 || n > maxBlocks || blocks*n > maxBlocks {
			fail("a grid of %d × %d × %d blocks, want 1 to %d", grid[0], grid[1], grid[2], maxBlocks)
		}
		blocks *= n
	}
	if m.kernel.IsPipelined() {
		m.pipeline = &pipelineState{}
	}
	p := compile(m, bind(m.kernel, args, races))
	m.start(p)
	for _, i := range m.random.Perm(blocks) {
		m.block = [3]int{i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]}
		m.runBlock(p.entry)
	}
	return nil
}

func (m *machine) start(p *program) {
	size := m.kernel.Block
	m.threads = make([]thread, size[0]*size[1]*size[2])
	m.epochs = make([]uint32, (len(m.threads)+Group-1)/Group)
	m.nextEpoch()
	regs := make([]uint64, len(m.threads)*len(p.initial))
	for i := range m.threads {
		own := regs[i*len(p.initial):][:len(p.initial)]
		copy(own, p.initial)
		m.threads[i] = thread{number: uint16(i), index: [3]int{i % size[0], i / size[0] % size[1], i / size[0] / size[1]}, regs: own}
	}
}

func (m *machine) runBlock(entry *code) {
	m.first = m.epoch
	order := m.random.Perm(len(m.threads))
	for i := range m.threads {
		m.threads[i].code, m.threads[i].held = entry, false
	}
	if m.pipeline != nil {
		m.pipeline.begin(m)
	}
	for {
		for _, i := range order {
			if t := &m.threads[i]; !t.held {
				m.resume(t)
				t.held = true
			}
		}
		if m.shuffle() || m.pipeline != nil && m.pipeline.proceed(m) {
			continue
		}
		m.meet(order)
		if do := m.collectives[m.threads[0].waiting]; do != nil {
			do() // it is no barrier for memory
		} else {
			m.nextEpoch()
		}
		if m.threads[0].code == nil {
			return
		}
		for i := range m.threads {
			m.threads[i].held = false
		}
		m.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
}

// resume runs a thread to its end, or to the next instruction at which it must wait for other threads.
func (m *machine) resume(t *thread) {
	m.thread = t
	t.waiting = nil
	for t.waiting == nil && t.code != nil {
		c := t.code
		t.at = 0
		if m.budget -= int64(len(c.steps) + 1); m.budget < 0 {
			fail("the budget of instructions is used up")
		}
		for i, step := range c.steps {
			t.at = i
			step(t)
		}
		t.at = len(c.steps)
		t.code = c.end(t)
	}
	m.thread = nil
}

// meet panics, as [fail] does, unless all threads of the block have ended or all wait at the same instruction. It
// also panics if a thread waits at an operation for which [pipelined] returns true: it would wait for ever. order
// holds the indices of the threads.
func (m *machine) meet(order []int) {
	for _, i := range order {
		if t := &m.threads[i]; t.waiting != nil && pipelined(t.waiting.Op) {
			fail("block %s, thread %s: %s: it waits for ever", place(m.block), place(t.index), t.waiting)
		}
	}
	for _, i := range order[1:] {
		t, u := &m.threads[order[0]], &m.threads[i]
		if t.waiting == u.waiting {
			continue
		}
		if t.waiting == nil {
			t, u = u, t
		}
		what := "waits at another barrier"
		if u.waiting == nil {
			what = "has ended"
		}
		fail("block %s, thread %s: %s: thread %s %s", place(m.block), place(t.index), t.waiting, place(u.index), what)
	}
}

func (m *machine) nextEpoch() {
	m.epoch = m.newEpoch()
	for g := range m.epochs {
		m.epochs[g] = m.epoch
	}
}

func (m *machine) newEpoch() uint32 {
	if m.last++; m.last == 0 {
		fail("too many barriers")
	}
	return m.last
}

// where returns the text of the instruction that the thread runs, followed by a colon. At the end of the kernel it
// returns "".
func (t *thread) where() string {
	in := t.code.last
	if t.at < len(t.code.at) {
		in = t.code.at[t.at]
	}
	if in == nil {
		return ""
	}
	return in.String() + ": "
}

func place(p [3]int) string { return fmt.Sprintf("(%d, %d, %d)", p[0], p[1], p[2]) }
