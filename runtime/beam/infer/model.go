package infer

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// Model names a model that [Package] or [PackageFile] registered.
type Model struct {
	// Name is the name that the model was registered with.
	Name string
	// File is the weights file of a package that does not have its weights in the program.
	File string
	// Method is the name of a Go method of the package. If it is "", the first method is called.
	Method string
}

// Package registers a package that was generated with -serve. load is the package's function Load. It is called
// once in a process, when the model is first needed. Package panics if another model has this name.
func Package[M interface{ Served() rt.Served }](name string, load func() (M, error)) Model {
	return PackageFile(name, "", func(string) (M, error) { return load() })
}

// PackageFile is like [Package] for a package whose weights are in a file. load is the package's function Load,
// which gets the path. The file must be at this path on every worker.
func PackageFile[M interface{ Served() rt.Served }](name, path string, load func(path string) (M, error)) Model {
	add(name, func(path string) (rt.Served, error) {
		m, err := load(path)
		if err != nil {
			return rt.Served{}, err
		}
		return m.Served(), nil
	})
	return Model{Name: name, File: path}
}

// models holds what is registered and loaded in this process.
var models struct {
	sync.Mutex
	loads  map[string]func(path string) (rt.Served, error)
	loaded map[Model]func() (*Loaded, error)
}

func add(name string, load func(path string) (rt.Served, error)) {
	models.Lock()
	defer models.Unlock()
	if models.loads == nil {
		models.loads = map[string]func(string) (rt.Served, error){}
		models.loaded = map[Model]func() (*Loaded, error){}
	}
	if models.loads[name] != nil {
		panic(fmt.Sprintf("infer: model %q is registered twice", name))
	}
	models.loads[name] = load
}

// Loaded is a model in the memory of this process, with its sessions. It is safe for concurrent use.
type Loaded struct {
	method *untyped.Method
	served rt.Served
	// single says that the first extent of every input and output is 1
	single bool
	// sessions has a nil for each session that has not been opened yet
	sessions chan *untyped.Session
}

// Load returns the model, and loads it if the process has not loaded it yet. It returns an error if the model is not
// registered, it cannot be loaded, or its method does not exist.
func (m Model) Load() (*Loaded, error) {
	models.Lock()
	load, found := models.loads[m.Name]
	once := models.loaded[m]
	if found && once == nil {
		once = sync.OnceValues(func() (*Loaded, error) { return m.open(load) })
		models.loaded[m] = once
	}
	models.Unlock()
	if !found {
		return nil, fmt.Errorf("model %q is not registered in this program", m.Name)
	}
	return once()
}

func (m Model) open(load func(path string) (rt.Served, error)) (*Loaded, error) {
	served, err := load(m.File)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", m.Name, err)
	}
	for _, s := range served.Methods {
		if s.Name != cmp.Or(m.Method, s.Name) {
			continue
		}
		method, err := untyped.NewMethod(m.Name, s)
		if err != nil {
			return nil, err
		}
		l := &Loaded{method: method, served: served, sessions: make(chan *untyped.Session, runtime.GOMAXPROCS(0))}
		l.single = !method.Batch && ones(method.In) && ones(method.Out)
		for range cap(l.sessions) {
			l.sessions <- nil
		}
		return l, nil
	}
	return nil, fmt.Errorf("model %q has no method %q", m.Name, m.Method)
}

// ones reports whether the first extent of every port is 1.
func ones(ports []*untyped.Port) bool {
	for _, p := range ports {
		if len(p.Extents) == 0 || p.Extents[0] != 1 {
			return false
		}
	}
	return len(ports) > 0
}

// Inputs returns the inputs of the model. Their first axis is the batch if [Loaded.Batched] says so.
func (l *Loaded) Inputs() []*untyped.Port { return l.method.In }

// Outputs returns the outputs of the model. Their first axis is the batch if [Loaded.Batched] says so.
func (l *Loaded) Outputs() []*untyped.Port { return l.method.Out }

// Batched reports whether the first axis of every input and output is the batch. Its extent is a symbol or 1. Items
// do not have this axis.
func (l *Loaded) Batched() bool { return l.method.Batch || l.single }

// session waits for a session. put gives it back.
func (l *Loaded) session(ctx context.Context) (s *untyped.Session, put func(), err error) {
	select {
	case s = <-l.sessions:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	put = func() { l.sessions <- s }
	if s != nil {
		return s, put, nil
	}
	opened, err := l.served.Open()
	if err == nil {
		s, err = untyped.Bind(opened, []*untyped.Method{l.method})
	}
	if err != nil {
		s = nil
		put()
		return nil, nil, fmt.Errorf("model %q: %w", l.method.Label, err)
	}
	return s, put, nil
}
