package learn

import (
	"reflect"
	"testing"
)

func TestBestFile(t *testing.T) {
	p := newPosition()
	p.Best["valid loss"] = bestValue{Value: 2, Epoch: 0, Step: 10}
	p.Best["train loss"] = bestValue{Value: 3, Epoch: 1, Step: 20}
	p.Checkpoints = []Checkpoint{
		{File: "a", Step: 10, Values: map[string]Number{"valid loss": 2, "train loss": 5}, Gone: true},
		{File: "b", Step: 20, Values: map[string]Number{"valid loss": 4, "train loss": 3}},
		{File: "c", Step: 30, Values: map[string]Number{"valid loss": 2, "train loss": 3}},
	}
	want := map[string]bestValue{"valid loss": {Value: 2, Epoch: 1, Step: 10}, "train loss": {Value: 3, Epoch: 2, Step: 20, File: "b"}}
	if got := p.bestFile(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
