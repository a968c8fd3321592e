"""The pure middle: no I/O, no clock, no threads. Time and labels are passed in."""
