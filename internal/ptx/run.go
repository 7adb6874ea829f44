package ptx

import (
	"errors"
	"fmt"
)

// Memory is the global memory of a device.
type Memory interface {
	// Allocation returns the memory that was allocated together with the byte at an address: the
	// address of its first byte, and all its bytes, which instructions read and write.
	Allocation(addr uint64) (first uint64, data []byte, err error)
}

// patience is the number of instructions that a thread may run without reaching a barrier or its end. A thread that
// runs more is an error.
const patience = 1 << 30

type launch struct {
	entry       *entry
	grid, block [3]int
	at          [3]int // the block that runs
	params      []uint64
	memory      Memory
	shared      []byte
	found       []region // for each instruction, the allocation that it accessed last
}

type region struct {
	first uint64
	data  []byte
}

type thread struct {
	launch *launch
	index  [3]int
	r      []uint64 // registers, then constants
	pc     int
	ended  bool
	fault  error
}

// dynamic returns the offset of dynamic shared memory, which follows the arrays that the text
// declares.
func (e *entry) dynamic() int { return (e.shared + 15) &^ 15 }

// Launch runs the blocks of a kernel one after the other. In a block, it runs each thread up to the
// next barrier, one thread after the other. After each barrier, it reverses the order of the threads.
// shared is the number of bytes of dynamic shared memory. Registers and shared memory hold arbitrary
// values when a block starts. params has an element for each parameter. The low bytes of the element
// are the value of the parameter.
//
// It returns an error if the kernel does not allow these arguments, or if a thread does not end. It also returns an
// error if threads of a block do not meet at the same barrier. If an access is not aligned or outside of memory, the
// error names the instruction and the thread.
func (m *Module) Launch(kernel string, grid, block [3]int, shared int, params []uint64, mem Memory) error {
	e, err := m.entry(kernel)
	if err != nil {
		return err
	}
	if err := e.check(grid, block, shared, len(params)); err != nil {
		return fmt.Errorf("ptx: kernel %s: %w", kernel, err)
	}
	l := &launch{entry: e, grid: grid, block: block, params: params, memory: mem, found: make([]region, len(e.code))}
	l.shared = make([]byte, e.dynamic()+shared)
	threads := make([]thread, block[0]*block[1]*block[2])
	registers := e.initial()
	all := make([]uint64, len(threads)*len(registers))
	for i := range threads {
		t := &threads[i]
		t.launch = l
		t.index = [3]int{i % block[0], i / block[0] % block[1], i / block[0] / block[1]}
		t.r = all[i*len(registers) : (i+1)*len(registers)]
	}
	for z := range grid[2] {
		for y := range grid[1] {
			for x := range grid[0] {
				l.at = [3]int{x, y, z}
				for i := range l.shared {
					l.shared[i] = 0xff
				}
				for i := range threads {
					t := &threads[i]
					copy(t.r, registers)
					t.pc, t.ended = 0, false
				}
				if err := l.run(threads); err != nil {
					return fmt.Errorf("ptx: kernel %s: %w", kernel, err)
				}
			}
		}
	}
	return nil
}

func (e *entry) check(grid, block [3]int, shared, params int) error {
	threads := 1
	for i := range 3 {
		if grid[i] < 1 || block[i] < 1 || block[i] > 1024 {
			return fmt.Errorf("a grid of %v blocks of %v threads", grid, block)
		}
		threads *= block[i]
	}
	switch {
	case e.threads != [3]int{} && e.threads != block:
		return fmt.Errorf("blocks of %v threads, want %v", block, e.threads)
	case threads > e.most:
		return fmt.Errorf("blocks of %d threads, at most %d are possible", threads, e.most)
	case shared < 0 || shared > maxShared:
		return fmt.Errorf("%d bytes of shared memory", shared)
	case params != len(e.params):
		return fmt.Errorf("%d parameters, want %d", params, len(e.params))
	}
	return nil
}

// initial returns the initial registers of a thread: registers with arbitrary numbers, and then the registers that
// hold constants.
func (e *entry) initial() []uint64 {
	r := make([]uint64, len(e.registers), len(e.registers)+len(e.constants))
	for i, t := range e.registers {
		r[i] = 0xfff8a5a5fff8a5a5 & t.mask()
	}
	return append(r, e.constants...)
}

// run runs the threads of a block from barrier to barrier. Their order is reversed after each barrier.
func (l *launch) run(threads []thread) error {
	for phase := 0; ; phase++ {
		waiting := -1 // a thread
		ended := false
		for i := range threads {
			if phase%2 == 1 {
				i = len(threads) - 1 - i
			}
			t := &threads[i]
			if err := t.run(); err != nil {
				s := l.entry.code[t.pc]
				return fmt.Errorf("line %d: %s: block %v, thread %v: %w", s.line, s.text, l.at, t.index, err)
			}
			ended = ended || t.ended
			if t.ended {
				continue
			}
			if waiting >= 0 && threads[waiting].pc != t.pc {
				return fmt.Errorf("block %v: thread %v waits at the barrier in line %d, and thread %v at that in line %d",
					l.at, threads[waiting].index, l.entry.code[threads[waiting].pc].line, t.index, l.entry.code[t.pc].line)
			}
			waiting = i
		}
		switch {
		case waiting < 0:
			return nil
		case ended:
			return fmt.Errorf("block %v: thread %v waits at the barrier in line %d, but other threads have ended",
				l.at, threads[waiting].index, l.entry.code[threads[waiting].pc].line)
		}
		if do := l.entry.code[threads[waiting].pc].warp; do != nil {
			for first := 0; first+warpSize <= len(threads); first += warpSize {
				do(threads[first : first+warpSize])
			}
		}
		for i := range threads {
			threads[i].pc++
		}
	}
}

// run runs a thread until a barrier or its end. It returns the fault of an instruction, and an error if
// the thread exceeds patience.
func (t *thread) run() error {
	code := t.launch.entry.code
	for range patience {
		s := &code[t.pc]
		if s.guard >= 0 && (t.r[s.guard] != 0) == s.negated {
			t.pc++
			continue
		}
		switch s.kind {
		case ordinary:
			s.exec(t)
			if t.fault != nil {
				return t.fault
			}
			t.pc++
		case jump:
			t.pc = s.target
		case barrier:
			return nil
		case end:
			t.ended = true
			return nil
		}
	}
	return errors.New("the thread does not come to an end")
}

// shared returns the n bytes of shared memory at an address, or nil after setting t.fault.
func (t *thread) shared(at uint64, n int) []byte {
	all := t.launch.shared
	switch {
	case at%uint64(n) != 0:
		t.fault = fmt.Errorf("shared address %d is not a multiple of %d", at, n)
	case at+uint64(n) > uint64(len(all)):
		t.fault = fmt.Errorf("shared address %d is outside of %d bytes", at, len(all))
	default:
		return all[at : at+uint64(n)]
	}
	return nil
}

// global returns the n bytes of global memory at an address, or nil after setting t.fault.
func (t *thread) global(at uint64, n int) []byte {
	in := &t.launch.found[t.pc]
	if at%uint64(n) != 0 {
		t.fault = fmt.Errorf("address %#x is not a multiple of %d", at, n)
		return nil
	}
	if b := in.slice(at, n); b != nil {
		return b
	}
	first, data, err := t.launch.memory.Allocation(at)
	if err != nil {
		t.fault = err
		return nil
	}
	*in = region{first, data}
	b := in.slice(at, n)
	if b == nil {
		t.fault = fmt.Errorf("address %#x: %d bytes do not end within the allocation", at, n)
	}
	return b
}

// slice returns the n bytes at an address, or nil if the region does not contain them all.
func (r *region) slice(at uint64, n int) []byte {
	off := at - r.first
	if off >= uint64(len(r.data)) || uint64(len(r.data))-off < uint64(n) {
		return nil
	}
	return r.data[off : off+uint64(n)]
}
