package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
)

// identity holds the properties that a run must share with the run that it continues.
type identity struct {
	Config     json.RawMessage
	Items      int // of training data in an epoch
	Batch      int
	Seed       uint64
	Shuffle    bool
	DropLast   bool
	Data       string // digest of some items; empty if items change
	Metrics    []string
	Optimizers int
	Accumulate int
	Recent     int
}

// identify returns the identity of a run. It computes the digest of the training data twice;
// changes reports whether the results differ, as with random augmentation.
func identify[B any, O metric.Output](l *Learner[B, O], train *data.Loader[B]) (id identity, changes bool, err error) {
	config, err := json.Marshal(l.o.Config)
	if err != nil {
		return id, false, fmt.Errorf("the Config: %w", err)
	}
	digest, err := train.Digest()
	if err != nil {
		return id, false, err
	}
	again, err := train.Digest()
	if err != nil {
		return id, false, err
	}
	changes = again != digest
	if changes {
		digest = ""
	}
	o := train.Options()
	id = identity{Config: config, Items: train.Items(), Batch: o.Batch, Seed: o.Seed, Shuffle: o.Shuffle, DropLast: o.DropLast,
		Data: digest, Optimizers: len(l.o.Optimizers), Accumulate: l.o.accumulate(), Recent: l.o.recent()}
	for _, s := range l.series {
		id.Metrics = append(id.Metrics, s.Name)
	}
	return id, changes, nil
}

// differences returns an error that lists the properties in which a run differs from the saved
// one. It returns nil if there are none.
func (id *identity) differences(saved *identity) error {
	var list []string
	differ := func(name string, now, was any) {
		if now != was {
			list = append(list, fmt.Sprintf("%s is %v, and was %v", name, now, was))
		}
	}
	list = append(list, configDifferences(id.Config, saved.Config)...)
	differ("the number of training items", id.Items, saved.Items)
	differ("the batch size", id.Batch, saved.Batch)
	differ("the seed of the training data", id.Seed, saved.Seed)
	differ("Shuffle", id.Shuffle, saved.Shuffle)
	differ("DropLast", id.DropLast, saved.DropLast)
	if id.Data != saved.Data && id.Data != "" && saved.Data != "" {
		list = append(list, "the training data have other items")
	}
	differ("the list of metrics", strings.Join(id.Metrics, ", "), strings.Join(saved.Metrics, ", "))
	differ("the number of optimizers", id.Optimizers, saved.Optimizers)
	differ("Accumulate", id.Accumulate, saved.Accumulate)
	differ("Recent", id.Recent, saved.Recent)
	if len(list) == 0 {
		return nil
	}
	return errors.New(strings.Join(list, "; "))
}

// configDifferences lists the differences between the configuration of a run, now, and the saved
// one, was. It compares objects field by field, and anything else as a whole.
func configDifferences(now, was json.RawMessage) (list []string) {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(now, &a) != nil || json.Unmarshal(was, &b) != nil || a == nil || b == nil {
		if !sameJSON(now, was) {
			list = append(list, fmt.Sprintf("Config is %.100s, and was %.100s", now, was))
		}
		return list
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !sameJSON(a[name], b[name]) {
			list = append(list, fmt.Sprintf("Config: %s is %.100s, and was %.100s", name, missing(a[name]), missing(b[name])))
		}
	}
	return list
}

// missing returns a value as text, or "missing".
func missing(value json.RawMessage) string {
	if value == nil {
		return "missing"
	}
	return string(value)
}

// sameJSON reports whether two JSON texts are equal apart from white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
