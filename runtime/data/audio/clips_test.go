package audio_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/data/audio"
	"github.com/burngen/burngen/runtime/data/datatest"
)

// tone returns a file of one sample, n/128.
func tone(n int) string {
	return wav(format(1, 1, 8000, 1, 8), chunk("data", string([]byte{byte(128 + n)})))
}

// clip returns the item of a file of [tone].
func clip(path string, label int, speaker string, n int) audio.Clip {
	return audio.Clip{Path: path, Label: label, Speaker: speaker, Sound: audio.Sound{Rate: 8000, Samples: [][]float32{{float32(n) / 128}}}}
}

func clips(t *testing.T, c *audio.Clips, err error, classes string, want ...audio.Clip) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	if got := strings.Join(c.Classes(), " "); got != classes {
		t.Errorf("classes %s, want %s", got, classes)
	}
	labels := make([]int, len(want))
	for i, x := range want {
		labels[i] = x.Label
	}
	if d := cmp.Diff(labels, c.Labels()); d != "" {
		t.Error(d)
	}
	datatest.Run(t, c, datatest.Options[audio.Clip]{Want: want})
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"dog/2.WAV": tone(2), "dog/10.wav": tone(10), "Cat/x.wav": tone(3), "Cat/x.mp3": "", "Cat/.y.wav": "", "notes.wav": "", ".git/x.wav": "", "Cat/more.wav/x.wav": "",
		"_noise/1.wav": tone(4),
	})
	c, err := audio.Folder(dir)
	clips(t, c, err, "Cat _noise dog", clip("Cat/x.wav", 0, "", 3), clip("_noise/1.wav", 1, "", 4), clip("dog/10.wav", 2, "", 10), clip("dog/2.WAV", 2, "", 2))
	if err := os.WriteFile(filepath.Join(dir, "dog", "2.WAV"), []byte("RIFF"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = c.At(3)
	wantError(t, err, "wav: "+filepath.Join(dir, "dog", "2.WAV")+": header: unexpected EOF")

	if err := failed(audio.Folder(filepath.Join(dir, "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	empty := t.TempDir()
	wantError(t, failed(audio.Folder(empty)), "audio folder: "+empty+": no folders of classes")
	write(t, empty, map[string]string{"dog/x.txt": ""})
	wantError(t, failed(audio.Folder(empty)), "audio folder: "+filepath.Join(empty, "dog")+": no WAV files of this class")
}

func TestFSDD(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"README.md": "", "recordings/7_jackson_32.wav": tone(1), "recordings/7_jackson_4.wav": tone(2), "recordings/0_theo_05.wav": tone(3), "recordings/0_theo_00.wav": tone(4), "recordings/0_theo_40.wav": tone(5),
	})
	const digits = "0 1 2 3 4 5 6 7 8 9"
	for _, dir := range []string{dir, filepath.Join(dir, "recordings")} {
		c, err := audio.FSDD(dir, audio.Train)
		clips(t, c, err, digits, clip("0_theo_05.wav", 0, "theo", 3), clip("0_theo_40.wav", 0, "theo", 5), clip("7_jackson_32.wav", 7, "jackson", 1))
		c, err = audio.FSDD(dir, audio.Test)
		clips(t, c, err, digits, clip("0_theo_00.wav", 0, "theo", 4), clip("7_jackson_4.wav", 7, "jackson", 2))
	}
	wantError(t, failed(audio.FSDD(dir, audio.Validation)), "fsdd: no validation: there are train and test")
	wantError(t, failed(audio.FSDD(dir, 7)), "fsdd: no split 7: there are train and test")
	write(t, dir, map[string]string{"recordings/seven_jackson_1.wav": ""})
	wantError(t, failed(audio.FSDD(dir, audio.Train)), "fsdd: "+filepath.Join(dir, "recordings", "seven_jackson_1.wav")+": a name like 7_jackson_32.wav expected")
	only := t.TempDir()
	write(t, only, map[string]string{"1_a_9.wav": ""})
	wantError(t, failed(audio.FSDD(only, audio.Test)), "fsdd: "+only+": no files of split test")
}

func TestSpeechCommands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"_background_noise_/noise.wav": tone(0), "yes/a1_nohash_0.wav": tone(1), "yes/a1_nohash_1.wav": tone(2), "no/b2_nohash_0.wav": tone(3), "no/other.wav": tone(4), "no/c_nohash_0.wav": tone(5),
		"validation_list.txt": "no/b2_nohash_0.wav\n", "testing_list.txt": "yes/a1_nohash_1.wav\r\n\nno/c_nohash_0.wav",
	})
	for s, want := range map[audio.Split][]audio.Clip{
		audio.Train:      {clip("no/other.wav", 0, "", 4), clip("yes/a1_nohash_0.wav", 1, "a1", 1)},
		audio.Validation: {clip("no/b2_nohash_0.wav", 0, "b2", 3)},
		audio.Test:       {clip("no/c_nohash_0.wav", 0, "c", 5), clip("yes/a1_nohash_1.wav", 1, "a1", 2)},
	} {
		c, err := audio.SpeechCommands(dir, s)
		clips(t, c, err, "no yes", want...)
	}
	wantError(t, failed(audio.SpeechCommands(dir, -1)), "speech commands: no split -1: there are train, validation and test")
	list := filepath.Join(dir, "testing_list.txt")
	for text, want := range map[string]string{
		"no/other.wav\n../x.wav":     `line 2: "../x.wav": no such file`,
		"\n\nno/b2_nohash_0.wav":     `line 3: "no/b2_nohash_0.wav": already in split validation`,
		"no/other.wav\nno/other.wav": `line 2: "no/other.wav": already in split test`,
	} {
		write(t, dir, map[string]string{"testing_list.txt": text})
		wantError(t, failed(audio.SpeechCommands(dir, audio.Train)), "speech commands: "+list+": "+want)
	}
	write(t, dir, map[string]string{"testing_list.txt": ""})
	wantError(t, failed(audio.SpeechCommands(dir, audio.Test)), fmt.Sprintf("speech commands: %s: no files of split test", dir))
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	wantError(t, failed(audio.SpeechCommands(dir, audio.Train)), "speech commands: open "+list+": no such file or directory")
}
