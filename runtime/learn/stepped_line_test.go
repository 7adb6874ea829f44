package learn

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// stepped are events with and without each field.
func stepped() []Stepped {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	return []Stepped{
		{},
		{Time: at, Split: Train, Epoch: 1, Batch: 2, Step: 3, Items: 4, Loss: 0.1, Rate: 1e-4, GradNorm: 1e21, Waited: 5, Took: time.Hour},
		{Time: at.Add(123456789), Split: Valid, Loss: Number(math.Inf(-1)), GradNorm: Number(math.Inf(1)),
			Values: []Value{{Name: "top-5 accuracy", Value: 99.5}, {Name: "f1", Value: Number(math.Copysign(0, -1))}}},
		{Time: at.UTC(), Split: "other", Step: -1, Loss: -3, Took: -1, Values: []Value{{Name: "recall", Value: Number(math.Inf(1))}}},
	}
}

// TestSteppedLines asserts that the events are read like by encoding/json, and that no line of them is left to it.
func TestSteppedLines(t *testing.T) {
	for _, e := range stepped() {
		line := steppedLine(t, e)
		got, ok := readStepped(line)
		if !ok {
			t.Errorf("left to encoding/json: %s", line)
		}
		var want Stepped
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
	}
}

// TestOtherSteppedLines asserts that lines of other forms are left to encoding/json.
func TestOtherSteppedLines(t *testing.T) {
	line := string(steppedLine(t, stepped()[2]))
	for _, other := range []string{
		strings.Replace(line, `"valid"`, `"v\u0061lid"`, 1),
		strings.Replace(line, `"f1"`, `"f₁"`, 1),
		strings.Replace(line, `"loss":`, `"loss": `, 1),
		strings.Replace(line, `"epoch":0`, `"epoch":00`, 1),
		strings.Replace(line, `"epoch":0`, `"epoch":0.0`, 1),
		strings.Replace(line, "99.5", "099.5", 1),
		strings.Replace(line, "99.5", "99.", 1),
		strings.Replace(line, "99.5", `"many"`, 1),
		strings.Replace(line, `"value":99.5`, `"value":99.5,"text":"99.5 %"`, 1),
		strings.Replace(line, `"step":0`, `"step":0,"step":1`, 1),
		strings.Replace(line, "2026-01-02", "2026-01-32", 1),
		line + "x", line[:len(line)-1], "",
	} {
		if other == line {
			t.Fatal("nothing was replaced")
		}
		if _, ok := readStepped([]byte(other)); ok {
			t.Errorf("read: %s", other)
		}
	}
}

func FuzzSteppedLine(f *testing.F) {
	for _, e := range stepped() {
		f.Add(steppedLine(f, e))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := readStepped(line)
		if !ok {
			return
		}
		var want Stepped
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		// NaN differs from itself, so that the events are compared as lines.
		if a, b := steppedLine(t, got), steppedLine(t, want); string(a) != string(b) {
			t.Errorf("got %s, want %s", a, b)
		}
	})
}

func BenchmarkReadStepped(b *testing.B) {
	line := steppedLine(b, Stepped{Time: time.Unix(1767323045, 123456789), Split: Train, Epoch: 3, Batch: 456, Step: 7890, Items: 64,
		Loss: 0.123456789, Rate: 0.001, Waited: 12345, Took: 6789012, Values: []Value{{Name: "accuracy", Value: 98.4375}}})
	for b.Loop() {
		if _, err := ParseEvent(line); err != nil {
			b.Fatal(err)
		}
	}
}

// steppedLine returns the line of an event, without its end.
func steppedLine(t testing.TB, e Stepped) []byte {
	t.Helper()
	line, err := AppendEvent(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	return line[:len(line)-1]
}
