package cpu_test

import (
	"context"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

func TestRecurrentCells(t *testing.T) {
	cells := kerneltest.Cells{
		LSTM: func(h, c, x, c0 []float32) {
			n := len(h)
			err := cpu.LSTM(context.Background(), make([]float32, n), h, c, x, make([]float32, cpu.PanelsLen(n, 4*n)), nil, nil, c0, nil, make([]float32, 4*n), 1, 1, n, false, false, 0, "sigmoid", 0, 0, "tanh", 0, 0, "tanh", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
		},
		LSTMTrace: func(h, c, gates, x, c0 []float32) {
			n := len(h)
			y, cells := make([]float32, n), make([]float32, n)
			if err := cpu.LSTMTrace(context.Background(), y, h, c, gates, cells, x, make([]float32, cpu.PanelsLen(n, 4*n)), nil, nil, c0, 1, 1, n, false); err != nil {
				t.Fatal(err)
			}
		},
		LSTMGrad: func(dx, dc, gates, c, c0, dh, last []float32) {
			n := len(dh)
			if err := cpu.LSTMGrad(context.Background(), dx, make([]float32, n), dc, gates, c, make([]float32, cpu.PanelsLen(4*n, n)), nil, c0, dh, nil, last, 1, 1, n, false); err != nil {
				t.Fatal(err)
			}
		},
		GRU: func(h, x, h0, bias []float32, linear bool) {
			n := len(h)
			err := cpu.GRU(context.Background(), make([]float32, n), h, x, make([]float32, cpu.PanelsLen(n, 2*n)), make([]float32, cpu.PanelsLen(n, n)), nil, h0, bias, make([]float32, 3*n), make([]float32, n), 1, 1, n, false, linear, 0, "sigmoid", 0, 0, "tanh", 0, 0)
			if err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, l := range cpu.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer cpu.SetLevel(l)()
			cells.Test(t)
		})
	}
}
