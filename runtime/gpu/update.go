package gpu

import (
	"context"
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/gpu/update"
)

// longestUpdate is the largest number of elements that one launch updates, because the kernels
// index elements by i32. Longer vectors take several launches.
const longestUpdate = 1 << 30

// Update implements rt.Mirror. It launches the kernel of package update that is called `rule`, and
// does not wait for it. The kernel's arguments are the vectors, which have equal lengths, and the
// numbers. Update returns an error if there is no such kernel or it cannot be launched.
func (r *Run) Update(rule string, numbers []float32, vectors ...[]float32) error {
	k, err := r.program.update(rule, len(numbers)+2+len(vectors))
	if err != nil {
		return err
	}
	for _, x := range vectors {
		if len(x) == 0 {
			return nil
		}
		if err := r.ready(Out(x)); err != nil {
			return err
		}
	}
	for from, n := 0, len(vectors[0]); from < n; from += longestUpdate {
		groups := (min(n-from, longestUpdate) + 3) / 4
		blocks := min((groups+update.Threads-1)/update.Threads, maxUpdateBlocks)
		words := make([]uint64, 0, len(numbers)+2+len(vectors))
		for _, c := range numbers {
			words = append(words, uint64(math.Float32bits(c)))
		}
		words = append(words, uint64(groups), uint64(blocks*update.Threads))
		for _, x := range vectors {
			a := In(x[from:])
			at, _ := r.vector(a).address(a)
			words = append(words, uint64(at))
		}
		if err := r.queue.Launch(k, [3]int{blocks, 1, 1}, words); err != nil {
			return fmt.Errorf("kernel %s: %w", rule, err)
		}
	}
	return nil
}

// maxUpdateBlocks is the largest number of blocks of an update. For longer vectors, each thread
// updates several groups of four elements.
const maxUpdateBlocks = 32768

// Squares implements rt.Mirror. It returns the sum of the squares of x. x must be a part of a
// vector that was passed to [Run.Hold]. The device sums blocks of [update.SquaresPerBlock] squares
// in float32. Squares waits for these sums and adds them in float64.
func (r *Run) Squares(x []float32) (float64, error) {
	if len(x) == 0 {
		return 0, nil
	}
	k, err := r.program.update("squares", 3)
	if err != nil {
		return 0, err
	}
	if err := r.ready(In(x)); err != nil {
		return 0, err
	}
	total := 0.0
	for ; len(x) > 0; x = x[min(len(x), longestUpdate):] {
		a := In(x[:min(len(x), longestUpdate)])
		at, _ := r.vector(a).address(a)
		sums := make([]float32, (a.bytes/4+update.SquaresPerBlock-1)/update.SquaresPerBlock)
		out := Out(sums)
		if err := r.makeRoom(false, []Arg{out}); err != nil {
			return 0, err
		}
		words := []uint64{uint64(a.bytes / 4), uint64(at), uint64(r.spare.at)}
		if err := r.queue.Launch(k, [3]int{len(sums), 1, 1}, words); err != nil {
			return 0, fmt.Errorf("kernel squares: %w", err)
		}
		if err := r.queue.Download(out.host(), r.spare.at); err != nil {
			return 0, err
		}
		if err := r.queue.Wait(context.Background()); err != nil {
			return 0, err
		}
		for _, s := range sums {
			total += float64(s)
		}
	}
	return total, nil
}

// update returns the kernel called name of package update. args is the number of its arguments.
func (i *Instance) update(name string, args int) (Kernel, error) {
	return i.loaded.update(i.program.Driver().Name(), name, args)
}

func (l *loaded) update(driver, name string, args int) (Kernel, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k, ok := l.updates[name]; ok {
		return k, nil
	}
	if l.updateModule == nil {
		code := update.Code(driver)
		if code == nil {
			return nil, fmt.Errorf("there are no kernels of optimizers for the driver %s", driver)
		}
		m, err := l.device.Load(code)
		if err != nil {
			return nil, err
		}
		l.updateModule, l.updates = m, map[string]Kernel{}
	}
	k, err := l.updateModule.Kernel(KernelInfo{Name: name, Block: [3]int{update.Threads, 1, 1}, Args: args})
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	l.updates[name] = k
	return k, nil
}
