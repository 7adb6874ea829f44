package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/targettest/text"
)

func TestCompileReports(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a function that calls itself", `
func @f(%x: f32[4]) -> (y: f32[4]) {
  %y = invoke %x {func="f"} : f32[4]
  return %y
}`, "@f is not defined, or calls itself"},
		{"functions that call each other", `
func @f(%x: f32[4]) -> (y: f32[4]) {
  %y = invoke %x {func="g"} : f32[4]
  return %y
}

func @g(%x: f32[4]) -> (y: f32[4]) {
  %y = invoke %x {func="f"} : f32[4]
  return %y
}`, "@f is not defined, or calls itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := program.Compile(parse(t, c.text), "f", text.Target{})
			if err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("error %v, want %q at its end", err, c.want)
			}
		})
	}
	f, err := program.Compile(parse(t, "func @g() -> () {\n  return\n}"), "f", text.Target{})
	if err != nil || len(f.Steps) > 0 {
		t.Errorf("no function: %v, error %v", f, err)
	}
}

// TestArenas asserts which memory a function asks its caller for. Constant buffers and buffers that
// grow are apart, so that the caller's offsets are linear in the symbol.
func TestArenas(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"constant extents", `
func @f(%x: f32[16]) -> (y: f32[16]) {
  %a = exp %x : f32[16]
  %s = reduce %a {kind="sum" axes=[0]} : f32[]
  %y = add %x, %s : f32[16]
  return %y
}`, "128"},
		{"a buffer that grows", `
func @f(%x: f32[N,16]) -> (y: f32[16,N]) {
  %a = exp %x : f32[N,16]
  %y = transpose %a {perm=[1,0]} : f32[16,N]
  return %y
}`, "64*N"},
		{"both", `
func @f(%x: f32[N,16], %k: f32[16,16]) -> (y: f32[N,16]) {
  %w = exp %k : f32[16,16]
  %a = mat_mul %x, %w : f32[N,16]
  %y = mat_mul %a, %w : f32[N,16]
  return %y
}`, "1024 64*N"},
		{"two symbols", `
func @f(%x: f32[N,T]) -> (y: f32[T,N]) {
  %a = exp %x : f32[N,T]
  %y = transpose %a {perm=[1,0]} : f32[T,N]
  return %y
}`, "64*f.lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := program.Compile(parse(t, c.text), "f", text.Target{})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Trim(fmt.Sprint(f.Arenas()), "[]")
			if got != c.want {
				t.Errorf("arenas %s, want %s", got, c.want)
			}
			for _, b := range f.Plan.Buffers {
				i, offset := f.Arena(b)
				if i >= len(f.Arenas()) || f.IsSplit() && (i == 1) == b.Bytes.IsConst() || i == 1 && !offset.Equal(b.Offset.Sub(f.Fixed())) {
					t.Errorf("buffer %s is in arena %d at %s", b.Name, i, offset)
				}
			}
		})
	}
}

// TestCallees asserts that called functions come before their callers, each once.
func TestCallees(t *testing.T) {
	f, err := program.Compile(parse(t, `
func @f(%x: f32[4]) -> (y: f32[4]) {
  %a = invoke %x {func="h"} : f32[4]
  %b = invoke %a {func="g"} : f32[4]
  %y = invoke %b {func="h"} : f32[4]
  return %y
}

func @g(%x: f32[4]) -> (y: f32[4]) {
  %y = invoke %x {func="h"} : f32[4]
  return %y
}

func @h(%x: f32[4]) -> (y: f32[4]) {
  %y = exp %x : f32[4]
  return %y
}`), "f", text.Target{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Callees() {
		names = append(names, c.IR.Name)
	}
	if got := strings.Join(names, " "); got != "h g" {
		t.Errorf("callees %q, want h before g", got)
	}
}
