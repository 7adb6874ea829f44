package rt

import (
	"bytes"
	std "crypto/sha256"
	"math/rand/v2"
	"testing"
)

// TestSHA256 compares sha256 with the standard library, for all lengths up to four blocks and a long text.
func TestSHA256(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	data := make([]byte, 100_000)
	random.Read(data)
	kept := bytes.Clone(data)
	for n := range 4*64 + 1 {
		if sha256(data[:n]) != std.Sum256(kept[:n]) {
			t.Fatalf("%d bytes", n)
		}
	}
	if sha256(data) != std.Sum256(kept) {
		t.Fatalf("%d bytes", len(data))
	}
	if !bytes.Equal(data, kept) {
		t.Error("sha256 changes its argument")
	}
}
