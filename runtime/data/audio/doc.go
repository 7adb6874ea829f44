// Package audio reads recordings for training: WAV files, folders of them as data sets, and what is
// done to sounds before a model gets them. That is resampling, mixing of channels, mel spectrograms
// and MFCC, and random changes that make training robust.
//
// Functions that change samples or spectrograms in place must not get the memory of an item, which
// other readers of the data set may share: copy it first, as [Fit] does.
//
// No file makes a reader panic, or allocate much more than the file contains.
package audio
