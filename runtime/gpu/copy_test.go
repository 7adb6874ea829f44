package gpu

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"
)

func TestCopy(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7))
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 1<<20 - 1, 2 << 20, 5<<20 + 13, 9<<20 + 1} {
		from, to := make([]byte, n+3), make([]byte, n)
		for i := range from {
			from[i] = byte(random.Uint32())
		}
		if Copy(to, from); !bytes.Equal(to, from[:n]) {
			t.Errorf("%d bytes are not copied", n)
		}
		longer := bytes.Repeat([]byte{7}, n+5)
		if Copy(longer, from[:n]); !bytes.Equal(longer[:n], from[:n]) || !bytes.Equal(longer[n:], []byte{7, 7, 7, 7, 7}) {
			t.Errorf("%d bytes are not copied to more", n)
		}
	}
}
