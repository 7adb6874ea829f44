package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Setting is a field of a run's configuration or environment.
type Setting struct {
	Name  string // fields of fields have a dot between their names
	Value string // as JSON, but strings have no quotes
}

const (
	maxSettings = 1000
	maxDepth    = 8
)

// settings returns the fields of a JSON value, sorted by name at each depth. Numbers keep their digits. An object or
// a list that is nested maxDepth deep is one setting, written as JSON. At most maxSettings settings are returned.
func settings(text []byte) ([]Setting, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var out []Setting
	flatten("", v, 0, &out)
	return out, nil
}

func flatten(name string, v any, depth int, out *[]Setting) {
	if len(*out) >= maxSettings {
		return
	}
	below := func(part string, v any) {
		if name != "" {
			part = name + "." + part
		}
		flatten(part, v, depth+1, out)
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 && depth < maxDepth {
			for _, key := range slices.Sorted(maps.Keys(v)) {
				below(key, v[key])
			}
			return
		}
	case []any:
		if len(v) > 0 && depth < maxDepth {
			for i, e := range v {
				below(strconv.Itoa(i), e)
			}
			return
		}
	case string:
		*out = append(*out, Setting{name, v})
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(err.Error())
	}
	*out = append(*out, Setting{name, string(text)})
}

// Difference is a setting that does not have the same value in all runs.
type Difference struct {
	Name   string
	Values []string // for each run; "–" if the run has no such setting
}

// differences returns the settings in which runs differ. settings[i] has the settings of run i.
func differences(settings [][]Setting) []Difference {
	values := map[string][]string{}
	for i, all := range settings {
		for _, s := range all {
			if values[s.Name] == nil {
				values[s.Name] = slices.Repeat([]string{"–"}, len(settings))
			}
			values[s.Name][i] = s.Value
		}
	}
	var out []Difference
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		if slices.ContainsFunc(v, func(x string) bool { return x != v[0] }) {
			out = append(out, Difference{name, v})
		}
	}
	return out
}
