package emit

import (
	"bytes"
	"strings"
	"testing"
)

func TestWrapped(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ name, in, want string }{
		{"a line that fits", "\tf(a, b)\n", "\tf(a, b)\n"},
		{"arguments", "\tf(" + long(60) + ", " + long(60) + ", " + long(60) + ", b)\n", "\tf(" + long(60) + ", " + long(60) + ",\n\t\t" + long(60) + ", b)\n"},
		{"what follows them", "\tif err := f(" + long(60) + ", " + long(60) + "); err != nil {\n\t}\n", "\tif err := f(" + long(60) + ",\n\t\t" + long(60) + "); err != nil {\n\t}\n"},
		{"elements of an argument", "\tf(a, T{A: " + long(80) + ", B: " + long(80) + "})\n", "\tf(a,\n\t\tT{A: " + long(80) + ",\n\t\t\tB: " + long(80) + "})\n"},
		{"parameters of one type", "\tf := func(a int, " + long(80) + ", " + long(80) + " string) {}\n", "\tf := func(a int,\n\t\t" + long(80) + ",\n\t\t" + long(80) + " string) {\n\t}\n"},
		{"what cannot be broken", "\tf(" + long(200) + ")\n", "\tf(" + long(200) + ")\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const before = "package p\n\nfunc g() {\n"
			got, err := wrapped([]byte(before + c.in + "}\n"))
			if want := before + c.want + "}\n"; err != nil || string(got) != want {
				t.Errorf("error %v, got\n%swant\n%s", err, got, want)
			}
		})
	}
}

func TestWrappedNumbers(t *testing.T) {
	got, err := wrapped([]byte("package p\n\nvar x = []int{" + strings.Repeat("123456, ", 100) + "}\n"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(got, []byte("\n"))
	for _, line := range lines {
		if tooLong(line) {
			t.Errorf("%d columns: %s", columns(line), line)
		}
	}
	if len(lines) > 12 {
		t.Errorf("%d lines", len(lines))
	}
}
