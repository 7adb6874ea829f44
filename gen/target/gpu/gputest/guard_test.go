package gputest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/cuda/fake"
	"github.com/burngen/burngen/runtime/gpu"
)

// TestGuard writes inside of a buffer and next to it.
func TestGuard(t *testing.T) {
	card := fake.New(fake.Options{})
	g := &guard{Driver: card.Driver()}
	d, err := g.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	const size = 40
	for from, want := range map[int]string{
		0:    "",
		-3:   "a kernel wrote 3 bytes before a buffer of 40 bytes",
		1:    "a kernel wrote 0 bytes after a buffer of 40 bytes",
		size: "a kernel wrote 0 bytes after a buffer of 40 bytes",
	} {
		at, err := d.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(q.Upload(at+gpu.Address(from), make([]byte, size)), q.Wait(context.Background())); err != nil {
			t.Fatal(err)
		}
		d.Free(at)
		if err := g.take(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d bytes at %d: error %v, want %q", size, from, err, want)
		}
		if err := g.take(); err != nil {
			t.Errorf("an error is reported twice: %v", err)
		}
	}
	d.Free(0)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if live := card.Live(); live != "" {
		t.Errorf("not given back: %s", live)
	}
}
