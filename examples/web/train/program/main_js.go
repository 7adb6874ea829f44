//go:build js && wasm

// Program trains networks in the worker of the page train. It gives the worker an object with the functions of a
// trainer: start, step and look. Each returns an object, which has the property error if the function fails.
package main

import (
	"syscall/js"

	"github.com/burngen/burngen/examples/web/train/task"
)

func main() {
	var t task.Task
	function := func(f func(args []js.Value) (map[string]any, error)) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			result, err := f(args)
			if err != nil {
				return map[string]any{"error": err.Error()}
			}
			return result
		})
	}
	js.Global().Get("trainerReady").Invoke(map[string]any{
		// start(name, seed) begins a task anew.
		"start": function(func(args []js.Value) (result map[string]any, err error) {
			t, err = task.New(args[0].String(), uint64(args[1].Int()))
			return map[string]any{}, err
		}),
		// step() returns {loss}.
		"step": function(func([]js.Value) (map[string]any, error) {
			loss, err := t.Step()
			return map[string]any{"loss": loss}, err
		}),
		// look() returns {right, of, width, pixels}. The pixels have four bytes each.
		"look": function(func([]js.Value) (map[string]any, error) {
			v, err := t.Look()
			if err != nil {
				return nil, err
			}
			pixels := js.Global().Get("Uint8ClampedArray").New(len(v.Picture.Pix))
			js.CopyBytesToJS(pixels, v.Picture.Pix)
			return map[string]any{"right": v.Right, "of": v.Of, "width": v.Picture.Rect.Dx(), "pixels": pixels}, nil
		}),
	})
	select {} // calls come from the worker
}
