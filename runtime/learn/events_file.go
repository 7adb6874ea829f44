package learn

import "fmt"

const eventsFile = "events.jsonl"

func newEventsLogger() Logger {
	var line []byte
	return &tapeLogger{name: eventsFile, put: func(t *tape, e Event) (err error) {
		if line, err = AppendEvent(line[:0], e); err != nil {
			line, err = AppendEvent(line[:0], Warned{Message: fmt.Sprintf("an event is missing here: %.1000s", err)})
		}
		if err == nil {
			_, err = t.Write(line)
		}
		return err
	}}
}
