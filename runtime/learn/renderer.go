package learn

// Renderer shows a run. Event is called for one event at a time, from the goroutine that trains,
// and training waits for it. A renderer that panics gets no more events.
//
// A Renderer that is an [io.Closer] is closed after [Stopped]. Close may wait for the user. A Renderer that
// is a [Controller] gets the controls of the run before [Started].
type Renderer interface {
	Event(e Event)
}

// Controller is a [Renderer] with which a user controls the run.
type Controller interface {
	Renderer
	// Control is called once, before the first event.
	Control(c Controls)
}

// Controls are the requests that a user can make to a run. The methods return at once, and a
// request takes effect after the batch that is under way. They may be called from any goroutine.
type Controls interface {
	Save()            // save a checkpoint
	Pause(pause bool) // wait before the next batch, or go on
	Finish(save bool) // end the run; save says whether training since the last checkpoint is saved
}
