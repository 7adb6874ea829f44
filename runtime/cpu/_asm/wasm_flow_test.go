package main

import (
	"slices"
	"testing"
)

func TestSpans(t *testing.T) {
	label := func(name string) wasmStep { return wasmStep{label: name} }
	to := func(name string) wasmStep { return wasmStep{name: "JMP", operands: []any{name}} }
	for _, test := range []struct {
		name  string
		steps []wasmStep
		want  []span
	}{
		{"a loop", []wasmStep{label("a"), to("a")}, []span{{0, 2, true}}},
		{"a block", []wasmStep{to("a"), label("a")}, []span{{0, 1, false}}},
		{"a way out of a loop", []wasmStep{label("a"), to("b"), to("a"), label("b")}, []span{{0, 3, true}, {1, 3, false}}},
		{"blocks that overlap", []wasmStep{to("a"), to("b"), label("a"), label("b")}, []span{{0, 3, false}, {0, 2, false}}},
		{"loops that overlap", []wasmStep{label("a"), label("b"), to("a"), to("b")}, []span{{0, 4, true}, {1, 4, true}}},
		{"a way to the start of a loop", []wasmStep{to("a"), label("a"), to("a")}, []span{{0, 1, false}, {1, 3, true}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := spans(test.steps); !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
	defer func() {
		if recover() == nil {
			t.Error("a way into the middle of a loop did not panic")
		}
	}()
	spans([]wasmStep{to("b"), label("a"), label("b"), to("a")})
}
