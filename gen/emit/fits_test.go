package emit

import (
	"testing"

	"github.com/burngen/burngen/ir/dim"
)

func parseDim(t *testing.T, text string) dim.Dim {
	t.Helper()
	d, err := dim.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestAlways asserts for which extents no check is printed: whatever their symbols are, from 0 to the
// largest number of 64 bits, no operation overflows.
func TestAlways(t *testing.T) {
	for text, want := range map[string]bool{
		"7": true, "2*(N/2)": true, "N": true, "N-1": true, "N-M": true, "N/2": true, "max(N,M)": true, "min(N,4)*8": true, "min(N,M)-4": true,
		"N+1": false, "2*N": false, "N*M": false, "3*(N/2)": false, "max(N,4)*8": false, "N+M-1": false, "N/M": false, "(N-1)/M": false,
	} {
		if got := always(parseDim(t, text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestIsPart asserts which extents need no check beside another that is checked.
func TestIsPart(t *testing.T) {
	for _, c := range []struct {
		d, e string
		want bool
	}{
		{"N", "N", true},
		{"4*N", "8*N", true},
		{"8*N", "4*N", false},
		{"N", "N+M", true},
		{"4*N*M", "4*N*M+64", true},
		{"N*M", "2*N*M", true},
		{"N+1", "2*N+2", true},
		{"N+1", "2*N", false},
		{"2*N-1", "4*N-2", true},
		{"N", "N-M", false}, // the difference may fit where N does not
		{"N-M", "N", false},
		{"N*M", "N", false},
		{"N", "N*M", false}, // M may be 0
	} {
		if got := isPart(parseDim(t, c.d), parseDim(t, c.e)); got != c.want {
			t.Errorf("%s of %s: %t", c.d, c.e, got)
		}
	}
}
