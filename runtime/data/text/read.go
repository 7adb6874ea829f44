package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxFile is the largest size of a tokenizer file in bytes: reading a larger file is an error. It
// is about ten times the size of the largest known files.
const maxFile = 1 << 29

// Load reads a tokenizer.json. It returns an error if the file has a part that the package does not
// support, if ids contradict each other, or if the file has more than 512 MiB. The error names the
// place in the file.
//
// The tokens are those of the reference implementation, tokenizers 0.23, with these exceptions.
// Characters have the properties of Unicode 15, even if a later version has assigned or changed them.
// Regular expressions that ignore case use simple case folding; in Oniguruma, ß also matches ss. These
// are not supported: regular expressions with nested character classes, a negated \w in a class, or
// backreferences; BPE with dropout; the pre-tokenizer UnicodeScripts. If an added token has another id
// than the vocabulary gives it, the reference implementation corrects the id, and Load returns an
// error.
func Load(path string) (*Tokenizer, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	t, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// readFile reads a file of at most maxFile bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: more than %d bytes", path, maxFile)
	}
	return data, nil
}

// Read is like [Load] with the contents of a file.
func Read(data []byte) (*Tokenizer, error) {
	o := &object{}
	if err := json.Unmarshal(data, &o.fields); err != nil {
		return nil, err
	}
	if o.fields == nil {
		return nil, errors.New("an object is missing")
	}
	if version := get(o, "version", "1.0"); version != "1.0" {
		return nil, o.at("version").errorf("%q is not supported", version)
	}
	t := &Tokenizer{truncation: readTruncation(o), padding: readPadding(o), sections: map[string]json.RawMessage{}}
	var err error
	if t.model, err = readModel(o.at("model")); err != nil {
		return nil, err
	}
	t.normalize = section(o, t, "normalizer", readNormalizer)
	t.preTokenize = section(o, t, "pre_tokenizer", readPreTokenizer)
	t.post = section(o, t, "post_processor", readPostProcessor)
	t.decode = section(o, t, "decoder", readDecoder)
	if o.err != nil {
		return nil, o.err
	}
	if t.added, err = readAdded(o, t.model, t.normalize); err != nil {
		return nil, err
	}
	return t, nil
}

// section reads an optional part of a tokenizer file, the field called name, with the function
// read, and stores its JSON in t. It returns a zero value if the part is absent or null.
func section[T any](o *object, t *Tokenizer, name string, read func(node, int) (T, error)) T {
	n := o.at(name)
	var part T
	if n.missing() {
		return part
	}
	t.sections[name] = n.raw
	part, err := read(n, 0)
	if err != nil {
		o.fail(err)
	}
	return part
}

func build(fields map[string]any) (*Tokenizer, error) {
	data, err := marshal(fields)
	if err != nil {
		return nil, err
	}
	return Read(data)
}
