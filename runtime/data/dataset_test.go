package data_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestAll(t *testing.T) {
	d := &blocks{n: 4, bad: 3}
	var errs []error
	for x, err := range data.All(data.Dataset[int](d)) {
		if len(errs) != 2 && x != len(errs) {
			t.Errorf("item %d is %d", len(errs), x)
		}
		errs = append(errs, err)
	}
	if len(errs) != 4 || errs[0] != nil || errs[1] != nil || errs[3] != nil || !errors.Is(errs[2], errBad) {
		t.Errorf("errors are %v", errs)
	}
	wantError(t, errs[2], "item 2: bad item")
	for range data.All(numbers(3)) {
		break
	}
	for _, err := range data.All(broken) {
		wantError(t, err, brokenText)
	}
	wantError(t, data.Err(broken), brokenText)
	wantError(t, data.Err[int](nil), "no data set")
	wantError(t, data.Err(data.Joined(data.Dataset[int](nil))), "joined: set 0: no data set")
	wantError(t, data.Err(numbers(1)), "<nil>")
	if _, err := broken.At(0); err == nil || broken.Len() != 0 {
		t.Errorf("a data set with an error has %d items, the first with error %v", broken.Len(), err)
	}
}

func TestErrorsOfDataSetsArePassedOn(t *testing.T) {
	double := func(x int) (int, error) { return 2 * x, nil }
	yes := func(int) bool { return true }
	for want, err := range map[string]error{
		"map":             data.Err(data.Map(broken, double)),
		"sampled":         data.Err(data.Sampled(broken, 1, data.SampleOptions{})),
		"shuffled":        data.Err(data.Shuffled(broken, 1)),
		"part":            data.Err(data.Part(broken, 0, 0)),
		"parts: ":         data.Err(data.Parts(broken, 1)[0]),
		"stratified: ":    failed(data.Stratified(broken, yes, 1)),
		"folds: ":         failed(data.Folds(broken, 2)),
		"kept: ":          failed(data.Kept(broken, yes)),
		"joined: set 1: ": data.Err(data.Joined(numbers(1), broken)),
		"zipped: ":        data.Err(data.Zipped(numbers(1), broken)),
		"picked":          data.Err(data.Picked(broken, nil)),
		"slid":            data.Err(data.Slid(broken, 1, 1)),
		"repeated":        data.Err(data.Repeated(broken, 1)),
		"cached":          data.Err(data.Cached(broken)),
		"standardize: ":   failed(data.Standardize(broken, func(*int) []float32 { return nil })),
		"stored: ":        failed(data.Stored(data.Map(broken, func(x int) (int32, error) { return int32(x), nil }), t.TempDir()+"/x")),
	} {
		if !strings.HasSuffix(want, ": ") {
			want = "" // the name of a function that does not add to the error
		}
		wantError(t, err, want+brokenText)
	}
}
