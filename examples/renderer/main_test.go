package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestBars(t *testing.T) {
	var out bytes.Buffer
	if err := train(context.Background(), bars{&out}, 12); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 14 || lines[0] != "354 parameters, 25 batches an epoch" || lines[13] != "12 epochs done" {
		t.Fatalf("it shows\n%s", &out)
	}
	long := func(line string) int { return strings.Count(line, "█") }
	if first, last := long(lines[1]), long(lines[12]); first < 20 || last > first/2 {
		t.Errorf("bars of %d and %d:\n%s", first, last, &out)
	}
}
