package audio

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Clip is an item of [Clips].
type Clip struct {
	Path    string // below the folder, with slashes: "yes/0132a06d_nohash_0.wav"
	Label   int    // the index of the class
	Speaker string // where the names of files say it, and otherwise ""
	Sound   Sound
}

// Clips is a data set of WAV files with classes. Only the paths are in memory. When an item is asked
// for, its file is read into new memory; see data.Cached to keep sounds in memory. The methods are
// safe for use by several goroutines.
type Clips struct {
	dir     string
	classes []string
	clips   []Clip // without sounds
}

// Len returns the number of files.
func (c *Clips) Len() int { return len(c.clips) }

// At returns item i. It reads the file; see [WAV]. It returns an error if there is no item i, or if
// its file cannot be read.
func (c *Clips) At(i int) (Clip, error) {
	if i < 0 || i >= len(c.clips) {
		return Clip{}, fmt.Errorf("index %d: there are %d items", i, len(c.clips))
	}
	clip := c.clips[i]
	var err error
	clip.Sound, err = WAV(filepath.Join(c.dir, filepath.FromSlash(clip.Path)))
	return clip, err
}

// Classes returns the names of the classes.
func (c *Clips) Classes() []string { return slices.Clone(c.classes) }

// Labels returns the class of each item, without reading files.
func (c *Clips) Labels() []int {
	labels := make([]int, len(c.clips))
	for i, clip := range c.clips {
		labels[i] = clip.Label
	}
	return labels
}

// Folder returns the data set of a folder with one subfolder for each class: sounds/dog/3.wav is a
// dog. Classes are in order of their names, and the files of a class in order of the names of the
// files. Names are compared byte by byte. Only files with the extension .wav count, in upper or
// lower case. Hidden files and folders, whose names begin with a dot, are left out.
//
// Folder returns an error if there is no class, or if a class has no file.
func Folder(dir string) (*Clips, error) {
	c, err := readFolder(dir, ".")
	if err != nil {
		return nil, fmt.Errorf("audio folder: %w", err)
	}
	return c, nil
}

// readFolder lists the files of a folder whose subfolders are the classes. It leaves out subfolders
// whose names begin with one of the characters in `hidden`.
func readFolder(dir, hidden string) (*Clips, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Clips{dir: dir}
	for _, entry := range entries {
		class := entry.Name()
		if strings.ContainsAny(class[:1], hidden) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, class)) // follows links
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			continue
		}
		files, err := wavFiles(filepath.Join(dir, class))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: no WAV files of this class", filepath.Join(dir, class))
		}
		for _, name := range files {
			c.clips = append(c.clips, Clip{Path: path.Join(class, name), Label: len(c.classes)})
		}
		c.classes = append(c.classes, class)
	}
	if len(c.classes) == 0 {
		return nil, fmt.Errorf("%s: no folders of classes", dir)
	}
	return c, nil
}

// wavFiles returns the names of the WAV files in a folder, sorted.
func wavFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && strings.EqualFold(filepath.Ext(e.Name()), ".wav") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Split selects a part of a data set whose authors have divided it.
type Split int

const (
	Train      Split = iota // for training
	Validation              // for choosing settings
	Test                    // for the final measurement
)

// String returns the name of the split, such as "train".
func (s Split) String() string {
	switch s {
	case Train:
		return "train"
	case Validation:
		return "validation"
	case Test:
		return "test"
	}
	return "split " + strconv.Itoa(int(s))
}

var recording = regexp.MustCompile(`^([0-9])_([^_]+)_([0-9]+)\.wav$`)

// FSDD returns a split of the Free Spoken Digit Dataset
// (github.com/Jakobovski/free-spoken-digit-dataset). dir is its folder of recordings, or contains it
// as dir/recordings. The file 7_jackson_32.wav is the digit 7, spoken by jackson. As the authors say,
// recordings 0 to 4 of a speaker and a digit are the split [Test], and the others are the split
// [Train]. Items are in order of the names of files.
//
// FSDD returns an error for another split, if a WAV file has a name of another form, or if there are
// no files.
func FSDD(dir string, s Split) (*Clips, error) {
	c, err := readFSDD(dir, s)
	if err != nil {
		return nil, fmt.Errorf("fsdd: %w", err)
	}
	return c, nil
}

func readFSDD(dir string, s Split) (*Clips, error) {
	if s != Train && s != Test {
		return nil, fmt.Errorf("no %v: there are train and test", s)
	}
	if info, err := os.Stat(filepath.Join(dir, "recordings")); err == nil && info.IsDir() {
		dir = filepath.Join(dir, "recordings")
	}
	files, err := wavFiles(dir)
	if err != nil {
		return nil, err
	}
	c := &Clips{dir: dir, classes: strings.Split("0123456789", "")}
	for _, name := range files {
		m := recording.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("%s: a name like 7_jackson_32.wav expected", filepath.Join(dir, name))
		}
		n := strings.TrimLeft(m[3], "0")
		if test := n == "" || len(n) == 1 && n[0] < '5'; test == (s == Test) {
			c.clips = append(c.clips, Clip{Path: name, Label: int(m[1][0] - '0'), Speaker: m[2]})
		}
	}
	if len(c.clips) == 0 {
		return nil, fmt.Errorf("%s: no files of split %v", dir, s)
	}
	return c, nil
}

// SpeechCommands returns a split of the Speech Commands data set (P. Warden, Speech commands: a
// dataset for limited-vocabulary speech recognition, 2018). dir has a subfolder for each word. The
// files that validation_list.txt and testing_list.txt name are the splits [Validation] and [Test].
// All other files are the split [Train]. Subfolders whose names begin with an underscore are left
// out, such as _background_noise_. See [Folder] for the order. The file 0132a06d_nohash_2.wav is
// spoken by 0132a06d.
//
// SpeechCommands returns an error if a list or a file of a list is missing, or if a split has no
// files.
func SpeechCommands(dir string, s Split) (*Clips, error) {
	c, err := readSpeechCommands(dir, s)
	if err != nil {
		return nil, fmt.Errorf("speech commands: %w", err)
	}
	return c, nil
}

func readSpeechCommands(dir string, s Split) (*Clips, error) {
	if s < Train || s > Test {
		return nil, fmt.Errorf("no %v: there are train, validation and test", s)
	}
	c, err := readFolder(dir, "._")
	if err != nil {
		return nil, err
	}
	splits := make(map[string]Split, len(c.clips))
	for _, clip := range c.clips {
		splits[clip.Path] = Train
	}
	if err := readList(filepath.Join(dir, "validation_list.txt"), Validation, splits); err != nil {
		return nil, err
	}
	if err := readList(filepath.Join(dir, "testing_list.txt"), Test, splits); err != nil {
		return nil, err
	}
	c.clips = slices.DeleteFunc(c.clips, func(clip Clip) bool { return splits[clip.Path] != s })
	if len(c.clips) == 0 {
		return nil, fmt.Errorf("%s: no files of split %v", dir, s)
	}
	for i := range c.clips {
		name := path.Base(c.clips[i].Path)
		if speaker, _, ok := strings.Cut(name, "_nohash_"); ok {
			c.clips[i].Speaker = speaker
		}
	}
	return c, nil
}

// readList assigns files to split s: it sets splits[path] = s for each path in `list`, a file with
// one path on each line. It returns an error if splits does not have a path, or has it in another
// split than [Train].
func readList(list string, s Split, splits map[string]Split) error {
	f, err := os.Open(list)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		name := strings.TrimSpace(lines.Text())
		if name == "" {
			continue
		}
		switch before, ok := splits[name]; {
		case !ok:
			err = errors.New("no such file")
		case before != Train:
			err = fmt.Errorf("already in split %v", before)
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %.100q: %w", list, n, name, err)
		}
		splits[name] = s
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	return nil
}
