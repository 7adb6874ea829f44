package wire

import "fmt"

// Limits bounds the contents of one file. If a field is zero, its default applies.
type Limits struct {
	Nodes      int   // nodes in all graphs and functions; default 1,048,576
	Attributes int   // attributes of all nodes and functions; default 8,388,608
	Functions  int   // model-local functions; default 65,536
	Depth      int   // nesting of graphs, types or values; default 64
	Memory     int64 // bytes of all structs, without strings and tensor data; default 512 MiB
}

var defaults = Limits{
	Nodes:      1 << 20,
	Attributes: 1 << 23,
	Functions:  1 << 16,
	Depth:      64,
	Memory:     512 << 20,
}

func (l Limits) orDefaults() Limits {
	for _, f := range []struct{ v, or *int }{
		{&l.Nodes, &defaults.Nodes},
		{&l.Attributes, &defaults.Attributes},
		{&l.Functions, &defaults.Functions},
		{&l.Depth, &defaults.Depth},
	} {
		if *f.v == 0 {
			*f.v = *f.or
		}
	}
	if l.Memory == 0 {
		l.Memory = defaults.Memory
	}
	return l
}

// budget describes a kind of message of which a file may contain only a limited number: its name in
// errors, and its field in Limits.
type budget struct {
	name string
	of   func(*Limits) *int
}

var (
	nodes      = budget{"nodes", func(l *Limits) *int { return &l.Nodes }}
	attributes = budget{"attributes", func(l *Limits) *int { return &l.Attributes }}
	functions  = budget{"functions", func(l *Limits) *int { return &l.Functions }}
)

type reader struct {
	max, left Limits
}

func newReader(l Limits) *reader {
	l = l.orDefaults()
	return &reader{max: l, left: l}
}

// count deducts n messages from budget b. It returns an error if the budget is exhausted.
func (r *reader) count(b budget, n int) error {
	left := b.of(&r.left)
	if n > *left {
		return &Error{Reason: fmt.Sprintf("more than %d %s", *b.of(&r.max), b.name)}
	}
	*left -= n
	return nil
}

// charge deducts the memory for n elements of `size` bytes from the budget. It is called before the
// memory is allocated, and returns an error if the budget is exhausted.
func (r *reader) charge(n int, size uintptr) error {
	need := int64(n) * int64(size)
	if need > r.left.Memory {
		return &Error{Reason: fmt.Sprintf("more than %d MiB of structs", r.max.Memory>>20)}
	}
	r.left.Memory -= need
	return nil
}

func (r *reader) nested(read func() error) error {
	if r.left.Depth == 0 {
		return &Error{Reason: fmt.Sprintf("nested more than %d deep", r.max.Depth)}
	}
	r.left.Depth--
	defer func() { r.left.Depth++ }()
	return read()
}
