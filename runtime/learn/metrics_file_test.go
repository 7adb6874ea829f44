package learn

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMetricsFile(t *testing.T) {
	dir := t.TempDir()
	l := newMetricsLogger()
	if err := l.Open(dir, ""); err != nil {
		t.Fatal(err)
	}
	for _, e := range append(everyEvent(), Measured{Split: System, Values: []Value{{Name: "memory", Value: 1}}},
		Measured{Split: Train, Step: 2, Values: []Value{{Name: `a "b", c`, Value: nan}, {Name: "=1", Value: -0.1}}}) {
		if err := l.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "metrics.csv"))
	const want = "epoch,step,split,name,value\n2,20,valid,accuracy,92\n1,2,train,\"a \"\"b\"\", c\",NaN\n1,2,train,=1,-0.1\n"
	if err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}
