package learn

import (
	"errors"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestOne(t *testing.T) {
	broken := errors.New("broken")
	task := One(func(x []int) (int, error) {
		if len(x) == 0 {
			return 0, broken
		}
		return x[0], nil
	}, nil, func(x []int, r int) metric.Values { return metric.Values{Loss: float32(r + len(x))} })
	if out, err := task.Step(&[]int{3, 4}); err != nil || out.Loss != 5 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := task.Step(&[]int{}); err != broken {
		t.Error(err)
	}
	if task.Eval != nil || task.Items(&[]int{1, 2, 3}) != 3 {
		t.Error("Eval or Items")
	}
}
