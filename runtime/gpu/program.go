package gpu

import "sync"

// Program is the code of a generated package. It is loaded once on each device that a model uses. Its
// methods are safe for concurrent use.
type Program struct {
	// Driver returns the driver of the package's target.
	Driver func() Driver
	// Code holds the kernels of the package, in the form of the driver. It is empty if there are none.
	Code *string
	// Faster holds the kernels of [KernelInfo.Faster] for devices of one capability. It is nil if there are none.
	Faster     *string
	Capability string

	mu     sync.Mutex
	loaded map[int]*loaded // by the index of the device
}

type loaded struct {
	device *shared
	module Module
	// nil if the program has no faster code for the device
	faster  Module
	mu      sync.Mutex
	kernels map[*KernelInfo]Kernel

	// nil until a kernel of package update is used
	updateModule Module
	updates      map[string]Kernel
}

// With returns an instance of the program for a model. The instance's device is not open yet:
// [Instance.Open] opens it, and returns the errors of options.
func (p *Program) With(options ...Option) *Instance {
	return &Instance{program: p, options: options, weights: map[any]*table{}}
}

// Open returns an instance of the program whose device is open. It returns the errors of
// [Instance.Open].
func (p *Program) Open(options ...Option) (*Instance, error) {
	i := p.With(options...)
	_, err := i.Open()
	return i, err
}

// load opens a device and loads the code, unless another instance has done so. It compiles all
// kernels if the module is [Compiling].
func (p *Program) load(index int) (*loaded, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.loaded[index]; l != nil {
		return l, nil
	}
	d, err := openShared(p.Driver(), index)
	if err != nil {
		return nil, err
	}
	var m Module
	if *p.Code != "" {
		if m, err = d.Load([]byte(*p.Code)); err != nil {
			d.release()
			return nil, err
		}
		if c, ok := m.(Compiling); ok {
			if err := c.CompileAll(); err != nil {
				m.Close()
				d.release()
				return nil, err
			}
		}
	}
	var faster Module
	if p.Faster != nil && d.Info().Capability == p.Capability {
		if faster, err = d.Load([]byte(*p.Faster)); err != nil {
			m.Close()
			d.release()
			return nil, err
		}
	}
	if p.loaded == nil {
		p.loaded = map[int]*loaded{}
	}
	l := &loaded{device: d, module: m, faster: faster, kernels: map[*KernelInfo]Kernel{}}
	p.loaded[index] = l
	return l, nil
}

func (l *loaded) kernel(k *KernelInfo) (Kernel, error) { return l.kernelOf(l.module, k) }

// kernelOf returns kernel k of a module. It looks each kernel up once.
func (l *loaded) kernelOf(m Module, k *KernelInfo) (Kernel, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found, ok := l.kernels[k]; ok {
		return found, nil
	}
	found, err := m.Kernel(*k)
	if err == nil {
		l.kernels[k] = found
	}
	return found, err
}

// faster returns the launch of k's faster kernel that takes the place of a launch of k. args are the arguments of the
// launch of k, and words their values. ok is false if there is no faster kernel for the device, or if it does not
// accept these arguments.
func (i *Instance) faster(k *KernelInfo, args []Arg, words []uint64) (launch *queued, ok bool, err error) {
	f := k.Faster
	if f == nil || i.loaded.faster == nil {
		return nil, false, nil
	}
	launch = &queued{grid: f.Grid, words: make([]uint64, len(f.From))}
	for j, from := range f.From {
		if launch.words[j] = words[from]; args[from].isMemory() && launch.words[j]%16 != 0 {
			return nil, false, nil
		}
	}
	found, err := i.loaded.kernelOf(i.loaded.faster, &f.KernelInfo)
	if err != nil {
		return nil, false, err
	}
	launch.kernel = i.named(found, f.Name)
	return launch, true, nil
}
