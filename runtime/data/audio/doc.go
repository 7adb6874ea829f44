// Package audio reads recordings for training: WAV files, and folders of them as data sets. It
// resamples sounds, mixes their channels, and computes mel spectrograms and MFCC. It also makes
// random changes to sounds, which make training robust.
//
// Functions that change samples or spectrograms in place must not get the memory of an item, which
// other readers of the data set may share: copy it first, as [Fit] does.
//
// No file makes a reader panic, or allocate much more than the file contains.
package audio
