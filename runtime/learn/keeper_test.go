package learn

import (
	"fmt"
	"math"
	"testing"
)

// checkpointsOf returns a checkpoint at the end of each epoch, with these losses and accuracies.
func checkpointsOf(loss, accuracy []float64) []Checkpoint {
	var all []Checkpoint
	for i := range loss {
		all = append(all, Checkpoint{File: fmt.Sprint("c", i+1), Epoch: i, Ends: true,
			Values: map[string]Number{"valid loss": Number(loss[i]), "valid accuracy": Number(accuracy[i])}})
	}
	return all
}

// TestKeepers adds checkpoints one after the other, and compares what is left.
func TestKeepers(t *testing.T) {
	loss := []float64{5, 3, 4, 3, 6, 2, 9}
	accuracy := []float64{50, math.NaN(), 90, 80, 90, 70, 10}
	for _, tt := range []struct {
		keep Keeper
		want string
	}{
		{Last(2), "c6 c7"},
		{Last(100), "c1 c2 c3 c4 c5 c6 c7"},
		{Best("valid loss"), "c6 c7"},
		{Best("valid accuracy"), "c3 c7"},
		{Every(3), "c3 c6 c7"},
		{Either(Last(1), Best("valid accuracy"), Best("valid loss")), "c3 c6 c7"},
		{Both(Every(2), Last(4)), "c4 c6 c7"},
		{Both(), "c7"},
		{Either(), "c7"},
		{Both(Last(2), Best("valid accuracy")), "c7"},
		{Either(Both(Last(1), Every(9)), Every(5)), "c5 c7"},
	} {
		if err := bind(tt.keep, someDirections); err != nil {
			t.Fatal(err)
		}
		var all []Checkpoint
		there := map[string]bool{}
		for _, c := range checkpointsOf(loss, accuracy) {
			all = append(all, c)
			there[c.File] = true
			for _, file := range unwanted(tt.keep, all) {
				if !there[file] {
					t.Errorf("%+v: %s is deleted twice", tt.keep, file)
				}
				delete(there, file)
			}
			if !there[c.File] {
				t.Errorf("%+v: the newest checkpoint, %s, is deleted", tt.keep, c.File)
			}
		}
		got := ""
		for _, c := range all {
			if there[c.File] != !c.Gone {
				t.Errorf("%+v: %s: gone is %v", tt.keep, c.File, c.Gone)
			}
			if there[c.File] {
				got += " " + c.File
			}
		}
		if got != " "+tt.want {
			t.Errorf("%+v: left are%s, want %s", tt.keep, got, tt.want)
		}
	}
}

// TestEveryIsOfWholeEpochs asserts that checkpoints within epochs do not count.
func TestEveryIsOfWholeEpochs(t *testing.T) {
	all := []Checkpoint{{Epoch: 1}, {Epoch: 1, Ends: true}, {Epoch: 2, Ends: true}}
	if got := fmt.Sprint(Every(2).Keep(all)); got != "[false true false]" {
		t.Error(got)
	}
}
