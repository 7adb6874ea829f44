package hf

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

type format int

const (
	none format = iota
	parquetFile
	jsonFile
	csvFile
)

// formats maps the extension of a file to its format.
var formats = map[string]format{
	".parquet": parquetFile, ".jsonl": jsonFile, ".ndjson": jsonFile, ".json": jsonFile, ".csv": csvFile, ".tsv": csvFile,
}

// notData lists files that do not hold items of a data set.
var notData = []string{"config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json"}

// formatOf returns the format of a file by its name. JSON and CSV files may be compressed with
// gzip.
func formatOf(name string) format {
	if slices.Contains(notData, path.Base(name)) {
		return none
	}
	plain, zipped := strings.CutSuffix(name, ".gz")
	f := formats[strings.ToLower(path.Ext(plain))]
	if zipped && f == parquetFile {
		return none
	}
	return f
}

// commonest returns the files of the most frequent format. If several formats are equally
// frequent, it takes the first of them in the order of the constants of type format.
func commonest(files []string) (list []string, f format) {
	var counts [csvFile + 1]int
	for _, name := range files {
		counts[formatOf(name)]++
	}
	for other := parquetFile; other <= csvFile; other++ {
		if counts[other] > 0 && (f == none || counts[other] > counts[f]) {
			f = other
		}
	}
	if f == none {
		return nil, none
	}
	for _, name := range files {
		if formatOf(name) == f {
			list = append(list, name)
		}
	}
	return list, f
}

// keywords lists, for each split, the words in file names that assign a file to the split.
var keywords = []split{
	{"train", []string{"train", "training"}},
	{"validation", []string{"validation", "valid", "dev", "val"}},
	{"test", []string{"test", "testing", "eval", "evaluation"}},
}

// separators is a file pattern for the characters that may stand before or after a keyword in a
// file name.
const separators = "[-._ 0-9]"

// sharded matches the names of the shards of a split.
var sharded = regexp.MustCompile(`^data/(\w+(?:\.\w+)*)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*$`)

// layout returns the splits of files that no card describes. The first of these rules that finds
// files decides, as in Python's datasets:
//
//   - shards, whose names begin with the name of their split, such as
//     data/train-00000-of-00002.parquet;
//   - folders with a keyword in their names;
//   - files with a keyword in their names;
//   - all files are the split train.
func layout(files []string) ([]split, error) {
	var list []split
	for _, name := range files {
		m := sharded.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		k := slices.IndexFunc(list, func(s split) bool { return s.name == m[1] })
		if k < 0 {
			k = len(list)
			list = append(list, split{name: m[1]})
		}
		list[k].patterns = append(list[k].patterns, name)
	}
	if list != nil {
		return list, nil
	}
	for _, forms := range [][]string{
		{"**/KEY/**", "**/KEY" + separators + "*/**", "**/*" + separators + "KEY/**", "**/*" + separators + "KEY" + separators + "*/**"},
		{"**/KEY" + separators + "*", "**/*" + separators + "KEY" + separators + "*"},
	} {
		for _, s := range keywords {
			var patterns []string
			for _, key := range s.patterns {
				for _, form := range forms {
					patterns = append(patterns, strings.ReplaceAll(form, "KEY", key))
				}
			}
			found, err := matching(files, patterns)
			if err != nil {
				return nil, err
			}
			if found != nil {
				list = append(list, split{s.name, found})
			}
		}
		if list != nil {
			return list, nil
		}
	}
	return []split{{"train", files}}, nil
}
