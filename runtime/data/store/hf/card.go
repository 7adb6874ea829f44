package hf

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configuration lists the files of one configuration of a data set, by split. A data set may have
// several configurations; see huggingface.co/docs/hub/datasets-manual-configuration.
type configuration struct {
	name string
	// it is the default configuration
	chosen bool
	// path of the files in the data set; "" is the whole data set
	dir    string
	splits []split
	// separator of cells in a CSV file; 0 is the default of the format
	comma rune
}

// split is a part of a data set, such as "train".
type split struct {
	name     string
	patterns []string // of its files
}

// largestCard is the largest size in bytes of README.md.
const largestCard = 16 << 20

// readCard returns the configurations that README.md describes. It returns nil if the file does not
// exist or does not describe any.
func readCard(f *folder) ([]configuration, error) {
	text, err := f.read("README.md", largestCard)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := parseCard(text)
	if err != nil {
		return nil, fmt.Errorf("README.md: %w", err)
	}
	return list, nil
}

// parseCard returns the configurations in the front matter of a page: YAML between a first line
// "---" and the next line "---".
func parseCard(text []byte) ([]configuration, error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	front, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil, nil
	}
	front = append([]byte("\n"), front...) // in the place of the first line
	end := bytes.Index(append(front, '\n'), []byte("\n---\n"))
	if end < 0 {
		return nil, nil
	}
	var card struct {
		Configs []struct {
			Name      string    `yaml:"config_name"`
			Files     yaml.Node `yaml:"data_files"`
			Dir       string    `yaml:"data_dir"`
			Default   bool      `yaml:"default"`
			Sep       string    `yaml:"sep"`
			Delimiter string    `yaml:"delimiter"`
		} `yaml:"configs"`
	}
	if err := yaml.Unmarshal(front[:end], &card); err != nil {
		return nil, err
	}
	var list []configuration
	for _, c := range card.Configs {
		one := configuration{name: c.Name, chosen: c.Default || c.Name == "default", dir: c.Dir}
		if slices.ContainsFunc(list, func(other configuration) bool { return other.name == c.Name }) {
			return nil, fmt.Errorf("configuration %q: described twice", c.Name)
		}
		var err error
		if one.splits, err = splitsOf(&c.Files); err != nil {
			return nil, fmt.Errorf("configuration %q: data_files: %w", c.Name, err)
		}
		if sep := []rune(c.Sep + c.Delimiter); len(sep) > 1 {
			return nil, fmt.Errorf("configuration %q: separator %q: one character expected", c.Name, c.Sep+c.Delimiter)
		} else if len(sep) == 1 {
			one.comma = sep[0]
		}
		list = append(list, one)
	}
	return list, nil
}

// splitsOf parses the field data_files of a card. The field is one of these: a pattern or a list of
// patterns, for the split train; a list of splits with their paths; a map from splits to patterns.
func splitsOf(n *yaml.Node) ([]split, error) {
	switch {
	case n.Kind == 0:
		return nil, nil
	case n.Kind == yaml.MappingNode:
		var list []split
		for i := 0; i+1 < len(n.Content); i += 2 {
			patterns, err := patternsOf(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			list = append(list, split{n.Content[i].Value, patterns})
		}
		return list, unique(list)
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode:
		var list []split
		for _, e := range n.Content {
			var entry struct {
				Split string
				Path  yaml.Node
			}
			if err := e.Decode(&entry); err != nil {
				return nil, err
			}
			patterns, err := patternsOf(&entry.Path)
			if err != nil {
				return nil, err
			}
			list = append(list, split{entry.Split, patterns})
		}
		return list, unique(list)
	}
	patterns, err := patternsOf(n)
	return []split{{"train", patterns}}, err
}

func unique(list []split) error {
	seen := map[string]bool{}
	for _, s := range list {
		if seen[s.name] {
			return fmt.Errorf("split %q: described twice", s.name)
		}
		seen[s.name] = true
	}
	return nil
}

func patternsOf(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}, nil
	}
	var list []string
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: the path of files expected, or a list of paths", n.Line)
	}
	err := n.Decode(&list)
	return list, err
}

// choose returns the configuration in list with this name. If name is empty, it returns the default
// configuration or, if there is no default, the only one.
func choose(list []configuration, name string) (configuration, error) {
	if len(list) == 0 {
		list = []configuration{{name: "default", chosen: true}}
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = fmt.Sprintf("%q", c.name)
		if c.name == name || name == "" && (c.chosen || len(list) == 1) {
			return c, nil
		}
	}
	if name == "" {
		return configuration{}, fmt.Errorf("none of the configurations is the default one: name one of %s", strings.Join(names, ", "))
	}
	return configuration{}, fmt.Errorf("no configuration %q: there is %s", name, strings.Join(names, ", "))
}
